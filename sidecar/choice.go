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

// choice is one choice of a streamed reply. While text is held back, so are the raw events that brought it:
// as far as the text leaves unchanged, they leave as they came, with members such as logprobs.
type choice struct {
	o     *streamSink
	index int

	raw       []byte        // events whose text has not left
	held      []heldEvent   // these events, in order
	holdsRole bool          // the role chunk is held
	waiting   []parse.Event // may leave, but waits for the rest of the role chunk's text
	text      []byte        // content of the held events
	thought   []byte        // reasoning of the held events
	roleCame  bool          // the server has sent the role
	dirty     bool          // what is held cannot leave as it came
	changed   bool          // some of this reply left in other words

	unmet  bool     // the choice has ended without an answer: parse.Reading.Unmet
	shown  bool     // some text has left
	reason string   // why it ended
	last   []byte   // the event that finishes the choice, if it leaves as it came
	ids    []string // of the calls that left
}

// heldEvent is the share of one event in what its choice holds.
type heldEvent struct {
	raw, text, thought int  // bytes
	role               bool // it brings the role
	begun              bool // a part of its text has left, with all its other members
}

// take sends what a piece allows for this choice.
func (c *choice) take(part *turn.Part, p *turn.Piece) {
	if part.Reading != nil {
		defer c.end(part.Reading)
	}
	switch {
	case part.Source == nil:
		c.sendHeld(part.Events, part.Holding)
	case p.Raw == nil:
		c.emit(part.Events)
	default:
		c.takeEvent(part, p)
	}
}

func (c *choice) end(r *parse.Reading) { c.unmet, c.reason = r.Unmet(), r.Finish }

// takeEvent sends or holds one event.
func (c *choice) takeEvent(part *turn.Part, p *turn.Piece) {
	o, chunk := c.o, part.Source
	named := chunk.Role != ""
	// Finish tells it in front of the end
	again := named && (c.roleCame || o.roleSent(c.index) || part.Reading != nil)
	c.roleCame = c.roleCame || named
	if !named && !c.holdsRole {
		o.sendRole(c.index)
	}
	if part.Leading && len(c.raw) == 0 {
		o.timer.Reset(o.Keepalive) // the role may still leave with the event that is held
	}
	asItCame := len(p.Doc.Choices) == 1 && !again && len(part.Delta.Calls) == 0 && !chunk.Foreign
	switch {
	case part.Reading != nil:
		c.takeLast(part, p.Raw, asItCame)
	case asItCame && len(c.raw) == 0 && !c.dirty && matchesDelta(part.Events, part.Delta):
		if named {
			o.noteRole(c.index)
		}
		c.sendGap(part.Events)
		c.pass(chunk, p.Raw)
		c.noteSent(part.Events)
	case !asItCame || c.dirty:
		c.dirty = c.dirty || len(c.raw) > 0
		c.changed = true
		c.emit(c.withWaiting(part.Events))
		if !part.Holding {
			c.dropHeld()
		}
	default:
		c.hold(part, p.Raw)
	}
}

// hold keeps an event until its text leaves or changes.
func (c *choice) hold(part *turn.Part, raw []byte) {
	raw = c.renameReasoning(part.Source, raw)
	c.raw = append(c.raw, raw...)
	c.held = append(c.held, heldEvent{raw: len(raw), text: len(part.Delta.Content),
		thought: len(part.Delta.Reasoning), role: part.Source.Role != ""})
	c.holdsRole = c.holdsRole || part.Source.Role != ""
	c.text = append(c.text, part.Delta.Content...)
	c.thought = append(c.thought, part.Delta.Reasoning...)
	switch {
	case part.Holding && c.holdsRole && !c.o.roleSent(c.index):
		for _, e := range part.Events {
			e.Text = strings.Clone(e.Text)
			c.waiting = append(c.waiting, e)
		}
	case len(part.Events) > 0 || len(c.waiting) > 0:
		c.sendHeld(part.Events, part.Holding)
	case !part.Holding:
		c.dropHeld()
	}
}

// release sends what waits for the role chunk.
func (c *choice) release() {
	if len(c.waiting) > 0 {
		c.sendHeld(nil, true)
	}
}

// withWaiting puts the events that have waited in front of others.
func (c *choice) withWaiting(events []parse.Event) []parse.Event {
	if len(c.waiting) == 0 {
		return events
	}
	events = append(c.waiting, events...)
	c.waiting = nil
	return events
}

// sendHeld sends events as the raw events that brought them, as far as their texts agree.
func (c *choice) sendHeld(events []parse.Event, holding bool) {
	rest := c.sendMatching(c.withWaiting(events))
	c.emit(rest)
	if !holding {
		c.dropHeld()
	} else if len(rest) > 0 {
		c.dropHeld()
		c.dirty = true
	}
}

