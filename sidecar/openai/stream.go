package openai

import (
	"net/http"
	"strconv"
	"time"
)

// Stream writes a chat completion as server-sent events. After Error or Done, calls do nothing.
type Stream struct {
	EventWriter
	head  []byte // start of our chunks
	model []byte // in it, as JSON
	buf   []byte // the event being built
}

// Delta is what a chunk says about a choice. Reasoning becomes reasoning_content.
type Delta struct {
	Choice                   int
	Role, Content, Reasoning string
	Calls                    []Call
}

// NewStream returns a stream whose own chunks have this id, model and time in Unix seconds. It has sent
// nothing.
func NewStream(w http.ResponseWriter, id, model string, created int64) *Stream {
	s := &Stream{EventWriter: NewEventWriter(w), model: AppendString(nil, model)}
	s.setHead(AppendString(nil, id), strconv.AppendInt(nil, created, 10))
	return s
}

func (s *Stream) setHead(id, created []byte) {
	s.head = append(append(s.head[:0], `data: {"id":`...), id...)
	s.head = append(append(s.head, `,"object":"chat.completion.chunk","created":`...), created...)
	s.head = append(append(s.head, `,"model":`...), s.model...)
	s.head = append(s.head, `,"choices":[`...)
}

// Adopt gives our own chunks the id and time of a server's chunk, which must have both, because clients
// take another id for another reply. Nothing may have been written.
func (s *Stream) Adopt(c *Completion) { s.setHead(c.ID.Of(c.Doc), c.Created.Of(c.Doc)) }

// Delta writes a chunk with one delta.
func (s *Stream) Delta(d Delta) error {
	s.buf = append(s.buf[:0], s.head...)
	s.buf = appendDelta(s.buf, d)
	s.buf = append(s.buf, `,"finish_reason":null}]}`+"\n\n"...)
	return s.Raw(s.buf)
}

// KeepAlive writes a chunk with an empty delta and flushes. OpenClaw's timers ignore comments.
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

// Usage writes a chunk without choices, with a usage object and what is said of a run; either may be nil.
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

// Error ends the stream with an error event and without [DONE], so that the answer does not look complete.
func (s *Stream) Error(e *Error) error {
	s.buf = append(append(append(s.buf[:0], "data: "...), e.Event()...), "\n\n"...)
	return s.Last(s.buf)
}

// Done ends the stream with [DONE].
func (s *Stream) Done() error {
	return s.Last([]byte("data: [DONE]\n\n"))
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

// EventWriter writes server-sent events. It is for one goroutine at a time. The first write sends the
// headers; only Flush and Last guarantee that bytes leave. After Last, calls do nothing.
type EventWriter struct {
	// WriteTimeout is how long the caller may accept no bytes before a write fails; 0: for ever. It must be
	// set before the first write.
	WriteTimeout time.Duration

	w        http.ResponseWriter
	ctl      *http.ResponseController
	started  bool // the status is set
	flushed  bool // the header may have left
	ended    bool
	deadline time.Time // of writes, as set last
}

// NewEventWriter returns a writer that has sent nothing.
func NewEventWriter(w http.ResponseWriter) EventWriter {
	return EventWriter{w: w, ctl: http.NewResponseController(w)}
}

// Started reports whether the headers were sent, so that no status can be set.
func (s *EventWriter) Started() bool {
	return s.started
}

// Head sets a header, unless they were sent or the value is empty.
func (s *EventWriter) Head(name, value string) {
	if value != "" && !s.started {
		s.w.Header().Set(name, value)
	}
}

// Raw writes an event as it is, with its final empty line.
func (s *EventWriter) Raw(event []byte) error {
	if s.ended {
		return nil
	}
	s.begin()
	_, err := s.w.Write(event)
	return err
}

// Flush sends what has been written.
func (s *EventWriter) Flush() error {
	if s.ended {
		return nil
	}
	return s.flush()
}

// Last writes the event that ends the stream.
func (s *EventWriter) Last(event []byte) error {
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

// flush sends what was written. The first time net/http writes the header, which takes more stack than the
// rest of a stream, so that runs in another goroutine: this one may live for minutes.
func (s *EventWriter) flush() error {
	s.begin()
	if s.flushed {
		return s.ctl.Flush()
	}
	s.flushed = true
	done := make(chan error)
	go func() { done <- s.ctl.Flush() }()
	return <-done
}

// begin sends the headers once, and extends the write deadline after a quarter of it: setting it for each
// event would cost more than the event.
func (s *EventWriter) begin() {
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
