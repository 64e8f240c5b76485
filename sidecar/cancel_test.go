package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A caller that leaves ends the request at the model server, whatever that does.
func TestCallerLeaves(t *testing.T) {
	slow := script.Text("Late.")
	slow.Delay = time.Minute
	talking := script.Text("It is ").Thinking("Hm.").Ending(script.Hang)
	for _, row := range []struct {
		name, body string
		reply      script.Reply
	}{
		{"stream, in the middle", provider.Body(provider.Streaming), talking},
		{"stream, before the headers", provider.Body(provider.Streaming), slow},
		{"stream, between the headers and the first word", provider.Body(provider.Streaming), script.Reply{Deltas: []string{"{}"}, End: script.Hang}},
		{"document", provider.Body(""), slow},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := provider.Play(t, row.reply)
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if res, err := r.Do(ctx, http.MethodPost, "/v1/chat/completions", row.body); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			}()
			ruletest.Soon(t, "the model is asked", func() bool { return len(r.Model.Requests("")) == 1 })
			leave()
			<-gone
			ruletest.Soon(t, "the model server is left", func() bool { return r.Model.Unplayed() == 1 })
		})
	}
}

// A caller that leaves while the next attempt is being waited for is the end of it.
func TestCallerLeavesBackOff(t *testing.T) {
	model := script.New(script.Scenario{Steps: []script.Reply{script.Fail(http.StatusServiceUnavailable,
		"loading")}, Loop: true})
	r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) {
		l.RetryMin, l.RetryMax, l.RetryBudget = 30*time.Second, time.Minute, 5*time.Minute
	}}, model)
	for i, body := range []string{provider.Body(provider.Streaming), provider.Body("")} {
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if res, err := r.Do(ctx, http.MethodPost, "/v1/chat/completions", body); err == nil {
				t.Errorf("an answer: %s", res.Status)
				res.Body.Close()
			}
		}()
		ruletest.Soon(t, "the model is asked", func() bool { return len(model.Requests("")) == i+1 })
		leave()
		<-gone
		ended := fmt.Sprintf(`gptoss_executor_requests_total{model="gpt-oss",status="499"} %d`, i+1)
		ruletest.Soon(t, "the request ends", func() bool { return strings.Contains(r.Scrape(), ended) })
		if n := len(model.Requests("")); n != i+1 {
			t.Errorf("%d requests after %d callers who left", n, i+1)
		}
	}
}

// A caller that closes its sending half alone is taken for one that left, and does not read an empty answer.
func TestHalfClosed(t *testing.T) {
	slow := script.Text("Late.")
	slow.Delay = time.Minute
	r := provider.Play(t, slow, script.Text("It is ").Ending(script.Hang))
	for _, body := range []string{provider.Body(""), provider.Body(provider.Streaming)} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		ruletest.Must(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn,
			"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body)
		ruletest.Must(t, errors.Join(err, conn.(*net.TCPConn).CloseWrite()))
		if got, _ := io.ReadAll(conn); strings.Contains(string(got), "\r\n0\r\n") ||
			strings.Contains(string(got), "Content-Length: 0") {
			t.Errorf("%s: %q", body, got)
		}
	}
}
