#!/usr/bin/env bash
# github.com/openai/openai-go/v3 v3.99.0: JustFinishedToolCall never tells of a call that ends with its chunk.
#
# The accumulator says that a call is finished when the next chunk is no piece of it. Ollama sends a call and
# the finish_reason in one chunk, and of two calls in a chunk only the first is looked for. A loop that runs
# what JustFinishedToolCall gives runs none of these, though Choices has them all.
#
# Seen with Go 1.26.8: 0 of 1 call told of, then 1 of 2.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/openai/openai-go/v3 v3.99.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
)

func main() {
	const first = `{"index":0,"id":"c0","type":"function","function":{"name":"look","arguments":"{}"}}`
	const second = `{"index":1,"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}`
	for _, choices := range [][]string{
		{`"delta":{"role":"assistant","tool_calls":[` + first + `]},"finish_reason":"tool_calls"`},
		{`"delta":{"tool_calls":[` + first + `,` + second + `]},"finish_reason":null`,
			`"delta":{},"finish_reason":"tool_calls"`},
	} {
		var reply openai.ChatCompletionAccumulator
		told := 0
		for _, choice := range choices {
			var chunk openai.ChatCompletionChunk
			text := `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` + choice + `}]}`
			if err := json.Unmarshal([]byte(text), &chunk); err != nil {
				panic(err)
			}
			reply.AddChunk(chunk)
			if _, ok := reply.JustFinishedToolCall(); ok {
				told++
			}
		}
		fmt.Printf("%d of %d\n", told, len(reply.Choices[0].Message.ToolCalls))
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '0 of 1
1 of 2' ]
echo 'as described'
