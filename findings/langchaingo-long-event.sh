#!/usr/bin/env bash
# github.com/tmc/langchaingo v0.1.14: a call that comes in one event of more than 64 KiB is an error.
#
# Neither server-sent events nor OpenAI's API bound an event, and Ollama sends a call when all of it is there: a file
# of 70 KB that the model writes is one event. The client reads lines with a scanner of Go in its usual size.
#
# Seen with Go 1.26: the arguments of 60,014 bytes, and of 70,014 "bufio.Scanner: token too long".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.25\n\nrequire github.com/tmc/langchaingo v0.1.14\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

const event = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` +
	`"delta":%s,"finish_reason":%s}]}` + "\n\n"

func main() {
	for _, size := range []int{60_000, 70_000} {
		arguments, err := json.Marshal(`{"content":"` + strings.Repeat("x", size) + `"}`)
		if err != nil {
			panic(err)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, event, `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"write",`+
				`"arguments":`+string(arguments)+`}}]}`, "null")
			fmt.Fprintf(w, event+"data: [DONE]\n\n", "{}", `"tool_calls"`)
		}))
		model, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("x"), openai.WithModel("m"))
		if err != nil {
			panic(err)
		}
		reply, err := model.GenerateContent(context.Background(),
			[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hi")},
			llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }),
			llms.WithTools([]llms.Tool{{Type: "function",
				Function: &llms.FunctionDefinition{Name: "write", Parameters: map[string]any{"type": "object"}}}}))
		if err != nil {
			fmt.Printf("%d: %v\n", size, err)
		} else {
			fmt.Printf("%d: %d bytes of arguments\n", size, len(reply.Choices[0].ToolCalls[0].FunctionCall.Arguments))
		}
		server.Close()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '60000: 60014 bytes of arguments
70000: error reading streaming response: bufio.Scanner: token too long' ]
echo 'as described'
