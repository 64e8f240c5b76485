#!/usr/bin/env bash
# github.com/spf13/pflag v1.1.0: of a StringSlice that is several lines the first one is taken, without a word.
#
# The value is read as CSV, and of that one record: --models "$(cat models.txt)" sets the first model alone. A
# quotation mark within is an error, so that one would expect an error here as well. A StringArray takes all of it.
#
# Seen with Go 1.26.8: ["a" "b"] of "a,b\nc,d", and no error.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/spf13/pflag v1.1.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/spf13/pflag"
)

func main() {
	for _, value := range []string{"a,b\nc,d", "a\nb\nc", `a"b`} {
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		models := flags.StringSlice("models", nil, "")
		err := flags.Parse([]string{"--models", value})
		fmt.Printf("%q %q %v\n", value, *models, err == nil)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '"a,b\nc,d" ["a" "b"] true
"a\nb\nc" ["a"] true
"a\"b" [] false' ]
echo 'as described'
