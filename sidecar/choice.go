package sidecar

import (
	"bytes"
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
	text    []byte // the content in them
	thought []byte // the reasoning in them
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
	role := ch.Role != "" && o.role
	if !o.role && ch.Role == "" {
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
		o.role = o.role || ch.Role != ""
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
	c.text = append(c.text, d.Content...)
	c.thought = append(c.thought, d.Reasoning...)
	if len(events) == 0 {
		if !c.reader.Holding() {
			c.changed = true // dropped
			c.forget()
		}
		return
	}
	if !c.reader.Holding() && c.all(events) {
		c.o.sendRole()
		_ = c.o.to.Raw(c.held)
		c.o.wrote = true
		c.left(events)
		c.forget()
		return
	}
	c.changed = true
	c.emit(events)
	if c.reader.Holding() {
		c.dirty = true
		c.held = nil
	} else {
		c.forget()
	}
}

func (c *choice) forget() {
	c.held, c.text, c.thought, c.dirty = c.held[:0], c.text[:0], c.thought[:0], false
}

// all says that events are exactly the text and thoughts that are held.
func (c *choice) all(events []parse.Event) bool {
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
	fed := append([]parse.Event(nil), events...)
	clean := asItCame && len(c.held) == 0 && !c.dirty
	raw = bytes.Clone(c.renamed(ch, raw))
	c.end(ch.Finish, func(reading *parse.Reading, events []parse.Event) bool {
		fed = append(fed, events...)
		if clean && reading.Finish == ch.Finish && same(fed, d) {
			c.last = raw
			c.left(fed)
			return true
		}
		c.emit(fed)
		return true
	})
}

// end closes the reader. leave lets its last events leave; nil: in our own words.
func (c *choice) end(finish string, leave func(*parse.Reading, []parse.Event) bool) {
	if c.closed {
		return
	}
	c.closed = true
	reading, events := c.reader.Close(finish)
	c.reading = reading
	switch {
	case leave != nil && leave(&reading, events):
	case len(c.held) > 0 && !c.dirty && c.all(events):
		c.o.sendRole()
		_ = c.o.to.Raw(c.held)
		c.left(events)
	default:
		c.emit(events)
	}
	c.o.t.count(&reading)
	c.o.t.remember(c.ids, reading.Reasoning)
}

// replay lets a reading leave that was made outside the stream.
func (c *choice) replay(reading *parse.Reading, last []parse.Event) {
	c.changed = true
	if reading.Reasoning != "" {
		c.emit([]parse.Event{{Kind: parse.Thought, Text: reading.Reasoning}})
	}
	if reading.Content != "" {
		c.emit([]parse.Event{{Kind: parse.Text, Text: reading.Content}})
	}
	for i := range reading.Calls {
		c.emit([]parse.Event{{Kind: parse.ToolCall, Call: &reading.Calls[i]}})
	}
	c.o.t.count(reading)
	c.o.t.remember(c.ids, reading.Reasoning)
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
