#!/usr/bin/env bash
# mvdan.cc/sh/v3 v3.14.1: an empty field between two separators is lost.
#
# With IFS=, the value a,b,,c splits into four words in bash, as POSIX says for separators that are no white space:
# each of them ends a field. The library makes three of it, so what follows moves to another place; so does its
# builtin read.
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
	"context"
	"os"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

func main() {
	file, err := syntax.NewParser().Parse(os.Stdin, "")
	if err != nil {
		panic(err)
	}
	shell, err := interp.New(interp.StdIO(nil, os.Stdout, os.Stderr))
	if err == nil {
		err = shell.Run(context.Background(), file)
	}
	if err != nil {
		panic(err)
	}
}
GO
cat >script <<'SH'
IFS=,
x=a,b,,c
printf '<%s>' $x; echo
IFS=, read -r a b c d <<<"$x"
printf '<%s>' "$a" "$b" "$c" "$d"; echo
SH
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
library=$(go run . <script) bash=$(bash script)
printf 'library\n%s\nbash\n%s\n' "$library" "$bash"
[ "$library" = '<a><b><c>
<a><b><c><>' ]
[ "$bash" = '<a><b><><c>
<a><b><><c>' ]
echo 'as described'
