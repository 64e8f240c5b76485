#!/usr/bin/env bash
# mvdan.cc/sh/v3 v3.14.1: a replacement that is anchored to the start or the end of a value changes nothing.
#
# In ${x/#a/Z} and ${x/%c/Z} bash replaces the pattern at the start or the end. The parser reads the anchors, and
# expand.Fields looks for a text "#a" instead: the value comes back as it was, without an error.
#
# Seen with Go 1.26 and bash 5.2.
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
	env := expand.ListEnviron("x=" + os.Args[1])
	for _, text := range os.Args[2:] {
		file, err := syntax.NewParser().Parse(strings.NewReader("show "+text), "")
		if err != nil {
			panic(err)
		}
		words := file.Stmts[0].Cmd.(*syntax.CallExpr).Args[1:]
		fields, err := expand.Fields(&expand.Config{Env: env}, words...)
		fmt.Printf("library: %s is %q %v\n", text, fields, err)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run . abcabc '${x/#a/Z}' '${x/%c/Z}' '${x/a/Z}' && bash -c 'x=abcabc; echo "bash: ${x/#a/Z} ${x/%c/Z} ${x/a/Z}"')
printf '%s\n' "$out"
[ "$out" = 'library: ${x/#a/Z} is ["abcabc"] <nil>
library: ${x/%c/Z} is ["abcabc"] <nil>
library: ${x/a/Z} is ["Zbcabc"] <nil>
bash: Zbcabc abcabZ Zbcabc' ]
echo 'as described'
