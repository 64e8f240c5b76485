//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"

	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// unreadModel tells a child of this test which model to serve.
const unreadModel = "TEST_UNREAD_MODEL"

// A log that is not read, or whose reader has gone, costs no request and no stream, and a signal still ends
// the program.
func TestUnreadLog(t *testing.T) {
	if args := os.Getenv(unreadModel); args != "" {
		os.Exit(Run(strings.Split(args, " "), Env{Parts: Parts,
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Defaults: os.DirFS("../.."),
		}))
	}
	for name, c := range map[string]struct {
		output string
		gone   bool // the reader is, in the middle of a stream; else it never reads
	}{
		"stderr is not read":       {"stderr", false},
		"the reader of it goes":    {"stderr", true},
		"stdout is not read":       {"stdout", false},
		"the reader of that goes":  {"stdout", true},
		"a file that is this pipe": {"/dev/stderr", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, goOn := make(chan struct{}, 1), make(chan struct{})
			model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodPost {
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				say := func(chunk string) {
					fmt.Fprintf(w, "data: %s\n\n", chunk)
					w.(http.Flusher).Flush()
				}
				say(`{"choices":[{"index":0,"delta":{"role":"assistant","content":"One moment, "}}]}`)
				if strings.Contains(string(body), "wait") {
					asked <- struct{}{}
					<-goOn
				}
				say(`{"choices":[{"index":0,"delta":{"content":"and done."},"finish_reason":"stop"}]}`)
				say("[DONE]")
			}))
			defer model.Close()
			from, to, err := os.Pipe()
			ruletest.Must(t, err)
			defer from.Close()
			child := exec.Command(os.Args[0], "-test.run=^TestUnreadLog$")
			child.Env = append(os.Environ(),
				unreadModel+"=serve --confine off --log-level debug --listen 127.0.0.1:0 --log-output "+
					c.output+" --upstream "+model.URL)
			child.Stdout, child.Stderr = to, to
			ruletest.Must(t, child.Start())
			to.Close()
			address := ""
			for lines := bufio.NewScanner(from); address == "" && lines.Scan(); {
				if m := serving.FindStringSubmatch(lines.Text()); m != nil {
					address = m[1]
				}
			}
			ended := make(chan error, 1)
			go func() { ended <- child.Wait() }()
			defer child.Process.Kill() // where it is still there
			client := &http.Client{Timeout: time.Minute}
			ask := func(word string) *http.Response {
				resp, err := client.Post("http://"+address+"/v1/chat/completions", "application/json",
					strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"`+word+`"}]}`))
				if err != nil {
					t.Fatal(err)
				}
				return resp
			}
			whole := func(resp *http.Response) {
				defer resp.Body.Close()
				if text, err := io.ReadAll(resp.Body); err != nil ||
					!strings.HasSuffix(string(text), "data: [DONE]\n\n") {
					t.Fatalf("%s%v", text, err)
				}
			}
			ruletest.Soon(t, "it serves", func() bool {
				resp, err := http.Get("http://" + address + "/healthz")
				if err == nil {
					resp.Body.Close()
				}
				return err == nil
			})
			open := ask("wait")
			<-asked
			if c.gone {
				from.Close()
			}
			for range 100 { // more lines than a pipe takes
				whole(ask("go"))
			}
			close(goOn)
			whole(open)
			ruletest.Must(t, child.Process.Signal(syscall.SIGTERM))
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended so: %v", err)
				}
			case <-time.After(time.Minute):
				t.Error("it still runs")
			}
		})
	}
}
