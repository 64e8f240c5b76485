#!/usr/bin/env bash
# github.com/ollama/ollama v0.17.4: several calls of DeepSeek, Ministral or LFM2 in one reply all have the index 0.
#
# OpenAI's API says which call a piece of a stream belongs to by its index. The parser of Qwen counts its calls, those
# of these families do not, and /v1/chat/completions passes on what they say. A client that joins pieces by index, as
# stream() and runTools() of npm openai 7.59.0 do, makes one call of two, whose arguments are {"q":"a"}{"q":"b"}.
#
# Seen with Go 1.26.8: 0 and 1 for qwen3; 0 and 0 for the other three.
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
	"github.com/ollama/ollama/model/parsers"
	server "github.com/ollama/ollama/openai"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var tools []api.Tool
	must(json.Unmarshal([]byte(`[{"type":"function","function":{"name":"look","parameters":`+
		`{"type":"object","properties":{"q":{"type":"string"}}}}}]`), &tools))
	for _, reply := range [][2]string{
		{"qwen3", `<tool_call>{"name":"look","arguments":{"q":"a"}}</tool_call>` +
			`<tool_call>{"name":"look","arguments":{"q":"b"}}</tool_call>`},
		{"deepseek3", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"q":"a"}<｜tool▁call▁end｜>` +
			`<｜tool▁call▁begin｜>look<｜tool▁sep｜>{"q":"b"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`},
		{"ministral", `[TOOL_CALLS]look[ARGS]{"q":"a"}[TOOL_CALLS]look[ARGS]{"q":"b"}`},
		{"lfm2", `<|tool_call_start|>[look(q="a"), look(q="b")]<|tool_call_end|>`},
	} {
		parser := parsers.ParserForName(reply[0])
		parser.Init(tools, nil, nil)
		_, _, calls, err := parser.Add(reply[1], true)
		must(err)
		chunk := server.ToChunk("c", api.ChatResponse{Message: api.Message{ToolCalls: calls}}, false)
		fmt.Print(reply[0])
		for _, call := range chunk.Choices[0].Delta.ToolCalls {
			fmt.Print(" ", call.Index, call.Function.Arguments)
		}
		fmt.Println()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'qwen3 0{"q":"a"} 1{"q":"b"}
deepseek3 0{"q":"a"} 0{"q":"b"}
ministral 0{"q":"a"} 0{"q":"b"}
lfm2 0{"q":"a"} 0{"q":"b"}' ]
echo 'as described'
