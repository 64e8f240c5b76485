package turn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// LeadWait is how long text at the start of a reply is held, since it may be a thought whose header the
// server dropped.
const LeadWait = 200 * time.Millisecond

// maxChoices bounds the choices of a reply that are read. A request may ask for 128 at most.
const maxChoices = 128

// Reader reads one reply of a model server: the events of a stream, a document, or what an error quotes. It
// also reads recorded replies. Each piece goes to take.
type Reader struct {
	open func() *parse.Reader // returns the reader of a choice
	take func(*Piece)
	lazy bool // plain reasoning of documents stays encoded, and no text is released by time

	mu       sync.Mutex // guards what follows against the timer of the lead
	chunks   openai.Chunks
	choices  []*choice
	piece    Piece
	timer    *time.Timer
	panicked any // value of a panic in release
	done     bool

	lastBlank bool // the last event has no model, no text and no end
	unmarked  bool // the stream ended without its end mark
}

// eventBuffer holds what is read of one event. Streams share a pool of them, since they mostly wait.
type eventBuffer struct {
	texts jsontext.Block
	parts []Part
}

var eventBuffers = sync.Pool{New: func() any { return new(eventBuffer) }}

// choice is one choice of the reply.
type choice struct {
	index   int
	reader  *parse.Reader
	ended   bool
	reading parse.Reading
	calls   []parse.CallDelta // of the current event
}

// ErrorInside is an error object inside a reply with status 200.
type ErrorInside struct{ Body []byte }

func (e *ErrorInside) Error() string {
	return "the reply holds an error: " + string(e.Body[:min(len(e.Body), 300)])
}

// NewReader returns a reader of a reply. open returns the reader of a choice; flows means that take wants
// each piece at once.
func NewReader(open func() *parse.Reader, flows bool, take func(*Piece)) *Reader {
	return &Reader{open: open, take: take, lazy: !flows}
}

// Event reads one event, of which raw holds all bytes. more means that another one has arrived.
func (r *Reader) Event(data, raw []byte, more bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := eventBuffers.Get().(*eventBuffer)
	defer eventBuffers.Put(e)
	doc := &r.chunks.Last
	defer r.chunks.Release()
	if err := r.chunks.Parse(data, &e.texts); err != nil {
		return errors.New("an event of it is not JSON: " + err.Error())
	}
	if isError(doc) {
		return &ErrorInside{bytes.Clone(data)}
	}
	r.lastBlank = string(doc.Model.Of(data)) == `""` && !slices.ContainsFunc(doc.Choices,
		func(c openai.Choice) bool {
			return c.Finish != "" || c.Content.Text != "" || c.Reasoning.Text != "" || len(c.Calls) > 0
		})
	p := r.newPiece(doc, raw)
	p.Parts, p.More = e.parts[:0], more
	for i := range doc.Choices {
		chunk := &doc.Choices[i]
		if chunk.Index >= maxChoices {
			continue
		}
		if c := r.choice(chunk.Index); !c.ended {
			c.read(p, chunk, chunk.Finish != "")
		}
	}
	r.pass(p)
	e.parts = slices.Delete(p.Parts, 0, len(p.Parts)) // which forgets them
	r.piece = Piece{}
	return nil
}

// Document reads a whole reply. Its choices are numbered in their order.
func (r *Reader) Document(doc []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var plain func([]byte) bool
	if r.lazy {
		plain = func(raw []byte) bool { return r.choice(0).reader.PlainThought(raw) }
	}
	read := &openai.Completion{}
	if err := read.ParseSkipping(doc, plain); err != nil {
		return errors.New("it is not one JSON document: " + err.Error())
	}
	if isError(read) {
		return &ErrorInside{doc}
	}
	p := r.newPiece(read, nil)
	for i := range read.Choices[:min(len(read.Choices), maxChoices)] {
		chunk := &read.Choices[i]
		c := r.choice(i)
		if chunk.Finish == "" && chunk.FinishSpan.Present() { // it is null
			chunk.Finish = openai.Unfinished
		}
		if chunk.Reasoning.Skipped {
			c.reader.Reasoned()
		}
		c.read(p, chunk, true)
		c.decode(read, chunk)
	}
	r.pass(p)
	return nil
}

