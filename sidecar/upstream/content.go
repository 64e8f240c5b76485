package upstream

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// content masks the control tokens in a message's content, makes one string of
// text parts where the server would split them, and adds tail at its end.
func (d *draft) content(m *openai.Message, tail string) {
	doc := d.q.Body
	kind := byte('n')
	if m.Content.Present() {
		kind = doc[m.Content.From]
	}
	switch kind {
	case '"':
		d.mask(m.Content)
		if tail != "" {
			d.insert(m.Content.To-1, inside(tail))
		}
	case '[':
		d.parts(m.Content, tail)
	case 'n':
		if tail == "" {
			return
		}
		value := openai.AppendString(nil, Masked(tail))
		d.edits = append(d.edits, openai.Set(doc, m.Span, m.Content, "content", value))
	}
}

// inside is text as it stands within the quotes of a JSON string.
func inside(text string) []byte {
	quoted := openai.AppendString(nil, Masked(text))
	return quoted[1 : len(quoted)-1]
}

// mask masks the control tokens of the JSON string at a span.
func (d *draft) mask(at openai.Span) {
	text := at.Of(d.q.Body)
	if !mayHold(text) {
		return
	}
	for _, found := range controlToken().FindAllSubmatchIndex(text, -1) {
		d.insert(at.From+found[3], []byte(zeroWidthSpace)) // behind its "<"
	}
}

func (d *draft) parts(at openai.Span, tail string) {
	doc := d.q.Body
	if d.srv.FlattenParts {
		if text, ok := contentText(doc, at); ok {
			d.put(at, openai.AppendString(nil, Masked(text+tail)))
			return
		}
	}
	count := 0
	_ = openai.Elements(doc, at, func(part openai.Span) {
		count++
		if doc[part.From] == '"' {
			d.mask(part)
		}
		_ = openai.Members(doc, part, func(key []byte, _, val openai.Span) {
			if string(key) == "text" && doc[val.From] == '"' {
				d.mask(val)
			}
		})
	})
	if tail == "" {
		return
	}
	part := append([]byte(`{"type":"text","text":"`), inside(tail)...)
	if count > 0 {
		part = append([]byte(","), part...)
	}
	d.insert(at.To-1, append(part, `"}`...))
}
