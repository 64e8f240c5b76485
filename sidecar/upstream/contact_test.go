package upstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func TestContact(t *testing.T) {
	var c reachability
	now := time.Now()
	if !c.failed(now, time.Hour) {
		t.Error("a server that never answered is not away")
	}
	c.answered()
	if c.failed(now.Add(-time.Minute), time.Hour) || !c.failed(now, time.Minute) {
		t.Error("the time counts from the first attempt in vain")
	}
	c.answered()
	if c.failed(now, time.Minute) {
		t.Error("an answer does not begin the time anew")
	}
}

// Only what does not reach the server counts: neither a caller who leaves, nor one that waits
// too long, nor an error of the server makes it away.
func TestContactIsNotSilence(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice who has left
		<-r.Context().Done()
	}))
	c := client(t, silent.URL)
	set := testSet()
	set.Limits.FirstByte, set.Limits.Away = 50*time.Millisecond, 300*time.Millisecond
	c.reach.answered()
	if _, _, f := ask(t, c, set); f == nil || f.Fault != ruleset.Timeout {
		t.Fatalf("%+v", f)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := c.Ask(ctx, set, set.Server("vllm"), []byte(`{}`), 0); failed(t,
		err).Say.Status != StatusClosed {
		t.Fatal(err)
	}
	time.Sleep(2 * set.Limits.Away) // it would be away by now
	silent.CloseClientConnections()
	silent.Close()
	set.Limits.FirstByte = time.Minute // also on a busy machine it is refused before that
	if _, _, f := ask(t, c, set); f == nil || f.Fault != ruleset.Unreachable {
		t.Errorf("%+v", f)
	}
}
