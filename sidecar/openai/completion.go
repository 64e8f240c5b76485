package openai

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Completion is one JSON document that a server answers with: a whole
// chat.completion, or one chat.completion.chunk of a stream.
type Completion struct {
	Doc                []byte
	Root               Span
	ID, Model, Created Span
	Choices            []Choice // as they stand in the document; reused by the next Parse
	Usage              Span     // the usage object
	Timings            Span     // llama.cpp's timings object
	Err                Span     // error when it says something, or a whole flat {"object":"error",…}

	texts jsontext.Block
}

// Choice is one entry of choices. Body is its message or delta, when that is an
// object.
type Choice struct {
	Span
	Body       Span
	Streamed   bool // Body is a delta
	Index      int
	Role       string
	Content    Part
	Reasoning  Part // of reasoning_content, reasoning, reasoning_details and thinking the first with text
	CallsSpan  Span // tool_calls, null too
	LegacySpan Span // function_call, where it holds a call
	Foreign    bool // content stands in parts or as a refusal, or a call in another form than callers read
	Calls      []CallPart
	Finish     string
	FinishSpan Span // finish_reason, null too

	sources [len(reasoningKeys)]Part // by reasoningKeys, without Text
}

// reasoningKeys are the names under which servers send the chain of thought; the
// first is the one that OpenClaw sends back. See the package sidecar/ruleset for
// which server takes which.
var reasoningKeys = [...]string{"reasoning_content", "reasoning", "thinking", "reasoning_details"}

const details = len(reasoningKeys) - 1 // an array of objects with a text each

// Part is a text member of a message or delta. Text is "" for null, "" and
// anything that is not text. Present: the key is there. Skipped: there is text,
// and it was not decoded.
type Part struct {
	Key, Value Span
	Text       string
	Present    bool
	Skipped    bool
}

// completionParser fills a Completion while it scans.
type completionParser struct {
	scanner
	c     *Completion
	plain func(raw []byte) bool
}

// Parse reads doc, which must stay as it is while c is in use. It reuses the
// memory of c. What it does not know, and what has another type than it should,
// it passes over; the error is a *SyntaxError.
func (c *Completion) Parse(doc []byte) error { return c.ParseSkipping(doc, nil) }

// ParseSkipping is Parse, but does not decode reasoning whose raw JSON string,
// quotes included, is plain: of a long reply that is a third of the work.
func (c *Completion) ParseSkipping(doc []byte, plain func(raw []byte) bool) error {
	*c = Completion{Doc: doc, Choices: c.Choices[:0], texts: c.texts}
	p := completionParser{scanner: scanner{jsontext.Scanner{Doc: doc}}, c: c, plain: plain}
	p.completion()
	return p.End()
}

func (p *completionParser) completion() {
	c := p.c
	flat := false
	p.Peek()
	c.Root.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "id":
			c.ID = p.Skip()
		case "model":
			c.Model = p.Skip()
		case "created":
			c.Created = p.Skip()
		case "object":
			var object string
			object, _ = p.word()
			flat = object == "error"
		case "choices":
			c.Choices = c.Choices[:0]
			for ok := p.Enter('['); ok && p.Next(']'); {
				p.choice()
			}
		case "usage":
			c.Usage = p.object()
		case "timings":
			c.Timings = p.object()
		case "error":
			p.Peek()
			from := p.Pos
			if _, said := p.scalar(); said {
				c.Err = Span{From: from, To: p.Pos}
			}
		}
	}
	c.Root.To = p.Pos
	if flat && !c.Err.Present() {
		c.Err = c.Root
	}
}

// object is the span of a value if it is an object.
func (p *completionParser) object() Span {
	if p.Peek() != '{' {
		return Span{}
	}
	return p.Skip()
}

// choice reads one entry of choices into the next free Choice.
func (p *completionParser) choice() {
	if p.Peek() != '{' {
		p.Skip()
		return
	}
	c, n := p.c, len(p.c.Choices)
	if n == cap(c.Choices) {
		c.Choices = append(c.Choices, Choice{})
	}
	c.Choices = c.Choices[:n+1]
	ch := &c.Choices[n]
	*ch = Choice{Span: Span{From: p.Pos}, Index: n, Calls: ch.Calls[:0]}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "index":
			ch.Index = p.int(n)
		case "delta":
			p.body(ch)
			ch.Streamed = true
		case "message":
			p.body(ch)
			ch.Streamed = false
		case "finish_reason":
			ch.Finish, ch.FinishSpan = p.word()
		}
	}
	ch.To = p.Pos
}

// body reads a message or a delta.
func (p *completionParser) body(ch *Choice) {
	if ch.Body.Present() {
		*ch = Choice{Span: ch.Span, Index: ch.Index, Calls: ch.Calls[:0], Finish: ch.Finish,
			FinishSpan: ch.FinishSpan}
	}
	if p.Peek() != '{' {
		return
	}
	ch.Body.From = p.Pos
	refusal := ""
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, at := p.Key()
		switch string(key) {
		case "role":
			ch.Role, _ = p.word()
		case "content":
			ch.Content = Part{Key: at, Present: true}
			if p.Peek() == '[' {
				p.parts(ch)
			} else {
				ch.Content.Value = p.Skip()
				ch.Content.Text = p.textOf(ch.Content.Value)
			}
		case "refusal": // clients show it to a user as text only
			refusal, _ = p.word()
		case "tool_calls":
			p.calls(ch)
		case "function_call":
			p.legacy(ch)
		default:
			if source := slices.Index(reasoningKeys[:], string(key)); source >= 0 {
				p.reasoning(ch, source, at)
			}
		}
	}
	ch.Body.To = p.Pos
	if refusal != "" && ch.Content.Text == "" {
		ch.Content.Text, ch.Foreign = refusal, true
	}
}

// textOf is a value that was read; "" when it is no string.
func (p *completionParser) textOf(at Span) string {
	if p.Err != nil || p.Doc[at.From] != '"' {
		return ""
	}
	return p.c.texts.Text(p.Doc[at.From+1 : at.To-1])
}

func (p *completionParser) reasoning(ch *Choice, source int, key Span) {
	part := Part{Key: key, Value: p.Skip(), Present: p.Err == nil}
	ch.sources[source] = part
	if !part.Present || ch.Reasoning.Text != "" || ch.Reasoning.Skipped {
		return
	}
	if p.plain != nil && source != details && hasText(p.Doc, part.Value) && p.plain(part.Value.Of(p.Doc)) {
		part.Skipped = true
		ch.Reasoning = part
		return
	}
	if source == details {
		part.Text = detailsText(p.Doc, part.Value)
	} else {
		part.Text = p.textOf(part.Value)
	}
	if part.Text != "" || !ch.Reasoning.Present {
		ch.Reasoning = part
	}
}

// detailsText joins the texts of reasoning_details.
func detailsText(doc []byte, at Span) string {
	var out strings.Builder
	s := scan(doc, at)
	for ok := s.Enter('['); ok && s.Next(']'); {
		for ok := s.Enter('{'); ok && s.Next('}'); {
			if key, _ := s.Key(); string(key) == "text" {
				text, _ := Text(doc, s.Skip())
				out.WriteString(text)
			}
		}
	}
	return out.String()
}
