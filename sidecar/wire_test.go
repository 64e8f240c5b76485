package sidecar

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// packed is a text in an encoding.
func packed(t testing.TB, encoding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, _ = flate.NewWriter(&b, flate.BestSpeed)
	default:
		return text
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A reply is read by what it says, whatever its head calls it, and whatever it was packed in.
func TestReplyByWhatItSays(t *testing.T) {
	stream := ev(0, `"role":"assistant","content":"Good "`, "null") + ev(0, `"content":"day."`,
		"null") + ev(0, "", `"stop"`) + usageEvent + doneEvent
	whole := doc(`"role":"assistant","content":"Good day."`, "stop")
	for _, kind := range []string{sse, docu, "text/plain", "application/x-ndjson", "application/octet-stream",
		"-"} {
		for name, body := range map[string]string{
			"stream": stream, "JSON": whole, "stream behind blanks": "\n\n " + stream,
			"JSON behind blanks":   "\n \r\n" + whole,
			"stream behind a mark": "\uFEFF" + stream, "JSON behind a mark": "\uFEFF" + whole,
			"comments first": ": hello\n\n: there\n\n" + stream, "name first": strings.ReplaceAll(stream,
				"data:", "event: message\ndata:"),
		} {
			for _, encoding := range []string{"", "gzip", "deflate", "raw deflate"} {
				if encoding != "" && kind != sse && kind != docu {
					continue
				}
				r := start(t, setup{server: "vllm"},
					http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.Method != http.MethodPost {
							http.NotFound(w, r)
							return
						}
						w.Header()["Content-Type"] = []string{kind}
						if kind == "-" {
							w.Header()["Content-Type"] = nil
						}
						if encoding != "" {
							w.Header().Set("Content-Encoding", strings.TrimPrefix(encoding, "raw "))
						}
						io.WriteString(w, packed(t, encoding, body))
					}))
				for _, mode := range []string{"stream", "whole"} {
					if a := r.plain(mode); a.text != "Good day." || a.last != "stop" ||
						a.done != (mode == "stream") || a.usage != 12 {
						t.Errorf("%s, %s %s, %s: %d %s", mode, name, encoding, kind, a.status, a.body)
					}
				}
			}
		}
	}
}

