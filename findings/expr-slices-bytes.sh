#!/usr/bin/env bash
# github.com/expr-lang/expr v1.17.8: len counts the characters of a text, slices and indexOf count its bytes.
#
# text[0:len(text)] is the whole text only while each character is one byte. Of any other text the end is cut
# off, in the middle of a character too, so that what comes out is no UTF-8. Neither len(text) - 1 nor what
# indexOf gives can be held against the other.
#
# Seen with Go 1.26.8: both 5, and for text[0:len(text) - 1] "caf\xc3" of "café!".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/expr-lang/expr v1.17.8\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/expr-lang/expr"
)

func main() {
	for _, source := range []string{`len(text)`, `indexOf(text, "!")`, `text[0:len(text) - 1]`} {
		out, err := expr.Eval(source, map[string]any{"text": "café!"})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%#v\n", out)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '5
5
"caf\xc3"' ]
echo 'as described'