// sendMatching sends the held events whose text is that of the events, and returns what is left of those.
// Then a held event stays if some of its text is still held back.
func (c *choice) sendMatching(events []parse.Event) []parse.Event {
	events = mergeEvents(events)
	c.sendGap(events)
	for len(c.held) > 0 && !c.dirty {
		p := &c.held[0]
		if p.role && c.o.roleSent(c.index) && !p.begun {
			return events // it has left meanwhile
		}
		if p.text == 0 && p.thought == 0 {
			c.sendFirst(nil)
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
			c.sendFirst(events[:2])
			events = events[2:]
		case strings.HasPrefix(e.Text, string(own)):
			c.sendFirst([]parse.Event{{Kind: kind, Text: e.Text[:n]}})
			if e.Text = e.Text[n:]; e.Text == "" {
				events = events[1:]
			}
		case strings.HasPrefix(string(own), e.Text):
			c.sendPart(*e)
			events = events[1:]
		default:
			return events
		}
	}
	return events
}

// mergeEvents joins neighbouring texts, and neighbouring thoughts.
func mergeEvents(events []parse.Event) (out []parse.Event) {
	for _, e := range events {
		if n := len(out); n > 0 && e.Kind != parse.ToolCall && out[n-1].Kind == e.Kind {
			out[n-1].Text += e.Text
		} else {
			out = append(out, e)
		}
	}
	return out
}

// sendFirst sends the first held event, or the rest of its text.
func (c *choice) sendFirst(events []parse.Event) {
	p := c.held[0]
	if p.begun {
		c.emit(events)
	} else {
		c.sendRole(p)
		_ = c.o.to.Raw(c.raw[:p.raw])
		c.o.wrote = true
	}
	c.held, c.raw, c.text, c.thought = c.held[1:], c.raw[p.raw:], c.text[p.text:], c.thought[p.thought:]
	c.holdsRole = slices.ContainsFunc(c.held, func(p heldEvent) bool { return p.role })
	c.noteSent(events)
}

// sendPart sends a part of the text of the first held event. The first part takes the event's other members
// along.
func (c *choice) sendPart(e parse.Event) {
	p := &c.held[0]
	if event, ok := c.withText(c.raw[:p.raw], e); ok && !p.begun {
		c.sendRole(*p)
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

// sendRole sends the role, unless the held event brings it.
func (c *choice) sendRole(p heldEvent) {
	if p.role {
		c.o.noteRole(c.index)
	} else {
		c.o.sendRole(c.index)
	}
}

// withText returns a raw event of this choice with another text.
func (c *choice) withText(raw []byte, e parse.Event) ([]byte, bool) {
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

func (c *choice) dropHeld() {
	c.changed = c.changed || len(c.text)+len(c.thought) > 0 // dropped
	c.raw, c.held, c.text, c.thought, c.dirty, c.holdsRole = c.raw[:0], c.held[:0], c.text[:0], c.thought[:0],
		false, false
}

// matchesDelta reports whether the events hold the text of the delta and nothing else.
func matchesDelta(events []parse.Event, d parse.Delta) bool {
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

// pass sends an event as it came, but for the name of its reasoning.
func (c *choice) pass(ch *openai.Choice, raw []byte) {
	_ = c.o.to.Raw(c.renameReasoning(ch, raw))
	c.o.wrote = true
}

// renameReasoning returns the event with its reasoning under the name that OpenClaw replays.
func (c *choice) renameReasoning(ch *openai.Choice, raw []byte) []byte {
	var edits []openai.Edit
	if ch.Reasoning.Text != "" {
		edits = c.o.doc.ReasoningEdits(ch)
	}
	return c.o.edited(raw, edits)
}

// takeLast handles the event that ends the choice. It leaves with finish, once the reply has been judged.
func (c *choice) takeLast(part *turn.Part, raw []byte, asItCame bool) {
	rest := c.sendMatching(c.withWaiting(part.Events))
	if !asItCame || part.Reading.Finish != part.Source.Finish || len(part.Reading.Refused) > 0 ||
		len(c.held) > 0 || c.dirty || !matchesDelta(rest, part.Delta) {
		c.emit(rest)
		return
	}
	c.noteSent(rest)
	c.last = bytes.Clone(c.renameReasoning(part.Source, raw))
}

// emit sends events as chunks of our own.
func (c *choice) emit(events []parse.Event) {
	if len(events) == 0 {
		return
	}
	c.changed = true
	c.o.sendRole(c.index)
	c.sendGap(events)
	for _, e := range events {
		d := openai.Delta{Choice: c.index}
		switch e.Kind {
		case parse.Text:
			d.Content = e.Text
		case parse.Thought:
			d.Reasoning = e.Text
		case parse.ToolCall:
			d.Calls = []openai.Call{c.newCall(e.Call)}
		}
		_ = c.o.to.Delta(d) // a caller who has left is noticed by the context
	}
	c.o.wrote = true
	c.noteSent(events)
}

// sendGap sends an empty line before text that does not continue what has left, since the model was asked
// again or the text is ours.
func (c *choice) sendGap(events []parse.Event) {
	if c.o.gap && slices.ContainsFunc(events, isText) {
		c.o.gap = false
		c.o.sendRole(c.index)
		_ = c.o.to.Delta(openai.Delta{Choice: c.index, Content: separator})
	}
}

func (c *choice) newCall(newCall *tools.Call) openai.Call {
	id := openai.NewCallID()
	c.ids = append(c.ids, id)
	return openai.Call{Index: len(c.ids) - 1, ID: id, Name: newCall.Name, Arguments: newCall.Arguments}
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
