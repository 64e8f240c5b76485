#!/usr/bin/env bash
# github.com/tmc/langchaingo v0.1.14: pieces of parallel calls in a stream all go to the last call.
#
# A piece of arguments names its call by index. langchaingo adds each piece without an id to the call that
# came last. Where two calls are written side by side, the first keeps no arguments, and those of the second
# are both, one in the other.
#
# Seen with Go 1.26.8: look() and look({"q":{"q":"a"}"b"}) of look({"q":"a"}) and look({"q":"b"}).
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/tmc/langchaingo v0.1.14\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` +
	`"delta":{"tool_calls":[%s]},"finish_reason":null}]}` + "\n\n"

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, call := range []string{
			`{"index":0,"id":"c0","type":"function","function":{"name":"look","arguments":""}}`,
			`{"index":1,"id":"c1","type":"function","function":{"name":"look","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"q\":"}}`, `{"index":1,"function":{"arguments":"{\"q\":"}}`,
			`{"index":0,"function":{"arguments":"\"a\"}"}}`, `{"index":1,"function":{"arguments":"\"b\"}"}}`,
		} {
			fmt.Fprintf(w, chunk, call)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	model, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("x"), openai.WithModel("m"))
	if err != nil {
		panic(err)
	}
	reply, err := model.GenerateContent(context.Background(), []llms.MessageContent{llms.TextParts("human", "Hi")},
		llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil {
		panic(err)
	}
	for _, call := range reply.Choices[0].ToolCalls {
		fmt.Printf("%s(%s)\n", call.FunctionCall.Name, call.FunctionCall.Arguments)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'look()
look({"q":{"q":"a"}"b"})' ]
echo 'as described'
