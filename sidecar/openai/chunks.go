package openai

import (
	"bytes"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Chunks reads the chunks of one stream. Most of them differ from the one before in one text only: of these
// it scans that text, and compares what is around it.
//
//	{"id":"1","choices":[{"index":0,"delta":{"content":"The "}}]}
//	{"id":"1","choices":[{"index":0,"delta":{"content":"file"}}]}
type Chunks struct {
	Last Completion

	around   []byte    // Last without its text; empty: it has none, or several
	from, to int       // where the text begins, and where its closing quote ends
	part     *Part     // of Last, that has the text
	call     *CallPart // that has it; nil: part has it
}

// Parse reads the next chunk into Last, as Completion.Parse does. texts keeps its short texts.
func (c *Chunks) Parse(doc []byte, texts *jsontext.Block) error {
	c.Last.texts, *texts = *texts, jsontext.Block{}
	defer func() { *texts, c.Last.texts = c.Last.texts, jsontext.Block{} }()
	if c.repeats(doc) {
		return nil
	}
	c.around = c.around[:0]
	if err := c.Last.Parse(doc); err != nil {
		return err
	}
	if at := c.findText(); at.Present() {
		c.from, c.to = at.From+1, at.To
		c.around = append(append(slices.Grow(c.around, len(doc)), doc[:c.from]...), doc[c.to-1:]...)
	}
	return nil
}

// Release forgets the chunk, but not what the next one may repeat.
func (c *Chunks) Release() {
	c.Last.Doc = nil
	c.setText("", nil)
}

func (c *Chunks) setText(text string, arguments []byte) {
	switch {
	case len(c.around) == 0:
	case c.call != nil:
		c.call.Arguments = arguments
	default:
		c.part.Text = text
	}
}

// repeats reads a chunk that is the last one with another text.
func (c *Chunks) repeats(doc []byte) bool {
	end := len(doc) - (len(c.around) - c.from)
	if len(c.around) == 0 || end <= c.from || !bytes.HasPrefix(doc, c.around[:c.from]) ||
		!bytes.HasSuffix(doc, c.around[c.from:]) {
		return false
	}
	s := jsontext.Scanner{Doc: doc, Pos: c.from - 1}
	if at := s.Skip(); at.To != end+1 || s.Err != nil {
		return false
	}
	if c.call != nil {
		c.call.Arguments = c.Last.texts.Bytes(doc[c.from:end])
	} else {
		c.part.Text = c.Last.texts.Text(doc[c.from:end])
	}
	c.Last.Doc = doc
	c.Last.stretch(c.to, end+1-c.to)
	c.to = end + 1
	return true
}

// findText finds the only text of the last chunk; absent: it has none, or several.
func (c *Chunks) findText() (at Span) {
	c.part, c.call = nil, nil
	if len(c.Last.Choices) != 1 || c.Last.Choices[0].Foreign {
		return Span{}
	}
	ch, texts := &c.Last.Choices[0], 0
	for _, part := range []*Part{&ch.Content, &ch.Reasoning} {
		if part.Text != "" {
			c.part, at = part, part.Value
			texts++
		}
	}
	for i := range ch.Calls {
		if call := &ch.Calls[i]; len(call.Arguments) > 0 {
			c.call, at = call, call.ArgsSpan
			texts++
		}
	}
	if texts != 1 || c.Last.Doc[at.From] != '"' {
		return Span{}
	}
	return at
}

// stretch moves what is behind an offset, or ends there, by so many bytes.
func (c *Completion) stretch(at, by int) {
	spans := append(make([]*Span, 0, 32), &c.Root, &c.ID, &c.Model, &c.Created, &c.Usage, &c.Timings, &c.Err)
	for i := range c.Choices {
		ch := &c.Choices[i]
		spans = append(spans, &ch.Span, &ch.Body, &ch.Content.Key, &ch.Content.Value, &ch.Reasoning.Key,
			&ch.Reasoning.Value, &ch.CallsSpan, &ch.LegacySpan, &ch.FinishSpan)
		for i := range ch.sources {
			spans = append(spans, &ch.sources[i].Key, &ch.sources[i].Value)
		}
		for i := range ch.Calls {
			call := &ch.Calls[i]
			spans = append(spans, &call.Span, &call.IDSpan, &call.NameSpan, &call.ArgsSpan)
		}
	}
	for _, s := range spans {
		if s.From >= at {
			s.From += by
		}
		if s.To >= at {
			s.To += by
		}
	}
}
