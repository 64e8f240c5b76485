#!/usr/bin/env bash
# github.com/sashabaranov/go-openai v1.43.0: an empty result of a tool has no content, and an empty call no arguments.
#
# OpenAI's reference requires content of a message of role tool, and arguments of a call. The client leaves out both
# where they are "". A command that prints nothing is an everyday result, and a model that calls a tool without
# parameters may send "": such a history is refused by a server that checks it, or fails in its chat template.
#
# Seen with Go 1.26.8: {"role":"tool","tool_call_id":"a"} and "function":{"name":"sync"}.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/sashabaranov/go-openai v1.43.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/sashabaranov/go-openai"
)

func main() {
	var reply openai.ChatCompletionMessage
	err := json.Unmarshal([]byte(`{"role":"assistant","content":null,"tool_calls":[`+
		`{"id":"a","type":"function","function":{"name":"sync","arguments":""}}]}`), &reply)
	if err != nil {
		panic(err)
	}
	for _, message := range []openai.ChatCompletionMessage{reply, {Role: "tool", ToolCallID: "a", Content: ""}} {
		out, err := json.Marshal(message)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(out))
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"sync"}}]}
{"role":"tool","tool_call_id":"a"}' ]
echo 'as described'
