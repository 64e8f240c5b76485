package openai

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

const (
	eventBuffer = 1 << 10  // first size of a reader's buffer; most events have 200 to 300 bytes
	fullBuffer  = 4 << 10  // its size where events come faster than they are read
	keepBuffer  = 64 << 10 // buffers that grew beyond this are not kept for others
	emptyReads  = 100      // reads of nothing in a row before giving up, as in bufio
)

var eventBuffers = sync.Pool{New: func() any {
	buf := make([]byte, eventBuffer)
	return &buf
}}

// LimitError says that an event or a stream is longer than it may be.
type LimitError struct {
	What  string // event or stream
	Limit int    // bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the %s is longer than %d bytes", e.What, e.Limit)
}

// EventReader reads server-sent events with lines that end in LF or CRLF, however the network splits them.
type EventReader struct {
	r      io.Reader
	pooled *[]byte
	buf    []byte
	// In buf: start of the event and of its unfinished line; no line ends before seen.
	pos, line, seen    int
	end                int   // of the bytes read
	total              int   // bytes read so far
	maxEvent, maxTotal int   // bytes
	started            bool  // past a possible byte order mark
	err                error // why nothing more can be read
	last, next         event // returned by Next, and being read
	ready              bool  // next is complete
	joined             []byte
	first              [1]byte // the buffer while nothing has come
}

// event is a block of lines up to an empty one, in spans of the buffer.
type event struct {
	raw, data Span
	lines     int  // of data; joined on demand
	fails     bool // it is marked as an error
}

// NewEventReader returns a reader of events with at most maxEvent bytes each and maxTotal in all, as
// received. Close returns its buffer.
func NewEventReader(r io.Reader, maxEvent, maxTotal int) *EventReader {
	pooled := eventBuffers.Get().(*[]byte)
	return &EventReader{r: r, pooled: pooled, buf: *pooled, maxEvent: maxEvent, maxTotal: maxTotal}
}

// Close returns the buffer, which ends the validity of data and raw bytes. It does not close the reader
// below.
func (e *EventReader) Close() {
	e.giveBack()
	e.last, e.next, e.ready = event{}, event{}, false
	e.pos, e.line, e.seen, e.end, e.err = 0, 0, 0, 0, io.ErrClosedPipe
}

// Next returns the data of the next event, valid until the next call. It skips comments and events without
// data; the last event needs no empty line. The final error is io.EOF, that of the reader below, or a
// *LimitError.
func (e *EventReader) Next() ([]byte, error) {
	for !e.findEvent() {
		if err := e.fill(); err != nil && (err != io.EOF || !e.complete()) {
			return nil, err
		}
	}
	e.last, e.next, e.ready = e.next, event{}, false
	e.pos = e.last.raw.To
	if e.last.lines > 1 {
		return e.join(), nil
	}
	return e.last.data.Of(e.buf), nil
}

// Wait reads until Next can return at once. While nothing of an event has come, the buffer is lent to
// others, so earlier results of Next and Raw become invalid.
func (e *EventReader) Wait() {
	for !e.findEvent() {
		if e.pos == e.end && e.err == nil {
			e.idle()
		}
		if e.fill() != nil {
			return
		}
	}
}

// idle gives the buffer up until a first byte has come.
func (e *EventReader) idle() {
	e.giveBack()
	e.buf, e.pos, e.line, e.seen, e.end, e.last, e.next = e.first[:], 0, 0, 0, 0, event{}, event{}
	_ = e.fill() // its error is kept
	e.pooled = eventBuffers.Get().(*[]byte)
	copy(*e.pooled, e.buf[:e.end])
	e.buf = *e.pooled
}

func (e *EventReader) giveBack() {
	if e.pooled != nil && len(e.buf) <= keepBuffer {
		*e.pooled = e.buf
		eventBuffers.Put(e.pooled)
	}
	e.pooled, e.buf = nil, nil
}

// Raw returns the last event as received, with other fields and its final empty line. It is valid until the
// next call of Next.
func (e *EventReader) Raw() []byte { return e.last.raw.Of(e.buf) }

// Fails reports whether the last event is marked as an error: by the name error, or by data in a field
// error, as llama.cpp writes it.
func (e *EventReader) Fails() bool { return e.last.fails }

// Buffered reports whether Next will return without reading.
func (e *EventReader) Buffered() bool { return e.findEvent() }

// findEvent looks for the end of the next event in the buffer.
func (e *EventReader) findEvent() bool {
	if !e.started && e.end >= 3 {
		e.started = true
		if string(e.buf[:3]) == "\uFEFF" { // a byte order mark
			e.pos, e.line, e.seen = 3, 3, 3
		}
	}
	for !e.ready {
		n := bytes.IndexByte(e.buf[e.seen:e.end], '\n')
		if n < 0 {
			e.seen = e.end
			if e.started && e.end-e.pos > e.maxEvent {
				e.tooLong()
			}
			return false
		}
		line := trimCR(e.buf[e.line : e.seen+n])
		e.started = true
		e.seen += n + 1
		if len(line) > 0 {
			e.addLine(line)
			e.line = e.seen
			continue
		}
		e.line = e.seen
		switch {
		case e.seen-e.pos > e.maxEvent:
			e.tooLong()
			return false
		case e.next.empty():
			e.pos, e.next = e.seen, event{}
		default:
			e.next.raw = Span{From: e.pos, To: e.seen}
			e.ready = true
		}
	}
	return true
}

