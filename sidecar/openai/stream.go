package openai

import (
	"net/http"
	"strconv"
	"time"
)

// Stream writes a chat completion as server-sent events. It is for one goroutine at
// a time. The first write sends the headers. Only Flush, KeepAlive, Error and Done
// make sure that the bytes leave. After Error or Done every call does nothing.
type Stream struct {
	// WriteTimeout is how long the caller may take no bytes before a write
	// fails; 0 is for ever. Set it before the first write.
	WriteTimeout time.Duration

	w        http.ResponseWriter
	ctl      *http.ResponseController
	head     []byte // what every chunk of ours begins with
	model    []byte // in it, as JSON
	buf      []byte // the event being built
	started  bool   // the status is set
	flushed  bool   // the head may have left
	ended    bool
	deadline time.Time // that writes have now
}

// Delta is what one chunk says about one choice. Reasoning goes under
// reasoning_content.
type Delta struct {
	Choice                   int
	Role, Content, Reasoning string
	Calls                    []Call
}

// NewStream prepares a stream whose own chunks carry this id, model and time in
// Unix seconds. Nothing is sent yet.
func NewStream(w http.ResponseWriter, id, model string, created int64) *Stream {
	head := AppendString([]byte(`data: {"id":`), id)
	head = strconv.AppendInt(append(head, `,"object":"chat.completion.chunk","created":`...), created, 10)
	name := AppendString(nil, model)
	head = append(append(head, `,"model":`...), name...)
	head = append(head, `,"choices":[`...)
	return &Stream{w: w, ctl: http.NewResponseController(w), head: head, model: name}
}

// Adopt makes our own chunks carry the id and time of a chunk that came, because clients
// take chunks of another id for another reply. It is for before the first write.
func (s *Stream) Adopt(c *Chunk) {
	if !c.ID.Present() || !c.Created.Present() {
		return
	}
	s.head = append(append(s.head[:0], `data: {"id":`...), c.ID.Of(c.Doc)...)
	s.head = append(append(s.head, `,"object":"chat.completion.chunk","created":`...), c.Created.Of(c.Doc)...)
	s.head = append(append(s.head, `,"model":`...), s.model...)
	s.head = append(s.head, `,"choices":[`...)
}

// Started reports whether the headers are gone: a status can no longer be set.
func (s *Stream) Started() bool {
	return s.started
}

// Raw writes one whole event as it is, final empty line included.
func (s *Stream) Raw(event []byte) error {
	if s.ended {
		return nil
	}
	s.begin()
	_, err := s.w.Write(event)
	return err
}

// Delta writes a chunk with one delta.
func (s *Stream) Delta(d Delta) error {
	s.buf = append(s.buf[:0], s.head...)
	s.buf = appendDelta(s.buf, d)
	s.buf = append(s.buf, `,"finish_reason":null}]}`+"\n\n"...)
	return s.Raw(s.buf)
}

// KeepAlive writes a chunk with an empty delta, and flushes. OpenClaw's timers
// take no notice of comments, only of data.
func (s *Stream) KeepAlive() error {
	if s.ended {
		return nil
	}
	if err := s.Delta(Delta{}); err != nil {
		return err
	}
	return s.flush()
}

// Finish writes the chunk that ends a choice.
func (s *Stream) Finish(choice int, reason string) error {
	s.buf = append(s.buf[:0], s.head...)
	s.buf = appendDelta(s.buf, Delta{Choice: choice})
	s.buf = AppendString(append(s.buf, `,"finish_reason":`...), reason)
	s.buf = append(s.buf, "}]}\n\n"...)
	return s.Raw(s.buf)
}

// Usage writes the chunk without choices that carries this usage object, and what is said of
// a run; either may be nil.
func (s *Stream) Usage(usage, run []byte) error {
	s.buf = append(append(s.buf[:0], s.head...), ']')
	if usage != nil {
		s.buf = append(append(s.buf, `,"usage":`...), usage...)
	}
	if run != nil {
		s.buf = append(append(s.buf, `,"executor_metadata":`...), run...)
	}
	s.buf = append(s.buf, "}\n\n"...)
	return s.Raw(s.buf)
}

// Error ends the stream with an error event and without [DONE], so that the
// caller cannot take what it has for a whole answer. Before the headers it
// answers with the status of the error instead.
func (s *Stream) Error(e *Error) error {
	if s.ended {
		return nil
	}
	if !s.started {
		s.started, s.ended = true, true
		return e.Respond(s.w)
	}
	s.buf = append(append(append(s.buf[:0], "data: "...), e.Body()...), "\n\n"...)
	return s.last(s.buf)
}

// Done ends the stream with [DONE].
func (s *Stream) Done() error {
	return s.last([]byte("data: [DONE]\n\n"))
}

// Flush sends what has been written.
func (s *Stream) Flush() error {
	if s.ended {
		return nil
	}
	return s.flush()
}

// last writes the event that ends the stream.
func (s *Stream) last(event []byte) error {
	if s.ended {
		return nil
	}
	err := s.Raw(event)
	if err == nil {
		err = s.flush()
	}
	s.ended = true
	return err
}

// flush sends what has been written. The first time net/http writes the head, which takes
// more stack than all the rest of a stream: elsewhere, so that its goroutine, which may live
// for minutes, does not grow for it.
func (s *Stream) flush() error {
	s.begin()
	if s.flushed {
		return s.ctl.Flush()
	}
	s.flushed = true
	done := make(chan error)
	go func() { done <- s.ctl.Flush() }()
	return <-done
}

// begin sends the headers once, and moves the write deadline on when a quarter
// of it has passed: setting it for every event would cost more than the event.
func (s *Stream) begin() {
	if s.WriteTimeout > 0 {
		if now := time.Now(); s.deadline.Sub(now) < s.WriteTimeout*3/4 {
			s.deadline = now.Add(s.WriteTimeout)
			_ = s.ctl.SetWriteDeadline(s.deadline) // a writer without deadlines has none to move
		}
	}
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	s.w.WriteHeader(http.StatusOK)
}

// appendDelta appends an entry of choices up to its finish_reason.
func appendDelta(dst []byte, d Delta) []byte {
	dst = strconv.AppendInt(append(dst, `{"index":`...), int64(d.Choice), 10)
	dst = append(dst, `,"delta":{`...)
	empty := len(dst)
	add := func(key, text string) {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = AppendString(append(dst, key...), text)
	}
	if d.Role != "" {
		add(`"role":`, d.Role)
	}
	if d.Reasoning != "" {
		add(`"reasoning_content":`, d.Reasoning)
	}
	if d.Content != "" || d.Role != "" && d.Reasoning == "" && len(d.Calls) == 0 {
		add(`"content":`, d.Content)
	}
	if len(d.Calls) > 0 {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = appendCalls(append(dst, `"tool_calls":`...), d.Calls, true)
	}
	return append(dst, '}')
}
