package sidecar

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// choice is one choice of a streamed reply. While bytes are held back, the raw
// events they came in are kept: if all of the text leaves unchanged after all, so
// do the events.
type choice struct {
	o      *streamed
	index  int
	reader *parse.Reader

	held    []byte // raw events whose text has not left
	role    bool   // the role chunk is among them
	text    []byte // the content in them
	thought []byte // the reasoning in them
	named   bool   // its role has come
	dirty   bool   // what is held cannot leave as it came
	changed bool   // some of this reply left in our own words

	closed  bool
	reading parse.Reading
	last    []byte   // the event that finishes the choice, if it may leave as it came
	ids     []string // of the calls that left
}

// add reads what an event says about this choice.
func (c *choice) add(ch *openai.Choice, raw []byte, alone bool) {
	if c.closed {
		return
	}
	o := c.o
	role := ch.Role != "" && (c.named || c.index == 0 && o.role)
	c.named = c.named || ch.Role != ""
	if !o.role && ch.Role == "" && !c.role {
		o.sendRole()
	}
	d := deltaOf(ch)
	events := c.reader.Feed(d)
	if c.reader.Leading() && len(c.held) == 0 {
		o.timer.Reset(leadWait)
	}
	asItCame := alone && !role && len(d.Calls) == 0
	if ch.Finish != "" {
		c.finishing(ch, d, events, raw, asItCame)
		return
	}
	switch {
	case asItCame && len(c.held) == 0 && !c.dirty && same(events, d):
		o.role = o.role || ch.Role != "" && c.index == 0
		c.pass(ch, raw)
		c.left(events)
	case !asItCame || c.dirty:
		c.dirty = c.dirty || len(c.held) > 0
		c.changed = true
		c.emit(events)
		if !c.reader.Holding() {
			c.forget()
		}
	default:
		c.hold(ch, d, events, raw)
	}
}

// hold keeps an event until its text leaves or becomes something else.
func (c *choice) hold(ch *openai.Choice, d parse.Delta, events []parse.Event, raw []byte) {
	c.held = append(c.held, c.renamed(ch, raw)...)
	c.role = c.role || ch.Role != ""
	c.text = append(c.text, d.Content...)
	c.thought = append(c.thought, d.Reasoning...)
	if len(events) == 0 {
		if !c.reader.Holding() {
			c.changed = true // dropped
			c.forget()
		}
		return
	}
	c.leave(events)
}

// leave lets what was held leave: as the events it came in, if it is all of their
// text and nothing else.
func (c *choice) leave(events []parse.Event) {
	holding := c.reader.Holding()
	if !holding && c.intact(events) {
		c.raw()
		c.left(events)
		return
	}
	c.emit(events)
	if !holding {
		c.forget()
		return
	}
	c.dirty, c.held = true, nil
}

// raw sends the events that are held.
func (c *choice) raw() {
	if len(c.held) > 0 {
		if c.role && c.index == 0 {
			c.o.role = true
		}
		c.o.sendRole()
		_ = c.o.to.Raw(c.held)
		c.o.wrote = true
	}
	c.forget()
}

func (c *choice) forget() {
	c.held, c.text, c.thought, c.dirty, c.role = c.held[:0], c.text[:0], c.thought[:0], false, false
}

// intact says that what is held may leave as it came: events are exactly the text
// and thoughts in it, and its role has not left meanwhile.
func (c *choice) intact(events []parse.Event) bool {
	if c.dirty || c.role && c.index == 0 && c.o.role {
		return false
	}
	text, thought := string(c.text), string(c.thought)
	for _, e := range events {
		ok := false
		switch e.Kind {
		case parse.Text:
			text, ok = strings.CutPrefix(text, e.Text)
		case parse.Thought:
			thought, ok = strings.CutPrefix(thought, e.Text)
		}
		if !ok {
			return false
		}
	}
	return text == "" && thought == ""
}

// same says that events are what the delta says, no more and no less.
func same(events []parse.Event, d parse.Delta) bool {
	for _, e := range events {
		switch {
		case e.Kind == parse.Text && e.Text == d.Content:
			d.Content = ""
		case e.Kind == parse.Thought && e.Text == d.Reasoning:
			d.Reasoning = ""
		default:
			return false
		}
	}
	return d.Content == "" && d.Reasoning == ""
}

