package openai

import (
	"bytes"
	"fmt"
	"io"
	"sync"
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

// EventReader reads server-sent events. Lines end in LF or CRLF. How the network
// cut the bytes makes no difference to what is read.
type EventReader struct {
	r      io.Reader
	pooled *[]byte
	buf    []byte
	// in buf: where the block, and its unfinished line, begin; no line ends before seen
	pos, line, seen    int
	end                int   // of what was read
	total              int   // bytes read so far
	maxEvent, maxTotal int   // bytes
	begun              bool  // past the place of a byte order mark
	err                error // why nothing more can be read
	last, next         event // the one that Next returned; the one being read
	ready              bool  // next is whole
	joined             []byte
	first              [1]byte // the buffer while nothing has come
}

// event is a block of lines up to an empty one, as spans of the buffer.
type event struct {
	raw, data Span
	lines     int  // of data; several are joined when they are asked for
	fails     bool // it says that it is an error
}

// NewEventReader reads events from r. One event may be maxEvent bytes long as
// received, the whole stream maxTotal. Close gives the buffer back.
func NewEventReader(r io.Reader, maxEvent, maxTotal int) *EventReader {
	pooled := eventBuffers.Get().(*[]byte)
	return &EventReader{r: r, pooled: pooled, buf: *pooled, maxEvent: maxEvent, maxTotal: maxTotal}
}

// Close gives the buffer back: data and raw bytes are no longer valid. It does
// not close the reader below.
func (e *EventReader) Close() {
	e.giveBack()
	e.last, e.next, e.ready = event{}, event{}, false
	e.pos, e.line, e.seen, e.end, e.err = 0, 0, 0, 0, io.ErrClosedPipe
}

// Next is the data of the next event, valid until the next call. Comments and
// events without data are passed over; an event at the very end needs no empty
// line. Then the error is io.EOF, what the reader below failed with, or a
// *LimitError.
func (e *EventReader) Next() ([]byte, error) {
	for !e.locate() {
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

// Wait reads until Next has an event or an error without waiting. While nothing of an event has come, others
// have the buffer: what Next and Raw gave before is no longer valid.
func (e *EventReader) Wait() {
	for !e.locate() {
		if e.pos == e.end && e.err == nil {
			e.rest()
		}
		if e.fill() != nil {
			return
		}
	}
}

// rest gives the buffer back until a first byte has come.
func (e *EventReader) rest() {
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

// Raw is the event that Next returned last as it was received, other fields and
// the final empty line included. It is valid until the next call of Next.
func (e *EventReader) Raw() []byte { return e.last.raw.Of(e.buf) }

// Fails reports whether the event that Next returned last is an error whatever its data
// says: its name is error, or its data stands behind error, as llama.cpp writes it.
func (e *EventReader) Fails() bool { return e.last.fails }

// Buffered reports whether a whole further event is in memory already, so that
// Next will not wait.
func (e *EventReader) Buffered() bool { return e.locate() }

// locate looks for the end of the next event in the buffer.
func (e *EventReader) locate() bool {
	if !e.begun && e.end >= 3 {
		e.begun = true
		if string(e.buf[:3]) == "\uFEFF" { // a byte order mark
			e.pos, e.line, e.seen = 3, 3, 3
		}
	}
	for !e.ready {
		n := bytes.IndexByte(e.buf[e.seen:e.end], '\n')
		if n < 0 {
			e.seen = e.end
			if e.begun && e.end-e.pos > e.maxEvent {
				e.tooLong()
			}
			return false
		}
		line := trimCR(e.buf[e.line : e.seen+n])
		e.begun = true
		e.seen += n + 1
		if len(line) > 0 {
			e.add(line)
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

// add takes the line that begins at e.line into the event.
func (e *EventReader) add(line []byte) {
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

// empty events are not to be dispatched, says the standard.
func (v event) empty() bool { return v.lines == 0 || v.lines == 1 && v.data.From == v.data.To }

// complete ends the event that the stream leaves without its empty line. It is false where
// nothing is left.
func (e *EventReader) complete() bool {
	left := e.pos < e.end
	for i := 0; i < 2 && left; i++ {
		e.room()
		e.buf[e.end] = '\n'
		e.end++
	}
	return left
}

// fill reads once more. The error of a read comes when its bytes are used up.
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

// room makes room at the end of the buffer: by moving what is left to the front
// when that frees half of it, else by doubling it. A small one that was filled is doubled
// too, as fewer reads cost less.
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

// tooLong ends the reading, and drops what is in the buffer.
func (e *EventReader) tooLong() {
	e.err = &LimitError{"event", e.maxEvent}
	e.end, e.line, e.seen, e.next = e.pos, e.pos, e.pos, event{}
}

// join puts the data lines of the last event together with blanks: it is JSON, and may leave
// as one line.
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

// fieldOf is the name and the value of a line "name: value".
func fieldOf(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// IsDone reports whether data is the end mark of a stream.
func IsDone(data []byte) bool { return string(data) == "[DONE]" }