// isError reports whether a document is an error and no part of a reply.
func isError(doc *openai.Completion) bool {
	if doc.Err.Present() || len(doc.Choices) > 0 || doc.Usage.Present() {
		return doc.Err.Present()
	}
	_, is := openai.ReadFault(doc.Doc)
	return is
}

// Recovered reads what an error quotes of the model's words, after what came before the error. It reports
// whether there is anything to show, run or refuse; if not, nothing goes to take. A quoted text is the
// whole text, so it does not count where some of it was shown.
func (r *Reader) Recovered(from *upstream.Recovered) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := parse.Delta{Content: from.Text}
	for i, c := range from.Calls {
		d.Calls = append(d.Calls, parse.CallDelta{Index: i, Name: c.Name, Arguments: []byte(c.Arguments)})
	}
	c := r.choice(0)
	if c.ended || from.Text != "" && c.reader.Spoke() {
		return false
	}
	events := slices.Clone(c.reader.Feed(d))
	part := c.end("", events)
	if c.reading.Empty() && !c.reading.Denied() {
		return false
	}
	part.Quoted = &d
	p := r.newPiece(nil, nil)
	p.Parts = append(p.Parts, part)
	r.pass(p)
	return true
}

// End ends the open choices for this reason and returns all readings in order, at least one.
func (r *Reader) End(finish string) []parse.Reading {
	return r.endChoices(func(c *choice) Part {
		if finish == "" && r.unmarked {
			finish = openai.Unfinished
		}
		return c.end(finish, nil)
	})
}

// Break ends the choices of a reply that broke off. Held text leaves, calls do not.
func (r *Reader) Break() []parse.Reading {
	return r.endChoices(func(c *choice) Part {
		events := slices.DeleteFunc(c.end(openai.Unfinished, nil).Events,
			func(e parse.Event) bool { return e.Kind == parse.ToolCall })
		c.reading.Calls = nil
		return Part{Choice: c.index, Events: events}
	})
}

func (r *Reader) endChoices(end func(*choice) Part) (readings []parse.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	if len(r.choices) == 0 {
		r.choice(0)
	}
	p := r.newPiece(nil, nil)
	for _, c := range r.choices {
		if !c.ended {
			p.Parts = append(p.Parts, end(c))
		}
	}
	r.pass(p)
	slices.SortFunc(r.choices, func(a, b *choice) int { return a.index - b.index })
	for _, c := range r.choices {
		readings = append(readings, c.reading)
	}
	return readings
}

// Close stops reading a reply that broke off.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
}

func (r *Reader) stop() {
	r.done = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// release passes text on that was held long enough as a possible thought.
func (r *Reader) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.panicked = recover() }() // it ends this request alone, when that goes on
	r.timer = nil
	if r.done {
		return
	}
	p := r.newPiece(nil, nil)
	for _, c := range r.choices {
		if c.reader.Leading() {
			events := c.reader.Release()
			p.Parts = append(p.Parts, Part{Choice: c.index, Events: events, Holding: c.reader.Holding()})
		}
	}
	r.pass(p)
}

// newPiece returns the piece, emptied.
func (r *Reader) newPiece(doc *openai.Completion, raw []byte) *Piece {
	if r.panicked != nil {
		panic(r.panicked)
	}
	r.piece = Piece{Doc: doc, Raw: raw, Parts: r.piece.Parts[:0]}
	return &r.piece
}

// pass hands the piece on and limits how long a possible thought is held.
func (r *Reader) pass(p *Piece) {
	r.take(p)
	if r.lazy || r.timer != nil || r.done {
		return
	}
	if slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Leading }) {
		r.timer = time.AfterFunc(LeadWait, r.release)
	}
}

// choice returns the state of a choice and makes it if needed.
func (r *Reader) choice(index int) *choice {
	for _, c := range r.choices {
		if c.index == index {
			return c
		}
	}
	c := &choice{index: index, reader: r.open()}
	r.choices = append(r.choices, c)
	return c
}

