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
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// starting tells a copy of this test to start a server with these arguments, and to stay.
const starting = "TEST_STARTING"

// A server whose parent is killed takes nothing new, lets an open stream end, and has ended then.
// Its log goes through a pipe that nobody reads any more.
func TestWithParent(t *testing.T) {
	if args := os.Getenv(starting); args != "" {
		startsServer(args)
	}
	asked, goOn := make(chan struct{}), make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(chunk string) {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
			w.(http.Flusher).Flush()
		}
		say(`{"choices":[{"index":0,"delta":{"role":"assistant","content":"One moment, "}}]}`)
		close(asked)
		<-goOn
		say(`{"choices":[{"index":0,"delta":{"content":"and done."},"finish_reason":"stop"}]}`)
		say("[DONE]")
	}))
	defer model.Close()
	lives, held, err := os.Pipe() // as long as a process has the other end, it is open
	if err != nil {
		t.Fatal(err)
	}
	defer lives.Close()
	parent := exec.Command(os.Args[0], "-test.run=^TestWithParent$")
	parent.Env = append(os.Environ(),
		starting+"=serve --confine off --with-parent --listen 127.0.0.1:0 --upstream "+model.URL)
	parent.ExtraFiles = []*os.File{held}
	log, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
	address := ""
	for lines := bufio.NewScanner(log); address == "" && lines.Scan(); {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	up := func() bool {
		resp, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	}
	ruletest.Soon(t, "it serves", up)
	resp, err := http.Post("http://"+address+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"go"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("it answers %s", resp.Status)
	}
	<-asked
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	ruletest.Soon(t, "nothing new is taken", func() bool { return !up() })
	close(goOn)
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "and done.") ||
		!strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		t.Errorf("the open stream ended so: %s%v", text, err)
	}
	if err := lives.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(lives); err != nil {
		t.Errorf("the server is left: %v", err)
	}
}

// startsServer is a parent that reads the log of its child, as a gateway does.
func startsServer(args string) {
	words := strings.Split(args, " ")
	if words[0] == "as" {
		os.Exit(Run(words[1:], Env{Parts: Parts, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: nil,
			Defaults: os.DirFS("../..")}))
	}
	child := exec.Command(os.Args[0], "-test.run=^TestWithParent$")
	child.Env = append(os.Environ(), starting+"=as "+args)
	child.ExtraFiles = []*os.File{os.NewFile(3, "held")}
	log, err := child.StderrPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Println(lines.Text())
	}
	os.Exit(1)
}
