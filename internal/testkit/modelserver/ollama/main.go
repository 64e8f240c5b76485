// Command ollama is a real Ollama whose model says a script. Its routes, scheduler, templates, tokenizer,
// Harmony parser and OpenAI layer are those of the module; only the runner, the process that would compute,
// is an HTTP proxy to the test at $MODEL_SCRIPT, which package modelserver serves.
//
//	ollama serve       serves on a free port of 127.0.0.1, and prints its URL
//	ollama runner …    is started by the server itself
//
// It is a module of its own, so that nothing that Ollama needs becomes part of the program. It is built
// from a copy of Ollama's module without C; the folders llama and ggml stand for the packages that need C.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"

	"github.com/ollama/ollama/server"

	_ "github.com/ollama/ollama/model/models/gptoss"
	_ "github.com/ollama/ollama/model/models/qwen3"
)

func main() {
	script, err := url.Parse(os.Getenv("MODEL_SCRIPT"))
	if err == nil {
		go endWith(script)
		err = run(script, os.Args[1:])
	}
	fmt.Fprintln(os.Stderr, "ollama:", err)
	os.Exit(1)
}

func run(script *url.URL, args []string) error {
	address := "127.0.0.1:0"
	if i := slices.Index(args, "--port"); i > 0 && i+1 < len(args) {
		address = "127.0.0.1:" + args[i+1]
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "runner" {
		return http.Serve(l, runner(script))
	}
	fmt.Printf("http://%s\n", l.Addr())
	return server.Serve(l)
}

// endWith ends this process when the test that started it has ended.
func endWith(script *url.URL) {
	if res, err := http.Get(script.JoinPath("alive").String()); err == nil {
		_, _ = io.Copy(io.Discard, res.Body) // how it ends does not matter
	}
	os.Exit(0)
}

// runner passes everything on to the script, and dies where the script says so.
func runner(script *url.URL) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // Ollama has left
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, script.JoinPath(r.URL.Path).String(),
			bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.WriteHeader(res.StatusCode)
		// a caller that has gone needs no error
		_, _ = io.Copy(flushed{w, http.NewResponseController(w)}, res.Body)
		if res.Trailer.Get("Die") != "" {
			os.Exit(2)
		}
	})
}

// flushed sends at once what is written.
type flushed struct {
	io.Writer
	control *http.ResponseController
}

func (f flushed) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
