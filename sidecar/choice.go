package sidecar

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// choice is one choice of a streamed reply. While bytes are held back, the raw
// events they came in are kept: as far as the text leaves unchanged after all, so
// do the events, with all that they say of it, such as logprobs.
type choice struct {
	o     *streamSink
	index int

	held    []byte        // raw events whose text has not left
	parts   []heldEvent   // these, one by one
	role    bool          // the role chunk is among them
	ready   []parse.Event // what may leave of them, but waits for the rest of the role chunk's text
	text    []byte        // the content in them
	thought []byte        // the reasoning in them
	named   bool          // its role has come
	dirty   bool          // what is held cannot leave as it came
	changed bool          // some of this reply left in our own words

	unmet  bool     // it has ended so, as its reading says
	shown  bool     // some of its text has left
	reason string   // why it ended
	last   []byte   // the event that finishes the choice, if it may leave as it came
	ids    []string // of the calls that left
}

// heldEvent is one of the raw events that are held: how much it has of what is held.
type heldEvent struct {
	raw, text, thought int  // bytes
	role               bool // it tells the role
	begun              bool // some of its text has left, and all that it says beside the text
}

// take lets leave what a piece means for this choice.
func (c *choice) take(part *turn.Part, p *turn.Piece) {
	if part.Reading != nil {
		defer c.end(part.Reading)
	}
	switch {
	case part.Source == nil:
		c.leave(part.Events, part.Holding)
	case p.Raw == nil:
		c.emit(part.Events)
	default:
		c.event(part, p)
	}
}

func (c *choice) end(r *parse.Reading) { c.unmet, c.reason = r.Unmet(), r.Finish }

// event lets leave what an event says.
func (c *choice) event(part *turn.Part, p *turn.Piece) {
	o, chunk := c.o, part.Source
	named := chunk.Role != ""
	// Finish tells it in front of the end
	again := named && (c.named || o.roleSent(c.index) || part.Reading != nil)
	c.named = c.named || named
	if !named && !c.role {
		o.sendRole(c.index)
	}
	if part.Leading && len(c.held) == 0 {
		o.timer.Reset(o.Keepalive) // the role may still leave with the event that is held
	}
	asItCame := len(p.Doc.Choices) == 1 && !again && len(part.Delta.Calls) == 0 && !chunk.Foreign
	switch {
	case part.Reading != nil:
		c.ending(part, p.Raw, asItCame)
	case asItCame && len(c.held) == 0 && !c.dirty && same(part.Events, part.Delta):
		if named {
			o.tells(c.index)
		}
		c.apart(part.Events)
		c.pass(chunk, p.Raw)
		c.noteSent(part.Events)
	case !asItCame || c.dirty:
		c.dirty = c.dirty || len(c.held) > 0
		c.changed = true
		c.emit(c.waited(part.Events))
		if !part.Holding {
			c.forget()
		}
	default:
		c.hold(part, p.Raw)
	}
}

// hold keeps an event until its text leaves or becomes something else.
func (c *choice) hold(part *turn.Part, raw []byte) {
	raw = c.renamed(part.Source, raw)
	c.held = append(c.held, raw...)
	c.parts = append(c.parts, heldEvent{raw: len(raw), text: len(part.Delta.Content),
		thought: len(part.Delta.Reasoning), role: part.Source.Role != ""})
	c.role = c.role || part.Source.Role != ""
	c.text = append(c.text, part.Delta.Content...)
	c.thought = append(c.thought, part.Delta.Reasoning...)
	switch {
	case part.Holding && c.role && !c.o.roleSent(c.index):
		for _, e := range part.Events {
			e.Text = strings.Clone(e.Text)
			c.ready = append(c.ready, e)
		}
	case len(part.Events) > 0 || len(c.ready) > 0:
		c.leave(part.Events, part.Holding)
	case !part.Holding:
		c.forget()
	}
}

// release lets leave what waits for the role chunk: it takes too long.
func (c *choice) release() {
	if len(c.ready) > 0 {
		c.leave(nil, true)
	}
}

// waited are the events that may leave now, behind those that have waited.
func (c *choice) waited(events []parse.Event) []parse.Event {
	if len(c.ready) == 0 {
		return events
	}
	events = append(c.ready, events...)
	c.ready = nil
	return events
}

// leave lets what was held leave: as the events it came in, as far as it is their text.
func (c *choice) leave(events []parse.Event, holding bool) {
	rest := c.match(c.waited(events))
	c.emit(rest)
	if !holding {
		c.forget()
	} else if len(rest) > 0 {
		c.forget()
		c.dirty = true
	}
}

// match sends the events that are held whose text is what now may leave, and gives what is left of that.
// Behind it, an event is held if some of its text is.
func (c *choice) match(events []parse.Event) []parse.Event {
	events = merged(events)
	c.apart(events)
	for len(c.parts) > 0 && !c.dirty {
		p := &c.parts[0]
		if p.role && c.o.roleSent(c.index) && !p.begun {
			return events // it has left meanwhile
		}
		if p.text == 0 && p.thought == 0 {
			c.send(nil)
			continue
		}
		if len(events) == 0 {
			break
		}
		e, kind, own := &events[0], parse.Text, c.text[:p.text]
		if p.thought > 0 && (p.text == 0 || e.Kind == parse.Thought) {
			kind, own = parse.Thought, c.thought[:p.thought]
		}
		switch n := len(own); {
		case e.Kind != kind || p.text > 0 && p.thought > 0 && e.Text != string(own):
			return events
		case p.text > 0 && p.thought > 0: // the other one must follow at once
			if len(events) < 2 || kind != parse.Thought || events[1].Kind != parse.Text ||
				events[1].Text != string(c.text[:p.text]) {
				return events
			}
			c.send(events[:2])
			events = events[2:]
		case strings.HasPrefix(e.Text, string(own)):
			c.send([]parse.Event{{Kind: kind, Text: e.Text[:n]}})
			if e.Text = e.Text[n:]; e.Text == "" {
				events = events[1:]
			}
		case strings.HasPrefix(string(own), e.Text):
			c.sendSome(*e)
			events = events[1:]
		default:
			return events
		}
	}
	return events
}

