#!/usr/bin/env bash
# github.com/sashabaranov/go-openai v1.43.0: a stream that is kept alive by comments ends with an error.
#
# Server-sent events may have comments, lines that begin with a colon, and servers and proxies send them while
# a model thinks. The client counts them, with the blank lines behind them, as empty messages. After 300 in a
# row it gives up: a comment each second is too much for a model that thinks for three minutes.
#
# Seen with Go 1.26.8: "Hi" after 150 comments, "stream has sent too many empty messages" after 151.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/sashabaranov/go-openai v1.43.0\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sashabaranov/go-openai"
)

func main() {
	for _, comments := range []int{150, 151} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, strings.Repeat(": ping\n\n", comments), `data: {"id":"c","object":"chat.completion.chunk",`+
				`"created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`,
				"\n\ndata: [DONE]\n\n")
		}))
		config := openai.DefaultConfig("x")
		config.BaseURL = server.URL
		stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(),
			openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Hi"}}})
		if err != nil {
			panic(err)
		}
		if chunk, err := stream.Recv(); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(chunk.Choices[0].Delta.Content)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'Hi
stream has sent too many empty messages' ]
echo 'as described'
