package upstream_test

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

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// packed is a text in an encoding.
func compressedBody(t testing.TB, encoding, text string) string {
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
	stream := provider.Piece(0, `"role":"assistant","content":"Good "`, "null") + provider.Piece(0, `"content":"day."`,
		"null") + provider.Piece(0, "", `"stop"`) + provider.UsageEvent + provider.DoneEvent
	whole := provider.Reply(`"role":"assistant","content":"Good day."`, "stop")
	for _, kind := range []string{provider.SSE, provider.Document, "text/plain", "application/x-ndjson", "application/octet-stream",
		"-"} {
		for name, body := range map[string]string{
			"stream": stream, "JSON": whole, "stream behind blanks": "\n\n " + stream,
			"JSON behind blanks":   "\n \r\n" + whole,
			"stream behind a mark": "\uFEFF" + stream, "JSON behind a mark": "\uFEFF" + whole,
			"comments first": ": hello\n\nevent: ping\n\nretry: 9\n\n" + stream, "name first": strings.ReplaceAll(stream,
				"data:", "event: message\n: here\ndata:"), "name behind": strings.ReplaceAll(stream, "\n\n", "\nid: 7\n\n"),
			"no blank": strings.ReplaceAll(stream, "data: ", "data:"), "CRLF": strings.ReplaceAll(stream, "\n", "\r\n"),
			"JSON in lines": strings.ReplaceAll(stream, `"choices"`, "\ndata: \"choices\""),
		} {
			for _, encoding := range []string{"", "gzip", "deflate", "raw deflate"} {
				if encoding != "" && kind != provider.SSE && kind != provider.Document {
					continue
				}
				r := provider.Start(t, provider.Setup{Server: "vllm"},
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
						io.WriteString(w, compressedBody(t, encoding, body))
					}))
				for _, mode := range []string{"stream", "whole"} {
					if a := r.Plain(mode); a.Text != "Good day." || a.Last != "stop" ||
						a.Done != (mode == "stream") || a.Usage != 12 {
						t.Errorf("%s, %s %s, %s: %d %s", mode, name, encoding, kind, a.Status, a.Body)
					}
				}
			}
		}
	}
}

// What cannot be read, or does not come from the server at all, is named for what it is: to the caller
// without an address, in the log with what to set.
func TestNamed(t *testing.T) {
	long := provider.Piece(0, `"content":"`+strings.Repeat("x", 3<<10)+`"`, "null")
	half := provider.Piece(0, `"role":"assistant","content":"Half"`, "null")
	for _, row := range []struct {
		name         string
		status       int
		header, body string
		code         string
		says, log    string
		unready      string // what readyz says, where each answer of the server is so
	}{
		{"event that is too long", 200, "Content-Type: " + provider.SSE, long + provider.DoneEvent, "stream_error", "the event is longer than 2048 bytes, which is size.line of limits.yaml", "size.line", ""},
		{"the same under JSON", 200, "Content-Type: " + provider.Document, long + provider.DoneEvent, "stream_error", "size.line of limits.yaml", "size.line", ""},
		{"two documents", 200, "Content-Type: " + provider.Document, provider.Reply(`"content":"a"`, "stop") + provider.Reply(`"content":"b"`, "stop"), "stream_error", "not one JSON document: byte", "text after the JSON value", ""},
		{"lines that end in CR", 200, "Content-Type: " + provider.SSE, strings.ReplaceAll(half+provider.DoneEvent, "\n", "\r"), "stream_error", "an event of it is not JSON", "not JSON", ""},
		{"no finish and no end mark", 200, "Content-Type: " + provider.SSE, half, "stream_error", "the stream ended before the reply did", "ended before", ""},
		{"an error of a proxy with 200", 200, "Content-Type: " + provider.Document, `{"detail":"Not authenticated"}`, "upstream_error", "Not authenticated", "Not authenticated", ""},
		{"the same as an event", 200, "Content-Type: " + provider.SSE, "data: {\"detail\":\"Not authenticated\"}\n\n", "upstream_error", "Not authenticated", "Not authenticated", ""},
		{"an unknown encoding", 200, "Content-Encoding: br", "\x0b\x02", "upstream_away", "its answer is compressed (br), and only gzip and deflate are read", "turn compression off", "compressed (br)"},
		{"that of an error", 400, "Content-Encoding: zstd", "\x28\xb5\x2f\xfd", "upstream_away", "its answer is compressed (zstd)", "turn compression off", "compressed (zstd)"},
		{"a packed error", 400, "Content-Encoding: gzip", compressedBody(t, "gzip", `{"error":{"message":"temperature must be positive"}}`), "upstream_rejected", "temperature must be positive", "temperature must be positive", ""},
		{"to https", 308, "Location: https://127.0.0.1/v1/chat/completions?key=k1", "", "upstream_away", "it redirects to https (HTTP 308)", "it redirects to https://127.0.0.1/v1: set --upstream to that", "redirects to https"},
		{"elsewhere", 301, "Location: http://models.example.net/v2/chat/completions", "", "upstream_away", "it redirects to another address (HTTP 301)", "it redirects to http://models.example.net/v2: set --upstream", "redirects to another address"},
		{"nowhere", 302, "X: y", "", "upstream_away", "it redirects to another address (HTTP 302)", "set --upstream", "redirects to another address"},
		{"a proxy", 407, "Proxy-Authenticate: Basic", "", "upstream_away", "the proxy of HTTP_PROXY wants a password (HTTP 407)", "user and password into HTTP_PROXY", "HTTP_PROXY wants a password"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := provider.Start(t, provider.Setup{Server: "vllm", Limits: func(l *ruleset.Limits) { l.LineBytes = 2 << 10 }},
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
				a := r.Plain(mode)
				if a.Fault.Code != row.code || !strings.Contains(a.Fault.Message, row.says) ||
					strings.Contains(a.Body, "example.net") || strings.Contains(a.Body, "https://") {
					t.Errorf("%s: %s", mode, a.Body)
				}
			}
			if log := r.Log.String(); !strings.Contains(log, row.log) || strings.Contains(log, "key=k1") {
				t.Errorf("log: %s", log)
			}
			if row.unready == "" {
				return
			}
			if ready := r.Ask(http.MethodGet, "/readyz", ""); ready.Status != http.StatusServiceUnavailable ||
				!strings.Contains(ready.Body, row.unready) || strings.Contains(ready.Body, "example.net") {
				t.Errorf("%d %s", ready.Status, ready.Body)
			}
		})
	}
}

