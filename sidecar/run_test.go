package sidecar_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// drained starts Run, begins a request, asks Run to stop, and gives the answer
// that was in flight and what Run returned.
func drained(t *testing.T, reply script.Reply, body string, grace time.Duration) (*provider.Answer, error) {
	t.Helper()
	r := provider.Play(t, reply)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- sidecar.Run(ctx, l, r.Sidecar.Handler(), provider.Within(grace), r.Logger) }()
	r.URL = "http://" + l.Addr().String()
	got := make(chan *provider.Answer, 1)
	go func() {
		res, err := r.Do(t.Context(), http.MethodPost, "/v1/chat/completions", body)
		if err != nil {
			t.Error(err)
			close(got)
			return
		}
		got <- provider.ReadAnswer(t, res)
	}()
	ruletest.Soon(t, "the model is asked", func() bool { return len(r.Model.Requests("")) == 1 })
	stop()
	ruletest.Soon(t, "new connections are refused", func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	a := <-got
	if a == nil {
		t.FailNow()
	}
	return a, <-ran
}

// What is open when the process is told to stop ends within the grace period, or
// is told that it did not.
func TestDrain(t *testing.T) {
	slow, stuck := script.Text("It takes a while.").Thinking("Hm."),
		script.Text("It ").Thinking("Hm.").Ending(script.Hang)
	slow.Pause = 60 * time.Millisecond
	silent := script.Reply{Delay: time.Minute}
	for _, row := range []struct {
		name, body string
		reply      script.Reply
		grace      time.Duration
		text       string
		status     int
		done       bool
	}{
		{"a stream that ends in time", provider.Body(provider.Streaming), slow, 10 * time.Second, "It takes a while.", 200, true},
		{"a stream that does not", provider.Body(provider.Streaming), stuck, 100 * time.Millisecond, "It ", 200, false},
		{"a stream before the headers", provider.Body(provider.Streaming), silent, 100 * time.Millisecond, "", 503, false},
		{"a document", provider.Body(""), silent, 100 * time.Millisecond, "", 503, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, err := drained(t, row.reply, row.body, row.grace)
			if err != nil {
				t.Errorf("Run: %v", err)
			}
			if a.Text != row.text || a.Status != row.status || a.Done != row.done {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if !row.done && (a.Fault.Code != "overloaded" || a.Status == 503 &&
				a.Header.Get("Retry-After") == "") {
				t.Errorf("%+v %v", a.Fault, a.Header)
			}
		})
	}
}

// A listener that fails is an error.
func TestRunFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := sidecar.Run(t.Context(), l, http.NotFoundHandler(), provider.Within(time.Second), provider.Play(t).Logger); !errors.Is(err,
		net.ErrClosed) {
		t.Errorf("%v", err)
	}
}