// merged is events of which no two of text, or of thought, stand beside each other.
func merged(events []parse.Event) (out []parse.Event) {
	for _, e := range events {
		if n := len(out); n > 0 && e.Kind != parse.ToolCall && out[n-1].Kind == e.Kind {
			out[n-1].Text += e.Text
		} else {
			out = append(out, e)
		}
	}
	return out
}

// send sends the first event that is held, or what is left of its text.
func (c *choice) send(events []parse.Event) {
	p := c.parts[0]
	if p.begun {
		c.emit(events)
	} else {
		c.tell(p)
		_ = c.o.to.Raw(c.held[:p.raw])
		c.o.wrote = true
	}
	c.parts, c.held, c.text, c.thought = c.parts[1:], c.held[p.raw:], c.text[p.text:], c.thought[p.thought:]
	c.role = slices.ContainsFunc(c.parts, func(p heldEvent) bool { return p.role })
	c.noteSent(events)
}

// sendSome sends a part of the text of the first event that is held: the first part with all that the event
// says.
func (c *choice) sendSome(e parse.Event) {
	p := &c.parts[0]
	if event, ok := c.reworded(c.held[:p.raw], e); ok && !p.begun {
		c.tell(*p)
		_ = c.o.to.Raw(event)
		c.o.wrote, c.changed, p.begun = true, true, true
		c.noteSent([]parse.Event{e})
	} else {
		c.emit([]parse.Event{e})
	}
	if e.Kind == parse.Text {
		p.text, c.text = p.text-len(e.Text), c.text[len(e.Text):]
	} else {
		p.thought, c.thought = p.thought-len(e.Text), c.thought[len(e.Text):]
	}
}

// tell sees to it that the role leaves in front of an event that is held, or with it.
func (c *choice) tell(p heldEvent) {
	if p.role {
		c.o.tells(c.index)
	} else {
		c.o.sendRole(c.index)
	}
}

// reworded is a raw event of this choice with another text.
func (c *choice) reworded(raw []byte, e parse.Event) ([]byte, bool) {
	events := openai.NewEventReader(bytes.NewReader(raw), len(raw), len(raw))
	defer events.Close()
	var doc openai.Completion
	data, err := events.Next()
	if err != nil || doc.Parse(data) != nil || len(doc.Choices) != 1 {
		return nil, false
	}
	as := openai.Rewrite{Content: &e.Text}
	if e.Kind == parse.Thought {
		as = openai.Rewrite{Reasoning: &e.Text}
	}
	return append(openai.AppendEdited([]byte("data: "), data, doc.Edits(0, as)), "\n\n"...), true
}

func (c *choice) forget() {
	c.changed = c.changed || len(c.text)+len(c.thought) > 0 // dropped
	c.held, c.parts, c.text, c.thought, c.dirty, c.role = c.held[:0], c.parts[:0], c.text[:0], c.thought[:0],
		false, false
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
		edits = c.o.doc.ReasoningEdits(ch)
	}
	return c.o.ours(raw, edits)
}

// ending handles the event that ends the choice. Whether the reply is good is decided
// first, so it leaves with finish.
func (c *choice) ending(part *turn.Part, raw []byte, asItCame bool) {
	rest := c.match(c.waited(part.Events))
	if !asItCame || part.Reading.Finish != part.Source.Finish || len(part.Reading.Refused) > 0 ||
		len(c.parts) > 0 || c.dirty || !same(rest, part.Delta) {
		c.emit(rest)
		return
	}
	c.noteSent(rest)
	c.last = bytes.Clone(c.renamed(part.Source, raw))
}

// emit lets events leave as chunks of our own.
func (c *choice) emit(events []parse.Event) {
	if len(events) == 0 {
		return
	}
	c.changed = true
	c.o.sendRole(c.index)
	c.apart(events)
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
	c.noteSent(events)
}

// apart sends an empty line before text that does not continue what has left: the model
// was asked again meanwhile, or the text is ours.
func (c *choice) apart(events []parse.Event) {
	if c.o.gap && slices.ContainsFunc(events, isText) {
		c.o.gap = false
		c.o.sendRole(c.index)
		_ = c.o.to.Delta(openai.Delta{Choice: c.index, Content: apart})
	}
}

func (c *choice) call(call *tools.Call) openai.Call {
	id := openai.NewCallID()
	c.ids = append(c.ids, id)
	return openai.Call{Index: len(c.ids) - 1, ID: id, Name: call.Name, Arguments: call.Arguments}
}

// noteSent notes that text or a call is with the caller.
func (c *choice) noteSent(events []parse.Event) {
	c.shown = c.shown || slices.ContainsFunc(events, isText)
	c.o.sent = c.o.sent || c.shown || len(c.ids) > 0
}

func isText(e parse.Event) bool { return e.Kind == parse.Text && strings.TrimSpace(e.Text) != "" }

// finish sends the reason why the choice ended.
func (c *choice) finish() {
	c.o.sendRole(c.index)
	if c.last != nil {
		_ = c.o.to.Raw(c.last)
		return
	}
	_ = c.o.to.Finish(c.index, c.reason)
}