// read adds what a document says of the choice to the piece. last ends the choice.
func (c *choice) read(p *Piece, chunk *openai.Choice, last bool) {
	d := c.delta(chunk)
	events := c.reader.Feed(d)
	part := Part{Choice: c.index}
	if last {
		part = c.end(chunk.Finish, slices.Clone(events))
	} else {
		part.Events, part.Holding, part.Leading = events, c.reader.Holding(), c.reader.Leading()
	}
	part.Source, part.Delta = chunk, d
	p.Parts = append(p.Parts, part)
}

// end ends the choice. events have not been passed on yet.
func (c *choice) end(finish string, events []parse.Event) Part {
	reading, last := c.reader.Close(finish)
	c.ended, c.reading = true, reading
	return Part{Choice: c.index, Events: append(events, last...), Reading: &c.reading}
}

// decode decodes skipped reasoning, where it is needed after all.
func (c *choice) decode(doc *openai.Completion, chunk *openai.Choice) {
	r := &c.reading
	if !chunk.Reasoning.Skipped || len(r.Calls) == 0 && r.Reasoning == "" && !r.Empty() {
		return
	}
	chunk.Reasoning.Text, _ = openai.Text(doc.Doc, chunk.Reasoning.Value)
	chunk.Reasoning.Skipped = false
	r.Reasoning = chunk.Reasoning.Text + r.Reasoning
}

// delta returns what an event adds to the choice. It is valid until the next call.
func (c *choice) delta(chunk *openai.Choice) parse.Delta {
	d := parse.Delta{Reasoning: chunk.Reasoning.Text, Content: chunk.Content.Text}
	if len(chunk.Calls) == 0 {
		return d
	}
	c.calls = c.calls[:0]
	for i := range chunk.Calls {
		p := &chunk.Calls[i]
		c.calls = append(c.calls, parse.CallDelta{Index: p.Index, ID: p.ID, Name: p.Name,
			Arguments: p.Arguments})
	}
	d.Calls = c.calls
	return d
}

// Stream reads events up to the end mark, within these limits in bytes. If the stream ends without the
// mark, open choices are cut. The error is one of the body or its form, or *ErrorInside.
func (r *Reader) Stream(body io.Reader, maxEvent, maxTotal int) (err error) {
	events, ended := openai.NewEventReader(body, maxEvent, maxTotal), false
	defer events.Close()
	for !ended && err == nil {
		events.Wait()
		ended, err = r.readBuffered(events)
	}
	return err
}

// readBuffered reads the events that have arrived and reports whether the stream has ended.
func (r *Reader) readBuffered(events *openai.EventReader) (ended bool, err error) {
	for more := true; more; {
		data, err := events.Next()
		switch {
		case err == nil && openai.IsDone(data):
			return true, nil
		case err != nil && r.finished(): // whatever breaks behind it, the reply was whole
			return true, nil
		case errors.Is(err, io.EOF):
			return true, r.endUnmarked()
		case err != nil:
			return true, withLimitName(err)
		case events.Fails():
			return true, &ErrorInside{bytes.Clone(data)}
		}
		more = events.Buffered()
		if err := r.Event(data, events.Raw(), more); err != nil {
			return true, err
		}
	}
	return false, nil
}

// withLimitName adds the setting to the error of a limit of ours.
func withLimitName(err error) error {
	var limit *openai.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	name := "size.line"
	if limit.What == "stream" {
		name = "size.reply"
	}
	return fmt.Errorf("%w, which is %s of limits.yaml", err, name)
}

// finished reports whether all choices that began have ended.
func (r *Reader) finished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.choices) > 0 && !slices.ContainsFunc(r.choices, func(c *choice) bool { return !c.ended })
}

// errEnded means that a stream ended in good order before its reply.
var errEnded = errors.New("the stream ended before the reply did")

// errHidden means that the server hid an error.
var errHidden = errors.New("it ended the reply with a blank event, as Ollama does for a call that it cannot read")

// endUnmarked notes that the stream has ended without its end mark. It returns errHidden after a blank
// event, as Ollama's chat completions turn their own error into one.
func (r *Reader) endUnmarked() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unmarked = true
	if r.lastBlank {
		return errHidden
	}
	return nil
}
