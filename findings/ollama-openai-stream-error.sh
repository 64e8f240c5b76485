#!/usr/bin/env bash
# github.com/ollama/ollama v0.17.4: an error after the first chunk of a stream disappears.
#
# Ollama's own API ends a stream that fails with a line {"error": "…"}. Its OpenAI middleware reads that line as a
# chat response. So /v1/chat/completions sends one more chunk, in which model is "" and finish_reason null. No error, no
# finish_reason and no [DONE] follow. A client cannot tell a tool call that Ollama could not parse from a short answer.
#
# Seen with Go 1.26.8: the chunks "Hi." and the empty one, and nothing of "error parsing tool call".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire github.com/ollama/ollama v0.17.4\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/ollama/ollama/middleware"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/v1/chat/completions", middleware.ChatMiddleware(), func(c *gin.Context) {
		for _, line := range []string{
			`{"model":"m","message":{"role":"assistant","content":"Hi."},"done":false}`,
			`{"error":"error parsing tool call: raw='{x', err=invalid character"}`,
		} {
			c.Writer.Write([]byte(line + "\n"))
		}
	})
	w := httptest.NewRecorder()
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
	router.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	fmt.Printf("%d\n%s", w.Code, w.Body)
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$(grep -c '^data: ' <<<"$out")" = 2 ]
grep -q '"model":"",.*"delta":{"role":"assistant","content":""},"finish_reason":null' <<<"$out"
! grep -qE 'error|\[DONE\]' <<<"$out"
echo 'as described'
