#!/usr/bin/env bash
# github.com/google/shlex (e7afc7f) and github.com/mattn/go-shellwords v1.0.16: in double quotes a backslash goes
# away, whatever stands behind it.
#
# In double quotes of POSIX a backslash is a letter, unless $, `, ", a backslash or a line break follows. Both drop
# it; go-shellwords makes of \n a line break, and of \t a tab. So the words of a search, \bfoo\b, become bfoob, and
# another pattern is searched for. github.com/kballard/go-shellquote reads as bash does.
#
# Seen with Go 1.26 and bash 5.2: "\bfoo\b" "a\nb" "\d+\.go".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf '%s' 'rg "\bfoo\b" "a\nb" "\d+\.go"' >line
cat >go.mod <<'MOD'
module finding

go 1.25

require (
	github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510
	github.com/kballard/go-shellquote v0.0.0-20180428030007-95032a82bc51
	github.com/mattn/go-shellwords v1.0.16
)
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/google/shlex"
	"github.com/kballard/go-shellquote"
	"github.com/mattn/go-shellwords"
)

func main() {
	line, err := os.ReadFile("line")
	if err != nil {
		panic(err)
	}
	for _, library := range []struct {
		name  string
		split func(string) ([]string, error)
	}{{"shlex", shlex.Split}, {"go-shellwords", shellwords.Parse}, {"go-shellquote", shellquote.Split}} {
		words, err := library.split(string(line))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %q\n", library.name, words)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run . && bash -c "rg() { printf 'bash:'; printf ' <%s>' rg \"\$@\"; echo; }; $(cat line)")
printf '%s\n' "$out"
[ "$out" = 'shlex: ["rg" "bfoob" "anb" "d+.go"]
go-shellwords: ["rg" "bfoob" "a\nb" "d+.go"]
go-shellquote: ["rg" "\\bfoo\\b" "a\\nb" "\\d+\\.go"]
bash: <rg> <\bfoo\b> <a\nb> <\d+\.go>' ]
echo 'as described'
