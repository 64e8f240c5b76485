package upstream

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func TestAskSurvivesStaleConnections(t *testing.T) {
	var n atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > 1 && n.Load() < 4 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close() // the request is read, no byte comes back
			}
		}
	})
	for range 3 {
		if _, _, f := ask(t, c, testSet()); f != nil {
			t.Fatal(f)
		}
	}
	if n.Load() != 5 {
		t.Errorf("%d requests", n.Load())
	}
}

func TestAskEndsWithItsCaller(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"while backing off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(503)
		},
		"before the head": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in the middle": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{}, 9)
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				h(w, r)
				closed <- struct{}{}
			})
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Millisecond, leave)
			set := testSet()
			set.Limits.RetryMax, set.Limits.RetryBudget = time.Minute, time.Minute
			reply, err := c.Ask(ctx, set, set.Server("vllm"), []byte(`{}`), 0)
			if err == nil {
				_, err = io.ReadAll(reply.Body)
				reply.Body.Close()
			}
			if f := failed(t, err); f.Say.Status != StatusClosed {
				t.Errorf("%+v", f.Say)
			}
			<-closed // the upstream learns of it
		})
	}
}

func TestAskBoundsTheReply(t *testing.T) {
	set := testSet()
	set.Limits.ReplyBytes, set.Limits.FirstByte, set.Limits.Idle = 100, 3*time.Second, 3*time.Second
	tests := []struct {
		name  string
		h     http.HandlerFunc
		fault ruleset.Fault
		want  int
	}{
		{"fits", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 100)) }, "", 0},
		{"too large", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 101)) }, ruleset.StreamError, 502},
		{"no first byte", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ruleset.Timeout, 504},
		{"no byte behind the head", func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() }, ruleset.Timeout, 504},
		{"silence", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, ruleset.Timeout, 504},
		{"slow but alive", func(w http.ResponseWriter, r *http.Request) {
			for range 5 {
				time.Sleep(800 * time.Millisecond) // slower than a piece may be, all together
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
			}
		}, "", 0},
		{"breaks off", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, ruleset.StreamError, 502},
		{"a page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<title>Router</title>")
		}, ruleset.ServerError, 502},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, f := ask(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				tt.h(w, r)
			}), set)
			if tt.fault == "" && f != nil || tt.fault != "" && (f == nil || f.Fault != tt.fault ||
				f.Say.Status != tt.want) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// Where another server waits, one that hangs is not waited for until first_byte; one that thinks, is.
func TestAskAttends(t *testing.T) {
	for _, row := range []struct {
		name  string
		lists http.HandlerFunc
		next  bool
		gone  bool
	}{
		{"hangs", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, true},
		{"hangs, and is the last one", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, false},
		{"thinks", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"data":[]}`) }, true, false},
		{"thinks, and lists no models", http.NotFound, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == modelsPath {
					row.lists(w, r)
					return
				}
				io.Copy(io.Discard, r.Body)
				select {
				case <-time.After(3 * time.Second): // several looks later
				case <-r.Context().Done():
				}
			})
			set := testSet()
			set.Limits.ProbeTimeout, set.Limits.FirstByte = 250*time.Millisecond, time.Minute
			b := Retries(&set.Limits)
			b.Next = row.next
			reply, err := c.AskWithin(t.Context(), set, set.Server("vllm"), []byte(`{}`), 0, b)
			if err == nil {
				_, err = io.ReadAll(reply.Body)
				reply.Body.Close()
			}
			if (err != nil) != row.gone || row.gone && failed(t, err).Fault != ruleset.Timeout {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAskRecovers(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		io.WriteString(w, `{"error":"error parsing tool call: raw='{\"a\":1', err=x"}`)
	}, func(c *Config) { c.Server = "ollama" })
	text, reply, f := ask(t, c, testSet())
	if f != nil || text != "" || reply.Recovered == nil || reply.Recovered.Calls[0].Arguments != `{"a":1` ||
		reply.Failure.Fault != ruleset.HarmonyError {
		t.Errorf("%q %+v %v", text, reply, f)
	}
}

func TestAskLowersMaxTokens(t *testing.T) {
	var n atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if n.Add(1) == 1 {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"message":"'max_tokens' is too large: 9000. This model's maximum context length is 8000 tokens and your request has 2000 input tokens."}}`)
			return
		}
		w.Write(body)
	})
	set := testSet()
	reply, err := c.Ask(t.Context(), set, set.Server("vllm"), []byte(`{"max_tokens":9000,"x":1}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if body, _ := io.ReadAll(reply.Body); string(body) != `{"max_tokens":6000,"x":1}` {
		t.Errorf("second request: %s", body)
	}
}

func TestAskKeepsSecrets(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, `{"error":{"message":"key sk-secret-42 not for http://10.0.0.1:8000/v1"}}`)
	}, func(c *Config) { c.Key = "sk-secret-42" })
	_, _, f := ask(t, c, testSet())
	if all := f.Say.Message + f.Say.Log + f.Error(); strings.Contains(all, "sk-secret-42") ||
		strings.Contains(f.Say.Message, "10.0.0.1") {
		t.Errorf("%+v", f.Say)
	}
}

func TestAskKeepsConnections(t *testing.T) {
	const callers = 128
	var opened atomic.Int32
	var arrived sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		arrived.Wait() // so that all are open at once
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c, set := client(t, s.URL), testSet()
	for range 2 {
		arrived.Add(callers)
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				if _, _, f := ask(t, c, set); f != nil {
					t.Error(f)
				}
			})
		}
		wg.Wait()
	}
	if n := opened.Load(); n != callers {
		t.Errorf("%d connections for 2 × %d requests", n, callers)
	}
}
