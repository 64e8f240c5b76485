#!/usr/bin/env bash
# gopkg.in/yaml.v3 v3.0.1: a number with a fraction becomes an int without it, and nothing is said.
#
# encoding/json refuses 2.9 for an int. yaml.v3 cuts it off: retries: 2.9 is 2, and a share that a user writes
# as 0.5 where percents are asked for is 0. A text in its place is an error, as is a number that is too large.
#
# Seen with Go 1.26.8: 2 and 0 without an error.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire gopkg.in/yaml.v3 v3.0.1\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

func main() {
	for _, number := range []string{"2.9", "0.5", "1e30"} {
		var y, j int
		err := yaml.Unmarshal([]byte(number), &y)
		fmt.Println(number, y, err == nil, json.Unmarshal([]byte(number), &j) == nil)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '2.9 2 true false
0.5 0 true false
1e30 0 false false' ]
echo 'as described'
