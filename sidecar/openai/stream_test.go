package openai

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const streamHead = `data: {"id":"c\"1","object":"chat.completion.chunk","created":7,"model":"m","choices":[`

func TestStream(t *testing.T) {
	for _, row := range []struct {
		about string
		do    func(s *Stream) error
		want  string
	}{
		{"role", func(s *Stream) error { return s.Delta(Delta{Role: "assistant"}) }, streamHead + `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`},
		{"content", func(s *Stream) error { return s.Delta(Delta{Content: "a\n\"<"}) }, streamHead + `{"index":0,"delta":{"content":"a\n\"<"},"finish_reason":null}]}`},
		{"reasoning", func(s *Stream) error { return s.Delta(Delta{Choice: 2, Role: "assistant", Reasoning: "r"}) }, streamHead + `{"index":2,"delta":{"role":"assistant","reasoning_content":"r"},"finish_reason":null}]}`},
		{"calls", func(s *Stream) error {
			return s.Delta(Delta{Content: "x",
				Calls: []Call{{ID: "c", Name: "n", Arguments: []byte(`{"a":1}`)},
					{Index: 1, ID: "d", Name: "m", Arguments: []byte("{}")}}})
		}, streamHead + `{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\":1}"}},{"index":1,"id":"d","type":"function","function":{"name":"m","arguments":"{}"}}]},"finish_reason":null}]}`},
		{"keepalive", (*Stream).KeepAlive, streamHead + `{"index":0,"delta":{},"finish_reason":null}]}`},
		{"finish", func(s *Stream) error { return s.Finish(1, "tool_calls") }, streamHead + `{"index":1,"delta":{},"finish_reason":"tool_calls"}]}`},
		{"usage", func(s *Stream) error { return s.Usage([]byte(`{"total_tokens":9}`), nil) }, streamHead + `],"usage":{"total_tokens":9}}`},
		{"usage of a run", func(s *Stream) error { return s.Usage([]byte(`{"total_tokens":9}`), []byte(`{"run_id":"r"}`)) }, streamHead + `],"usage":{"total_tokens":9},"executor_metadata":{"run_id":"r"}}`},
		{"a run without usage", func(s *Stream) error { return s.Usage(nil, []byte(`{"run_id":"r"}`)) }, streamHead + `],"executor_metadata":{"run_id":"r"}}`},
		{"raw", func(s *Stream) error { return s.Raw([]byte("event: x\r\ndata: a\n\n")) }, "event: x\r\ndata: a"},
		{"done", (*Stream).Done, `data: [DONE]`},
		{"error", func(s *Stream) error {
			if err := s.Flush(); err != nil {
				return err
			}
			return s.Error(InvalidRequest("p", "no"))
		}, `data: {"error":{"message":"no","type":"invalid_request_error","param":"p","code":null}}`},
	} {
		w := httptest.NewRecorder()
		s := NewStream(w, `c"1`, "m", 7)
		if s.Started() {
			t.Errorf("%s: started too early", row.about)
		}
		if err := row.do(s); err != nil || !s.Started() {
			t.Errorf("%s: %v", row.about, err)
		}
		if got := w.Body.String(); got != row.want+"\n\n" {
			t.Errorf("%s:\n got %s\nwant %s", row.about, got, row.want)
		}
		if h := w.Header(); w.Code != 200 || h.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
			h.Get("Cache-Control") != "no-cache" || h.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%s: %d %v", row.about, w.Code, h)
		}
	}
}

func TestStreamFlushesOnlyWhenAsked(t *testing.T) {
	w := httptest.NewRecorder()
	s := NewStream(w, "c", "m", 7)
	if err := s.Delta(Delta{Content: "x"}); err != nil || w.Flushed {
		t.Fatalf("flushed by a delta, %v", err)
	}
	if err := s.Flush(); err != nil || !w.Flushed {
		t.Fatalf("not flushed, %v", err)
	}
}

func TestStreamIsSilentAfterItsEnd(t *testing.T) {
	for _, end := range []func(s *Stream) error{(*Stream).Done,
		func(s *Stream) error { return s.Error(Internal("x")) }} {
		w := httptest.NewRecorder()
		s := NewStream(w, "c", "m", 7)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, do := range []func(s *Stream) error{end, end, (*Stream).Done, (*Stream).KeepAlive,
			(*Stream).Flush, func(s *Stream) error { return s.Delta(Delta{Content: "x"}) }} {
			if err := do(s); err != nil {
				t.Error(err)
			}
		}
		if got := w.Body.String(); strings.Count(got, "data:") != 1 {
			t.Error(got)
		}
	}
}

// A caller that reads nothing cannot hold the handler for ever.
func TestStreamWriteTimeout(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := NewStream(w, "c", "m", 7)
		s.WriteTimeout = 200 * time.Millisecond
		var err error
		for err == nil {
			err = s.Delta(Delta{Content: strings.Repeat("x", 1<<16)})
		}
		ended <- err
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	select {
	case err := <-ended:
		if !strings.Contains(err.Error(), "timeout") {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the handler still writes")
	}
}

// The deadline of one stream must not outlive it on a connection kept alive, and a
// slow but steady stream may last longer than the timeout.
func TestStreamDeadlineMovesOn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := NewStream(w, "c", "m", 7)
		s.WriteTimeout = 80 * time.Millisecond
		for range 6 {
			time.Sleep(25 * time.Millisecond) // slow, and faster than the timeout
			if err := s.KeepAlive(); err != nil {
				t.Error(err)
			}
		}
		if err := s.Done(); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for range 2 {
		resp, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(bufio.NewReader(resp.Body))
		resp.Body.Close()
		if err != nil || !strings.HasSuffix(string(all), "data: [DONE]\n\n") {
			t.Errorf("%v, %s", err, all)
		}
		time.Sleep(100 * time.Millisecond) // the deadline of this stream is over
	}
}
