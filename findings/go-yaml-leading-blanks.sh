#!/usr/bin/env bash
# gopkg.in/yaml.v3 v3.0.1: a text of several lines that begins with white space is written so that it is read
# otherwise, or not at all.
#
# Such a text becomes a block with a sign of its indentation, |4-, and then stands two or more columns elsewhere.
# Of a value the line break in front is lost, without an error; one in a list, or one that begins with a tab, the
# library itself refuses to read.
#
# Seen with Go 1.26: "\na" comes back as "a" from a mapping; a list of it and "\ta\n" are errors.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.25\n\nrequire gopkg.in/yaml.v3 v3.0.1\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

func main() {
	for _, value := range []any{map[string]any{"k": "\na"}, []any{"\na"}, []any{"  a\nb"}, map[string]any{"k": "\ta\n"}} {
		doc, err := yaml.Marshal(value)
		if err != nil {
			panic(err)
		}
		var back any
		if err := yaml.Unmarshal(doc, &back); err != nil {
			fmt.Printf("%q: %v\n", value, err)
		} else {
			fmt.Printf("%q: %q\n", value, back)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'map["k":"\na"]: map["k":"a"]
["\na"]: yaml: line 1: did not find expected '"'-'"' indicator
["  a\nb"]: yaml: line 2: did not find expected '"'-'"' indicator
map["k":"\ta\n"]: yaml: line 2: found a tab character where an indentation space is expected' ]
echo 'as described'
