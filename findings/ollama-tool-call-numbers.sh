#!/usr/bin/env bash
# github.com/ollama/ollama v0.17.4: integers in the arguments of a tool call lose digits.
#
# api.ToolCallFunctionArguments holds every number as a float64 and encodes it again. Of an integer beyond 2^53 the last
# digits become others: the id of a message in a chat service then names another message, or none. 1.0 becomes 1.
#
# Seen with Go 1.26.8: {"id":12345678901234567000,"share":1} of {"id":12345678901234567890,"share":1.0}.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/ollama/ollama v0.17.4\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/ollama/ollama/api"
)

func main() {
	var call api.ToolCall
	err := json.Unmarshal([]byte(`{"function":{"name":"reply","arguments":{"id":12345678901234567890,"share":1.0}}}`), &call)
	if err != nil {
		panic(err)
	}
	out, err := json.Marshal(call.Function.Arguments)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(out))
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '{"id":12345678901234567000,"share":1}' ]
echo 'as described'
