//go:build unix

package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// forModel tells a child of this test which model to serve; nothing: it is no child.
const forModel = "TEST_MODEL"

// The first signal lets an open request end, and the second ends the program at once. A terminal that closes
// is such a signal, and may say so twice.
func TestSecondSignal(t *testing.T) {
	if model := os.Getenv(forModel); model != "" {
		os.Exit(Run([]string{"serve", "--listen", "127.0.0.1:0", "--upstream", model, "--confine", "off"},
			Env{Parts: Parts,
				In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(),
				Defaults: os.DirFS("../.."),
			}))
	}
	asked := make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body) // only then it is seen that the caller has left
			asked <- struct{}{}
			<-r.Context().Done()
		}
	}))
	defer silent.Close()
	var log ruletest.Journal
	heard := make(chan os.Signal, 1) // else the child ignores what nohup and shells let this process ignore
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(heard)
	child := exec.Command(os.Args[0], "-test.run=^TestSecondSignal$")
	child.Env = append(os.Environ(), forModel+"="+silent.URL)
	child.Stderr = &log
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	defer child.Process.Kill() // where it is still there
	var at []string
	ruletest.Soon(t, "it serves", func() bool { at = serving.FindStringSubmatch(log.String()); return at != nil })
	go http.Post("http://"+at[1]+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"messages":[{"role":"user","content":"go"}]}`))
	<-asked
	send := func(s syscall.Signal) {
		if err := child.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGHUP)
	ruletest.Soon(t, "it says so",
		func() bool { return strings.Contains(log.String(), "a second signal stops at once") })
	send(syscall.SIGHUP)
	select {
	case err := <-ended:
		t.Fatalf("it did not wait for the request: %v\n%s", err, log.String())
	case <-time.After(300 * time.Millisecond):
	}
	send(syscall.SIGINT)
	select {
	case <-ended:
		if strings.Contains(log.String(), "http_server_stopped") {
			t.Errorf("it ended when its time was over\n%s", log.String())
		}
	case <-time.After(time.Minute):
		t.Errorf("it still runs\n%s", log.String())
	}
}