// A certificate that is not trusted is told from a server that is away.
func TestPrivateCertificate(t *testing.T) {
	up := httptest.NewTLSServer(http.NotFoundHandler())
	up.Config.ErrorLog = nil
	t.Cleanup(up.Close)
	r := provider.Start(t, provider.Setup{URL: up.URL}, nil)
	const says = "its certificate is signed by an authority that is not known here"
	if a := r.Plain("whole"); a.Fault.Code != "upstream_away" || !strings.Contains(a.Fault.Message, says) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := r.Whole(); !strings.Contains(a.Text, says) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if ready := r.Ask(http.MethodGet, "/readyz", ""); !strings.Contains(ready.Body, says) {
		t.Error(ready.Body)
	}
	if !strings.Contains(r.Log.String(), "SSL_CERT_FILE") {
		t.Errorf("log: %s", r.Log)
	}
}

// A reply that has said how it ended is whole, whatever becomes of the connection behind that.
func TestBrokenBehindTheFinish(t *testing.T) {
	call := `"tool_calls":[{"index":0,"id":"call7","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	for name, row := range map[string]struct {
		body, text, last string
		calls            int
	}{
		"text": {provider.Piece(0, `"content":"All of it."`, "null") + provider.Piece(0, "", `"stop"`), "All of it.",
			"stop", 0},
		"a call":           {provider.Piece(0, call, "null") + provider.Piece(0, "", `"tool_calls"`), "", "tool_calls", 1},
		"in an event":      {provider.Piece(0, `"content":"All of it."`, `"stop"`) + `data: {"choi`, "All of it.", "stop", 0},
		"without a finish": {provider.Piece(0, `"content":"All of it."`, "null"), "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := provider.Start(t, provider.Setup{Server: "vllm"},
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", provider.SSE)
					io.WriteString(w, row.body)
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}))
			for _, a := range []*provider.Answer{r.Stream(), r.Whole()} {
				if row.last == "" {
					if a.Fault.Code != "stream_error" {
						t.Error(a.Body)
					}
					continue
				}
				if a.Text != row.text || a.Last != row.last || len(a.Calls) != row.calls ||
					a.Fault.Code != "" {
					t.Error(a.Body)
				}
			}
		})
	}
}
