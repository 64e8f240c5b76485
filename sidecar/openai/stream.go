package openai

import (
	"net/http"
	"strconv"
)

// Stream writes a chat completion as server-sent events. After Error or Done every call
// does nothing.
type Stream struct {
	EventWriter
	head  []byte // what every chunk of ours begins with
	model []byte // in it, as JSON
	buf   []byte // the event being built
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
	return &Stream{EventWriter: NewEventWriter(w), head: head, model: name}
}

// Adopt makes our own chunks carry the id and time of a chunk that came, because clients
// take chunks of another id for another reply. It has both, and nothing was written yet.
func (s *Stream) Adopt(c *Completion) {
	s.head = append(append(s.head[:0], `data: {"id":`...), c.ID.Of(c.Doc)...)
	s.head = append(append(s.head, `,"object":"chat.completion.chunk","created":`...), c.Created.Of(c.Doc)...)
	s.head = append(append(s.head, `,"model":`...), s.model...)
	s.head = append(s.head, `,"choices":[`...)
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
// caller cannot take what it has for a whole answer.
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