// pass lets an event leave as it came; only the name of the reasoning changes.
func (c *choice) pass(ch *openai.Choice, raw []byte) {
	_ = c.o.to.Raw(c.renamed(ch, raw))
	c.o.wrote = true
}

// renamed is the event with its reasoning under the name that OpenClaw replays.
func (c *choice) renamed(ch *openai.Choice, raw []byte) []byte {
	var edits []openai.Edit
	if ch.Reasoning.Text != "" {
		edits = c.o.chunk.ReasoningEdits()
	}
	return c.o.ours(raw, edits)
}

// finishing handles the event that ends the choice. Whether the reply is good is
// decided first, so it leaves with finish.
func (c *choice) finishing(ch *openai.Choice, d parse.Delta, events []parse.Event, raw []byte, asItCame bool) {
	fed := slices.Clone(events)
	last := bytes.Clone(c.renamed(ch, raw))
	c.text = append(c.text, d.Content...)
	c.thought = append(c.thought, d.Reasoning...)
	reading, events := c.close(ch.Finish)
	fed = append(fed, events...)
	if asItCame && reading.Finish == ch.Finish && c.intact(fed) {
		c.raw()
		c.left(fed)
		c.last = last
	} else {
		c.emit(fed)
	}
	c.count()
}

// end closes a choice that no event finished.
func (c *choice) end(finish string) {
	if c.closed {
		return
	}
	_, events := c.close(finish)
	c.leave(events)
	c.count()
}

func (c *choice) close(finish string) (*parse.Reading, []parse.Event) {
	c.closed = true
	reading, events := c.reader.Close(finish)
	c.reading = reading
	return &c.reading, events
}

// count records what was found, and remembers the thoughts behind the calls.
func (c *choice) count() {
	c.o.t.count(&c.reading)
	c.o.t.remember(c.ids, &c.reading)
}

// replay lets the reading leave that was made outside the stream.
func (c *choice) replay() {
	var events []parse.Event
	if c.reading.Reasoning != "" {
		events = append(events, parse.Event{Kind: parse.Thought, Text: c.reading.Reasoning})
	}
	if c.reading.Content != "" {
		events = append(events, parse.Event{Kind: parse.Text, Text: c.reading.Content})
	}
	for i := range c.reading.Calls {
		events = append(events, parse.Event{Kind: parse.ToolCall, Call: &c.reading.Calls[i]})
	}
	c.emit(events)
	c.count()
}

// emit lets events leave as chunks of our own.
func (c *choice) emit(events []parse.Event) {
	if len(events) == 0 {
		return
	}
	c.changed = true
	c.o.sendRole()
	for _, e := range events {
		d := openai.Delta{Choice: c.index}
		switch e.Kind {
		case parse.Text:
			d.Content = e.Text
		case parse.Thought:
			d.Reasoning = e.Text
		case parse.ToolCall:
			d.Calls = []openai.Call{c.call(e.Call)}
		}
		_ = c.o.to.Delta(d) // a caller who has left is noticed by the context
	}
	c.o.wrote = true
	c.left(events)
}

func (c *choice) call(call *tools.Call) openai.Call {
	id := openai.NewCallID()
	c.ids = append(c.ids, id)
	return openai.Call{Index: len(c.ids) - 1, ID: id, Name: call.Name, Arguments: string(call.Arguments)}
}

// left notes that text or a call is with the caller.
func (c *choice) left(events []parse.Event) {
	for _, e := range events {
		c.o.sent = c.o.sent || e.Kind == parse.ToolCall || e.Kind == parse.Text && strings.TrimSpace(e.Text) != ""
	}
}

// finish sends the reason why the choice ended.
func (c *choice) finish() {
	if c.last != nil {
		_ = c.o.to.Raw(c.last)
		return
	}
	_ = c.o.to.Finish(c.index, c.reading.Finish)
}

// deltaOf is what an event or a message adds to a reading.
func deltaOf(ch *openai.Choice) parse.Delta {
	d := parse.Delta{Reasoning: ch.Reasoning.Text, Content: ch.Content.Text}
	for i := range ch.Calls {
		p := &ch.Calls[i]
		d.Calls = append(d.Calls, parse.CallDelta{Index: p.Index, ID: p.ID, Name: p.Name, Arguments: p.Arguments})
	}
	return d
}
