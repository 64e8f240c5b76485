package upstream

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an upstream and a client for it.
func serve(t testing.TB, h http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return client(t, s.URL, change...)
}

func client(t testing.TB, base string, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: base, Key: "sk-secret-42", Server: "vllm"}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ask sends one request and reads the whole answer.
func ask(t testing.TB, c *Client, set *ruleset.Set) (string, *Reply, *Failure) {
	t.Helper()
	reply, err := c.Ask(t.Context(), set, c.Server(t.Context(), set), []byte(`{`+hello+`}`), 0)
	if err != nil {
		return "", nil, failed(t, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return string(text), reply, failed(t, err)
	}
	return string(text), reply, nil
}

func failed(t testing.TB, err error) *Failure {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("not a *Failure: %v", err)
	}
	return f
}

func TestAsk(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-secret-42" ||
			r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("X-Request-Id", "r1")
		w.Write(body)
	})
	text, reply, f := ask(t, c, testSet())
	if f != nil || text != `{`+hello+`}` || !reply.Stream || reply.Header.Get("X-Request-Id") != "r1" {
		t.Errorf("%q %+v %v", text, reply, f)
	}
}

func TestAskTriesAgain(t *testing.T) {
	hangUp := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	answer := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(status) }
	}
	tests := []struct {
		name     string
		bad      func(http.ResponseWriter)
		times    int32 // that bad answers
		requests int32
		fault    ruleset.Fault
		status   int
	}{
		{"busy, then well", answer(503), 2, 3, "", 0},
		{"too many requests", answer(429), 1, 2, "", 0},
		{"proxy", answer(502), 3, 4, "", 0},
		{"gateway", answer(504), 1, 2, "", 0},
		{"hangs up", hangUp, 2, 3, "", 0},
		{"always busy", answer(503), 99, 4, ruleset.ServerError, 502},
		{"always too many", answer(429), 99, 4, ruleset.RateLimited, 429},
		{"always hangs up", hangUp, 99, 4, ruleset.Away, 424},
		{"a crash is not repeated", answer(500), 99, 1, ruleset.ServerError, 502},
		{"nor a refusal", answer(400), 99, 1, ruleset.Rejected, 400},
		{"nor a wrong key", answer(401), 99, 1, ruleset.Auth, 424},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int32
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); len(body) == 0 {
					t.Error("sent again without its body")
				}
				if n.Add(1) <= tt.times {
					tt.bad(w)
				}
			})
			_, _, f := ask(t, c, testSet())
			if n.Load() != tt.requests {
				t.Errorf("%d requests, want %d", n.Load(), tt.requests)
			}
			switch {
			case tt.fault == "" && f != nil:
				t.Errorf("failure %v", f)
			case tt.fault != "" && (f == nil || f.Fault != tt.fault || f.Say.Status != tt.status):
				t.Errorf("failure %v", f)
			}
		})
	}
}

func TestAskHeedsRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		header   string
		requests int32
		least    time.Duration
		after    time.Duration
	}{
		{"0.2", 2, 200 * time.Millisecond, 0},
		{"0", 2, 0, 0},
		{"60", 1, 0, time.Minute}, // longer than RetryMax: the caller's business
	} {
		var n atomic.Int32
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				w.Header().Set("Retry-After", tt.header)
				w.WriteHeader(429)
			}
		})
		began := time.Now()
		_, _, f := ask(t, c, testSet())
		if n.Load() != tt.requests || time.Since(began) < tt.least {
			t.Errorf("Retry-After %s: %d requests in %s", tt.header, n.Load(), time.Since(began))
		}
		if (f != nil) != (tt.after > 0) || f != nil && f.Say.RetryAfter != tt.after {
			t.Errorf("Retry-After %s: %v", tt.header, f)
		}
	}
}

func TestAskStaysWithinItsBudget(t *testing.T) {
	set := testSet()
	set.Limits.Retries, set.Limits.RetryMin, set.Limits.RetryBudget = 1000, 50*time.Millisecond,
		200*time.Millisecond
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	if _, _, f := ask(t, c, set); f == nil {
		t.Error("it is answered")
	}
}

func TestAskUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, _, f := ask(t, client(t, "http://"+address), testSet())
	if f == nil || f.Fault != ruleset.Away || f.Say.Status != 424 || f.Say.RetryAfter != 0 {
		t.Fatalf("%+v", f)
	}
	if strings.Contains(f.Say.Message, "127.0.0.1") || !strings.Contains(f.Say.Log, "refused") {
		t.Errorf("message %q, log %q", f.Say.Message, f.Say.Log)
	}
}

// A server without TLS is asked once, and the error names TLS.
func TestAskWithoutTLS(t *testing.T) {
	for _, says := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "<!DOCTYPE HTML>\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var asked atomic.Int32
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				asked.Add(1)
				_, _ = conn.Read(make([]byte, 1<<10))
				_, _ = io.WriteString(conn, says)
				conn.Close()
			}
		}()
		set := testSet()
		set.Limits.Retries = 3
		_, _, f := ask(t, client(t, "https://"+l.Addr().String()), set)
		if f == nil || f.Fault != ruleset.Away || !strings.Contains(f.Why, "TLS") || asked.Load() != 1 {
			t.Errorf("%q: asked %d times, %+v", says, asked.Load(), f)
		}
	}
}

// A server that closes an idle connection just as a request is written on it
// looks like a failure; the request goes out again on a fresh one.
func BenchmarkAsk(b *testing.B) {
	reply := strings.Repeat("x", 1024)
	c, set := serve(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
		io.WriteString(w, reply)
	}), testSet()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, f := ask(b, c, set); f != nil {
			b.Fatal(f)
		}
	}
}

// A password in the address is sent where no key is set, as curl does.
func TestAskWithPassword(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "p w" {
			w.WriteHeader(http.StatusTeapot)
		}
	}, func(cfg *Config) {
		cfg.Key, cfg.BaseURL = "", strings.Replace(cfg.BaseURL, "://", "://me:p%20w@", 1)
	})
	if _, _, f := ask(t, c, testSet()); f != nil {
		t.Error(f)
	}
}
