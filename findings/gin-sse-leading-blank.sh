#!/usr/bin/env bash
# github.com/gin-contrib/sse v1.1.2, with which Gin writes events: a text that begins with a blank loses it.
#
# A reader of server-sent events takes away one blank behind "data:". The package writes none of its own, so that the
# first blank of the text goes. Tokens of a model begin with one as a rule: c.SSEvent("message", " world") behind "Hello"
# is read as "Helloworld". A carriage return becomes a backslash and an r. JSON is not concerned.
#
# Seen with Go 1.26.8: "data: world", and "Helloworld" with npm eventsource-parser 4.1.3.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts eventsource-parser@4.1.3 >/dev/null
printf 'module finding\n\ngo 1.24\n\nrequire github.com/gin-contrib/sse v1.1.2\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"os"

	"github.com/gin-contrib/sse"
)

func main() {
	for _, token := range []string{"Hello", " world", "\r!"} {
		if err := sse.Encode(os.Stdout, sse.Event{Data: token}); err != nil {
			panic(err)
		}
	}
}
GO
cat >main.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createParser } from "eventsource-parser";
let text = "";
createParser({ onEvent: (event) => { text += event.data; } }).feed(readFileSync("stream", "utf8"));
console.log(JSON.stringify(text));
JS
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
go run . >stream
out=$(grep -v '^$' stream; node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'data:Hello
data: world
data:\r!
"Helloworld\\r!"' ]
echo 'as described'
