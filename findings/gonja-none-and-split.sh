#!/usr/bin/env bash
# github.com/nikolalohinski/gonja/v2 v2.9.1: none, default and split are others than Jinja's.
#
# What is not defined is none, so that a template which asks "is none" before it asks "is defined" takes the wrong branch,
# and default takes its place where the value is null, too. split('=', 1) does not split: its limit counts the parts and
# not the cuts, and a template that takes part [1] of an answer, as behind </think>, reads nothing.
#
# Seen with Go 1.26.8; Jinja2 3.1.6 gives False, None and ['a', 'b=c'].
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/nikolalohinski/gonja/v2 v2.9.1\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/nikolalohinski/gonja/v2"
	"github.com/nikolalohinski/gonja/v2/exec"
)

func main() {
	data := exec.NewContext(map[string]any{"null": nil})
	for _, source := range []string{
		`{{ missing is none }}`, `{{ null | default("x") }}`, `{{ "a=b=c".split("=", 1) }}`,
	} {
		template, err := gonja.FromString(source)
		if err != nil {
			panic(err)
		}
		text, err := template.ExecuteToString(data)
		if err != nil {
			panic(err)
		}
		fmt.Println(source, text)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = "{{ missing is none }} True
{{ null | default(\"x\") }} x
{{ \"a=b=c\".split(\"=\", 1) }} ['a=b=c']" ]
echo 'as described'
