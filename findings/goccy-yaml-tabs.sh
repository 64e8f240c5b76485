#!/usr/bin/env bash
# github.com/goccy/go-yaml v1.19.2: a text is written without quotation marks that it needs.
#
# What the library writes it reads as another value: a tab between letters, where YAML allows one, goes away, the
# text .nan becomes a number, and "? a" is no document any more. yaml.v3 puts all of them in quotation marks.
#
# Seen with Go 1.26: "a\tb" comes back as "ab".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.25\n\nrequire github.com/goccy/go-yaml v1.19.2\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

func main() {
	for _, text := range []string{"a\tb", "a\t", ".nan", "? a"} {
		doc, err := yaml.Marshal(map[string]string{"k": text})
		if err != nil {
			panic(err)
		}
		var back map[string]any
		if err := yaml.Unmarshal(doc, &back); err != nil {
			fmt.Printf("%q as %q: an error\n", text, doc)
		} else {
			fmt.Printf("%q as %q: %T %v\n", text, doc, back["k"], back["k"])
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '"a\tb" as "k: a\tb\n": string ab
"a\t" as "k: a\t\n": string a
".nan" as "k: .nan\n": float64 NaN
"? a" as "k: ? a\n": an error' ]
echo 'as described'
