#!/usr/bin/env bash
# mvdan.cc/sh/v3 v3.14.1: what shall stand for all arguments in quotes does not.
#
# "${@:-none}" is none where there are no arguments, and "${@:+some}" is some where there are. The library leaves
# both out for lists in quotes: the first is no argument at all, the second is the list itself. For a single
# argument, "${1:-none}", it is right.
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
set --
printf '<%s>' "${1:-none}" "${@:-none}"; echo
set -- a b
printf '<%s>' "${1:+some}" "${@:+some}"; echo
SH
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
library=$(go run . <script) bash=$(bash script)
printf 'library\n%s\nbash\n%s\n' "$library" "$bash"
[ "$library" = '<none>
<some><a><b>' ]
[ "$bash" = '<none><none>
<some><some>' ]
echo 'as described'
