#!/usr/bin/env bash
# github.com/cloudwego/eino-ext/components/model/openai v0.1.7: a thought in the field reasoning keeps the
# quotation marks and escapes of its JSON.
#
# vLLM and OpenRouter name the field of thoughts reasoning, others reasoning_content. The component reads both,
# but takes the first as it stands in the document. So each piece of a stream brings its own quotation marks.
#
# Seen with Go 1.26.8: "First"", then\nlast" where the same text as reasoning_content is read as it was meant.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module finding

go 1.25

require (
	github.com/bytedance/sonic v1.15.5
	github.com/bytedance/sonic/loader v0.5.3
	github.com/cloudwego/eino v0.7.36
	github.com/cloudwego/eino-ext/components/model/openai v0.1.7
)
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/schema"
)

const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` +
	`"delta":{%q:%s},"finish_reason":null}]}` + "\n\n"

func main() {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, piece := range []string{`"First"`, `", then\nlast"`} {
				fmt.Fprintf(w, chunk, field, piece)
			}
			fmt.Fprint(w, "data: [DONE]\n\n")
		}))
		model, err := openai.NewChatModel(context.Background(), &openai.ChatModelConfig{BaseURL: server.URL,
			APIKey: "x", Model: "m"})
		if err != nil {
			panic(err)
		}
		stream, err := model.Stream(context.Background(), []*schema.Message{schema.UserMessage("Hi")})
		if err != nil {
			panic(err)
		}
		thought := ""
		for {
			piece, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				panic(err)
			}
			thought += piece.ReasoningContent
		}
		fmt.Printf("%s: %s\n", field, thought)
		server.Close()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'reasoning: "First"", then\nlast"
reasoning_content: First, then
last' ]
echo 'as described'
