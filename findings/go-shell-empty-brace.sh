#!/usr/bin/env bash
# mvdan.cc/sh/v3 v3.14.1: a word that braces leave empty stays as an empty argument.
#
# Bash expands {,x} to two words, of which the first is empty and not quoted: it goes away. expand.Fields, and so
# the interpreter of the library, keeps it: a program gets one argument more, and touch {,x} fails on a file
# without a name.
#
# Seen with Go 1.26 and bash 5.2: two arguments, and one.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module finding

go 1.25

require mvdan.cc/sh/v3 v3.14.1
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	for _, text := range os.Args[1:] {
		file, err := syntax.NewParser().Parse(strings.NewReader("show "+text), "")
		if err != nil {
			panic(err)
		}
		fields, err := expand.Fields(nil, file.Stmts[0].Cmd.(*syntax.CallExpr).Args[1:]...)
		if err != nil {
			panic(err)
		}
		fmt.Printf("library: %s is %q\n", text, fields)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run . '{,x}' 'a{,b}' && bash -c "show() { printf 'bash: %s is' \"\$1\"; shift; printf ' <%s>' \"\$@\"; echo; }
show '{,x}' {,x}; show 'a{,b}' a{,b}")
printf '%s\n' "$out"
[ "$out" = 'library: {,x} is ["" "x"]
library: a{,b} is ["a" "ab"]
bash: {,x} is <x>
bash: a{,b} is <a> <ab>' ]
echo 'as described'
