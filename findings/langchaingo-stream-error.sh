#!/usr/bin/env bash
# github.com/tmc/langchaingo v0.1.14: a reply that fails in the middle of its stream is a reply.
#
# vLLM and others tell of a failure after the first chunk in an event of its own, data: {"error":{…}}. The client
# looks in it for choices, finds none and goes on. What came before is returned without an error. A call that ends
# in its arguments is returned too, with the half of them.
#
# Seen with Go 1.26.8: "All is" without an error, and write({"path":"a.md","text":"All is).
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

func main() {
	for _, delta := range []string{
		`{"role":"assistant","content":"All is"}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"write",` +
			`"arguments":"{\"path\":\"a.md\",\"text\":\"All is"}}]}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,`+
				`"delta":%s,"finish_reason":null}]}`+"\n\n", delta)
			fmt.Fprint(w, `data: {"error":{"message":"The engine is dead.","type":"InternalServerError","code":500}}`,
				"\n\ndata: [DONE]\n\n")
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
		fmt.Printf("%q, error %v\n", reply.Choices[0].Content, err)
		for _, call := range reply.Choices[0].ToolCalls {
			fmt.Printf("%s(%s)\n", call.FunctionCall.Name, call.FunctionCall.Arguments)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = '"All is", error <nil>
"", error <nil>
write({"path":"a.md","text":"All is)' ]
echo 'as described'