// What cannot be read, or does not come from the server at all, is named for what it is: to the caller
// without an address, in the log with what to set.
func TestNamed(t *testing.T) {
	long := ev(0, `"content":"`+strings.Repeat("x", 3<<10)+`"`, "null")
	half := ev(0, `"role":"assistant","content":"Half"`, "null")
	for _, row := range []struct {
		name         string
		status       int
		header, body string
		code         string
		says, log    string
		unready      string // what readyz says, where each answer of the server is so
	}{
		{"event that is too long", 200, "Content-Type: " + sse, long + doneEvent, "stream_error", "the event is longer than 2048 bytes, which is size.line of limits.yaml", "size.line", ""},
		{"the same under JSON", 200, "Content-Type: " + docu, long + doneEvent, "stream_error", "size.line of limits.yaml", "size.line", ""},
		{"two documents", 200, "Content-Type: " + docu, doc(`"content":"a"`, "stop") + doc(`"content":"b"`, "stop"), "stream_error", "not one JSON document: byte", "text after the JSON value", ""},
		{"lines that end in CR", 200, "Content-Type: " + sse, strings.ReplaceAll(half+doneEvent, "\n", "\r"), "stream_error", "an event of it is not JSON", "not JSON", ""},
		{"no finish and no end mark", 200, "Content-Type: " + sse, half, "stream_error", "the stream ended before the reply did", "ended before", ""},
		{"an error of a proxy with 200", 200, "Content-Type: " + docu, `{"detail":"Not authenticated"}`, "upstream_error", "Not authenticated", "Not authenticated", ""},
		{"the same as an event", 200, "Content-Type: " + sse, "data: {\"detail\":\"Not authenticated\"}\n\n", "upstream_error", "Not authenticated", "Not authenticated", ""},
		{"an unknown encoding", 200, "Content-Encoding: br", "\x0b\x02", "upstream_away", "its answer is compressed (br), and only gzip and deflate are read", "turn compression off", "compressed (br)"},
		{"that of an error", 400, "Content-Encoding: zstd", "\x28\xb5\x2f\xfd", "upstream_away", "its answer is compressed (zstd)", "turn compression off", "compressed (zstd)"},
		{"a packed error", 400, "Content-Encoding: gzip", packed(t, "gzip", `{"error":{"message":"temperature must be positive"}}`), "upstream_rejected", "temperature must be positive", "temperature must be positive", ""},
		{"to https", 308, "Location: https://127.0.0.1/v1/chat/completions?key=k1", "", "upstream_away", "it redirects to https (HTTP 308)", "it redirects to https://127.0.0.1/v1: set --upstream to that", "redirects to https"},
		{"elsewhere", 301, "Location: http://models.example.net/v2/chat/completions", "", "upstream_away", "it redirects to another address (HTTP 301)", "it redirects to http://models.example.net/v2: set --upstream", "redirects to another address"},
		{"nowhere", 302, "X: y", "", "upstream_away", "it redirects to another address (HTTP 302)", "set --upstream", "redirects to another address"},
		{"a proxy", 407, "Proxy-Authenticate: Basic", "", "upstream_away", "the proxy of HTTP_PROXY wants a password (HTTP 407)", "user and password into HTTP_PROXY", "HTTP_PROXY wants a password"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := start(t, setup{server: "vllm", limits: func(l *ruleset.Limits) { l.LineBytes = 2 << 10 }},
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost && row.unready == "" {
						http.NotFound(w, r)
						return
					}
					name, value, _ := strings.Cut(row.header, ": ")
					w.Header().Set(name, value)
					w.WriteHeader(row.status)
					io.WriteString(w, row.body)
				}))
			for _, mode := range []string{"stream", "whole"} {
				a := r.plain(mode)
				if a.fault.Code != row.code || !strings.Contains(a.fault.Message, row.says) ||
					strings.Contains(a.body, "example.net") || strings.Contains(a.body, "https://") {
					t.Errorf("%s: %s", mode, a.body)
				}
			}
			if log := r.log.String(); !strings.Contains(log, row.log) || strings.Contains(log, "key=k1") {
				t.Errorf("log: %s", log)
			}
			if row.unready == "" {
				return
			}
			if ready := r.ask(http.MethodGet, "/readyz", ""); ready.status != http.StatusServiceUnavailable ||
				!strings.Contains(ready.body, row.unready) || strings.Contains(ready.body, "example.net") {
				t.Errorf("%d %s", ready.status, ready.body)
			}
		})
	}
}

// A certificate that is not trusted is told from a server that is away.
func TestPrivateCertificate(t *testing.T) {
	up := httptest.NewTLSServer(http.NotFoundHandler())
	up.Config.ErrorLog = nil
	t.Cleanup(up.Close)
	r := start(t, setup{url: up.URL}, nil)
	const says = "its certificate is signed by an authority that is not known here"
	if a := r.plain("whole"); a.fault.Code != "upstream_away" || !strings.Contains(a.fault.Message, says) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.whole(); !strings.Contains(a.text, says) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ready := r.ask(http.MethodGet, "/readyz", ""); !strings.Contains(ready.body, says) {
		t.Error(ready.body)
	}
	if !strings.Contains(r.log.String(), "SSL_CERT_FILE") {
		t.Errorf("log: %s", r.log)
	}
}

// A reply that has said how it ended is whole, whatever becomes of the connection behind that.
func TestBrokenBehindTheFinish(t *testing.T) {
	call := `"tool_calls":[{"index":0,"id":"call7","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	for name, row := range map[string]struct {
		body, text, last string
		calls            int
	}{
		"text": {ev(0, `"content":"All of it."`, "null") + ev(0, "", `"stop"`), "All of it.",
			"stop", 0},
		"a call":           {ev(0, call, "null") + ev(0, "", `"tool_calls"`), "", "tool_calls", 1},
		"in an event":      {ev(0, `"content":"All of it."`, `"stop"`) + `data: {"choi`, "All of it.", "stop", 0},
		"without a finish": {ev(0, `"content":"All of it."`, "null"), "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{server: "vllm"},
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", sse)
					io.WriteString(w, row.body)
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}))
			for _, a := range []*answer{r.stream(), r.whole()} {
				if row.last == "" {
					if a.fault.Code != "stream_error" {
						t.Error(a.body)
					}
					continue
				}
				if a.text != row.text || a.last != row.last || len(a.calls) != row.calls ||
					a.fault.Code != "" {
					t.Error(a.body)
				}
			}
		})
	}
}
