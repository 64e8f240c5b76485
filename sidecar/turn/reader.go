package turn

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// LeadWait is how long text is held at the start of a reply because it may be a thought
// whose header the server ate.
const LeadWait = 200 * time.Millisecond

// maxChoices is how many choices of a reply are read. A request may ask for 128 at most.
const maxChoices = 128

// Reader reads one reply of a model server, whatever its shape: the events of a stream, one
// document, or what an error quotes. It is the only reader of replies; recorded ones are
// read by it, too. Each piece goes to take.
type Reader struct {
	open func() *parse.Reader // of a choice
	take func(*Piece)
	lazy bool // plain reasoning of documents is not decoded, and no text is released by time

	mu      sync.Mutex // guards what follows against the timer of the lead
	choices []*choice
	piece   Piece
	timer   *time.Timer
	broke   any // what release panicked with
	done    bool

	blank bool // the last event has no model, no text and no end
	torn  bool // the stream has ended without its end mark
}

// arrival is the memory in which one event is read. Streams wait most of their time, so they have none of
// their own.
type arrival struct {
	doc   openai.Completion
	parts []Part
}

var arrivals = sync.Pool{New: func() any { return new(arrival) }}

// choice is one choice of the reply.
type choice struct {
	index   int
	reader  *parse.Reader
	ended   bool
	reading parse.Reading
	calls   []parse.CallDelta // of the event that is read
}

// ErrorInside is an error object that came inside of a reply with status 200.
type ErrorInside struct{ Body []byte }

func (e *ErrorInside) Error() string {
	return "the reply holds an error: " + string(e.Body[:min(len(e.Body), 300)])
}

// NewReader reads a reply; open makes the reader of a choice. flows says that take wants
// each piece as soon as it can be had.
func NewReader(open func() *parse.Reader, flows bool, take func(*Piece)) *Reader {
	return &Reader{open: open, take: take, lazy: !flows}
}

// Event reads one event; raw is all of its bytes. More says that another one is there.
func (r *Reader) Event(data, raw []byte, more bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := arrivals.Get().(*arrival)
	defer arrivals.Put(e)
	if err := e.doc.Parse(data); err != nil {
		return errors.New("an event of it is not JSON: " + err.Error())
	}
	if fails(&e.doc) {
		return &ErrorInside{bytes.Clone(data)}
	}
	r.blank = string(e.doc.Model.Of(data)) == `""` && !slices.ContainsFunc(e.doc.Choices,
		func(c openai.Choice) bool {
			return c.Finish != "" || c.Content.Text != "" || c.Reasoning.Text != "" || len(c.Calls) > 0
		})
	p := r.begin(&e.doc, raw)
	p.Parts, p.More = e.parts[:0], more
	for i := range e.doc.Choices {
		chunk := &e.doc.Choices[i]
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

// Document reads a whole reply. Its choices are numbered as they stand.
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
	if fails(read) {
		return &ErrorInside{doc}
	}
	p := r.begin(read, nil)
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

// fails reports whether a document is an error, and no part of a reply.
func fails(doc *openai.Completion) bool {
	if doc.Err.Present() || len(doc.Choices) > 0 || doc.Usage.Present() {
		return doc.Err.Present()
	}
	_, is := openai.ReadFault(doc.Doc)
	return is
}

// Recovered reads what an error quotes of the model's own words, behind what came before the error. It
// reports whether that is anything to show, to run or to refuse; if not, nothing goes to take. Text is
// all that the model wrote, so it is none where some of it was shown.
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
	p := r.begin(nil, nil)
	p.Parts = append(p.Parts, part)
	r.pass(p)
	return true
}

// End ends the choices that nothing has finished, for this reason, and gives the readings
// by their index: at least one.
func (r *Reader) End(finish string) []parse.Reading {
	return r.ends(func(c *choice) Part {
		if finish == "" && r.torn {
			finish = openai.Unfinished
		}
		return c.end(finish, nil)
	})
}

// Break ends the choices of a reply that broke off, and lets the text leave that was held. No call leaves.
func (r *Reader) Break() []parse.Reading {
	return r.ends(func(c *choice) Part {
		events := slices.DeleteFunc(c.end(openai.Unfinished, nil).Events,
			func(e parse.Event) bool { return e.Kind == parse.ToolCall })
		c.reading.Calls = nil
		return Part{Choice: c.index, Events: events}
	})
}

func (r *Reader) ends(end func(*choice) Part) (readings []parse.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	if len(r.choices) == 0 {
		r.choice(0)
	}
	p := r.begin(nil, nil)
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

// Close ends the reading of a reply that broke off.
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

// release lets a lead go as text: it was held long enough.
func (r *Reader) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.broke = recover() }() // it ends this request alone, when that goes on
	r.timer = nil
	if r.done {
		return
	}
	p := r.begin(nil, nil)
	for _, c := range r.choices {
		if c.reader.Leading() {
			events := c.reader.Release()
			p.Parts = append(p.Parts, Part{Choice: c.index, Events: events, Holding: c.reader.Holding()})
		}
	}
	r.pass(p)
}

// begin is the piece, empty.
func (r *Reader) begin(doc *openai.Completion, raw []byte) *Piece {
	if r.broke != nil {
		panic(r.broke)
	}
	r.piece = Piece{Doc: doc, Raw: raw, Parts: r.piece.Parts[:0]}
	return &r.piece
}

// pass hands the piece on, and sees to it that a lead is not held for ever.
func (r *Reader) pass(p *Piece) {
	r.take(p)
	if r.lazy || r.timer != nil || r.done {
		return
	}
	if slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Leading }) {
		r.timer = time.AfterFunc(LeadWait, r.release)
	}
}

// choice finds the state of a choice, or begins it.
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

// read reads what a document says of the choice, and whether that ends it, into the piece.
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

// end ends the choice; events are what it gave and what is not passed on yet.
func (c *choice) end(finish string, events []parse.Event) Part {
	reading, last := c.reader.Close(finish)
	c.ended, c.reading = true, reading
	return Part{Choice: c.index, Events: append(events, last...), Reading: &c.reading}
}

// decode decodes reasoning that was skipped, where it is needed after all.
func (c *choice) decode(doc *openai.Completion, chunk *openai.Choice) {
	r := &c.reading
	if !chunk.Reasoning.Skipped || len(r.Calls) == 0 && r.Reasoning == "" && !r.Empty() {
		return
	}
	chunk.Reasoning.Text, _ = openai.Text(doc.Doc, chunk.Reasoning.Value)
	chunk.Reasoning.Skipped = false
	r.Reasoning = chunk.Reasoning.Text + r.Reasoning
}

// delta is what an event or a message adds to the reading, until the next one does.
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
