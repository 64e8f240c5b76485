#!/usr/bin/env bash
# mvdan.cc/sh/v3 v3.14.1: a list in quotes is one word if something stands beside it.
#
# "pre${a[@]}post" is one word for each element in bash: the text in front goes to the first, the text behind to the
# last. The library joins the elements with blanks, so a program gets one argument in place of two. "${a[@]}" alone
# is right, and so is "$@" alone.
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
a=(x y)
printf '<%s>' "${a[@]}"; echo
printf '<%s>' "pre${a[@]}post"; echo
set -- x y
printf '<%s>' "pre$@post"; echo
SH
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
library=$(go run . <script) bash=$(bash script)
printf 'library\n%s\nbash\n%s\n' "$library" "$bash"
[ "$library" = '<x><y>
<prex ypost>
<prex ypost>' ]
[ "$bash" = '<x><y>
<prex><ypost>
<prex><ypost>' ]
echo 'as described'
