#!/usr/bin/env bash
# github.com/NYTimes/gziphandler v1.1.1: Flush does not send the first 1400 bytes of a stream.
#
# The handler waits for 1400 bytes before it decides whether to compress, whatever the type of the content is, and does
# nothing on Flush until then. Behind it the first words of a model, or the comments that say that it still thinks, come
# when the reply is over or large enough, and a client whose timeout they should have kept away gives up.
# klauspost/compress 1.18.0, which came of it, sends them.
#
# Seen with Go 1.26.8: nothing for a second, and "data: Hi" at once.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
printf 'module finding\n\ngo 1.24\n\nrequire (\n\tgithub.com/NYTimes/gziphandler v1.1.1\n\tgithub.com/klauspost/compress v1.18.0\n)\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/NYTimes/gziphandler"
	"github.com/klauspost/compress/gzhttp"
)

func main() {
	over := make(chan bool)
	stream := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: Hi\n\n")
		w.(http.Flusher).Flush()
		<-over
	})
	for _, handler := range []http.Handler{gziphandler.GzipHandler(stream), gzhttp.GzipHandler(stream)} {
		server := httptest.NewServer(handler)
		line := make(chan string, 1)
		go func() {
			request, _ := http.NewRequest("GET", server.URL, nil)
			request.Header.Set("Accept-Encoding", "gzip")
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				panic(err)
			}
			var body io.Reader = answer.Body
			if answer.Header.Get("Content-Encoding") == "gzip" {
				if body, err = gzip.NewReader(body); err != nil {
					panic(err)
				}
			}
			text, _ := bufio.NewReader(body).ReadString('\n')
			line <- text
		}()
		select {
		case text := <-line:
			fmt.Printf("%q\n", text)
			over <- true
		case <-time.After(time.Second):
			fmt.Println("nothing for a second")
			over <- true
			fmt.Printf("%q when it is over\n", <-line)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'nothing for a second
"data: Hi\n" when it is over
"data: Hi\n"' ]
echo 'as described'