// addLine adds the line at e.line to the event.
func (e *EventReader) addLine(line []byte) {
	name, value := fieldOf(line)
	failed := string(name) == "error"
	switch {
	case failed, string(name) == "data":
		to := e.line + len(line)
		e.next.data = Span{From: to - len(value), To: to}
		e.next.lines++
	case string(name) == "event":
		failed = string(value) == "error"
	}
	e.next.fails = e.next.fails || failed
}

// empty reports whether an event is not dispatched, according to the standard.
func (v event) empty() bool { return v.lines == 0 || v.lines == 1 && v.data.From == v.data.To }

// complete ends an event that lacks its empty line at the end of the stream; false: there is none.
func (e *EventReader) complete() bool {
	partial := e.pos < e.end
	for i := 0; i < 2 && partial; i++ {
		e.room()
		e.buf[e.end] = '\n'
		e.end++
	}
	return partial
}

// fill reads once. An error of the read is returned once its bytes are used up.
func (e *EventReader) fill() error {
	if e.err != nil {
		return e.err
	}
	e.room()
	room := e.buf[e.end:min(len(e.buf), e.end+e.maxTotal-e.total+1)]
	for range emptyReads {
		n, err := e.r.Read(room)
		e.end += n
		e.total += n
		e.err = err
		if e.total > e.maxTotal {
			e.end -= e.total - e.maxTotal
			e.err = &LimitError{"stream", e.maxTotal}
		}
		if n > 0 || err != nil {
			return nil
		}
	}
	e.err = io.ErrNoProgress
	return e.err
}

// room makes room at the end of the buffer: it moves the rest to the front if that frees half of it, or
// doubles it. A small buffer that was filled is doubled, too, since fewer reads cost less.
func (e *EventReader) room() {
	if e.end < len(e.buf) && e.pos < e.end {
		return
	}
	to := e.buf
	if e.pos < e.end && e.pos < len(e.buf)/2 || e.end == len(e.buf) && len(e.buf) < fullBuffer {
		to = make([]byte, 2*len(e.buf))
	}
	copy(to, e.buf[e.pos:e.end])
	e.buf = to
	e.line, e.seen, e.end = e.line-e.pos, e.seen-e.pos, e.end-e.pos
	e.next.data.From, e.next.data.To = e.next.data.From-e.pos, e.next.data.To-e.pos
	e.pos, e.last = 0, event{}
}

// tooLong ends reading and drops the buffer's content.
func (e *EventReader) tooLong() {
	e.err = &LimitError{"event", e.maxEvent}
	e.end, e.line, e.seen, e.next = e.pos, e.pos, e.pos, event{}
}

// join joins the data lines of the last event by blanks: the data is JSON and may leave as one line.
func (e *EventReader) join() []byte {
	e.joined = e.joined[:0]
	for line := range bytes.Lines(e.Raw()) {
		name, value := fieldOf(trimCR(bytes.TrimSuffix(line, []byte("\n"))))
		if string(name) == "data" || string(name) == "error" {
			e.joined = append(append(e.joined, value...), ' ')
		}
	}
	return e.joined[:len(e.joined)-1]
}

// fieldOf splits a line "name: value".
func fieldOf(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// IsDone reports whether data is the end mark of a stream.
func IsDone(data []byte) bool { return string(data) == "[DONE]" }

// Fault is an error as a server words it.
type Fault struct {
	Message, Type, Code, Param string // Code may have been a number
}

// ReadFault finds the error in a body or event: OpenAI's {"error":{…}}, the flat {"object":"error",…}
// of vLLM and SGLang, Ollama's {"error":"…"}, FastAPI's {"detail":"…"}.
func ReadFault(doc []byte) (Fault, bool) {
	s := scanner{Scanner: jsontext.Scanner{Doc: doc}}
	var flat, nested Fault
	object, found := "", false
	for ok := s.Enter('{'); ok && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "error":
			nested, found = s.fault()
		case "detail":
			flat.Message, _ = s.scalar()
		case "object":
			object, _ = s.word()
		default:
			flat.member(&s, key)
		}
	}
	if s.End() != nil {
		return Fault{}, false
	}
	if found {
		return nested, true
	}
	return flat, object == "error" || object == "" && flat.Message != ""
}

// fault reads the value of error: an object or just the message.
func (s *scanner) fault() (f Fault, found bool) {
	if s.Peek() != '{' {
		f.Message, found = s.scalar()
		return f, found
	}
	for ok := s.Enter('{'); ok && s.Next('}'); {
		key, _ := s.Key()
		f.member(s, key)
	}
	return f, true
}

func (f *Fault) member(s *scanner, key []byte) {
	switch string(key) {
	case "message":
		f.Message, _ = s.scalar()
	case "type":
		f.Type, _ = s.scalar()
	case "code":
		f.Code, _ = s.scalar()
	case "param":
		f.Param, _ = s.scalar()
	}
}

// scalar reads a value as text, with strings decoded; false for null, false and "".
func (s *scanner) scalar() (string, bool) {
	at := s.Skip()
	if s.Err != nil {
		return "", false
	}
	if text, ok := Text(s.Doc, at); ok {
		return text, text != ""
	}
	switch text := string(at.Of(s.Doc)); text {
	case "null", "false":
		return "", false
	default:
		return text, true
	}
}
