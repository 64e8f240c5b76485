#!/usr/bin/env bash
# github.com/openai/openai-go/v3 v3.99.0: usage that each chunk carries is added up.
#
# With stream_options.continuous_usage_stats vLLM says in each chunk how many tokens there were so far. The
# accumulator adds these numbers, so that a reply of 3 tokens to a prompt of 1000 counts as 6 tokens to one of
# 3000.
#
# Seen with Go 1.26.8: prompt 3000, completion 6, of which the last chunk says 1000 and 3.
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
	var reply openai.ChatCompletionAccumulator
	for n := 1; n <= 3; n++ {
		var chunk openai.ChatCompletionChunk
		text := fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,`+
			`"delta":{"content":"x"},"finish_reason":null}],`+
			`"usage":{"prompt_tokens":1000,"completion_tokens":%d,"total_tokens":%d}}`, n, 1000+n)
		if err := json.Unmarshal([]byte(text), &chunk); err != nil {
			panic(err)
		}
		reply.AddChunk(chunk)
	}
	fmt.Printf("prompt %d, completion %d\n", reply.Usage.PromptTokens, reply.Usage.CompletionTokens)
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'prompt 3000, completion 6' ]
echo 'as described'
