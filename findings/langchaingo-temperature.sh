#!/usr/bin/env bash
# github.com/tmc/langchaingo v0.1.14: a request for which no temperature is set has temperature 0.
#
# The field is optional in OpenAI's API, and a server takes its own value where it is absent: 1 for OpenAI, what
# generation_config.json of the model says for vLLM. The client writes 0 for "not set", which is a value: the model
# always takes the likeliest token. OpenAI recommends 1 for gpt-oss.
#
# Seen with Go 1.26.8: "temperature":0 without an option, and no top_p or seed.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/tmc/langchaingo v0.1.14\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			panic(err)
		}
		fmt.Printf("temperature %q, top_p %q, seed %q\n", body["temperature"], body["top_p"], body["seed"])
		fmt.Fprint(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`)
	}))
	model, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("x"), openai.WithModel("m"))
	if err != nil {
		panic(err)
	}
	if _, err := llms.GenerateFromSinglePrompt(context.Background(), model, "Hi"); err != nil {
		panic(err)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'temperature "0", top_p "", seed ""' ]
echo 'as described'
