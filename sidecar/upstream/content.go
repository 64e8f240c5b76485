package upstream

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// content masks the control tokens in a message's content, makes one string of
// its parts where the server would split them, puts a sentence in place of what the model
// cannot read, and adds head and tail. A message without content and calls gets an empty one.
func (d *draft) content(m *openai.Message, head, tail string) {
	doc := d.q.Body
	kind := byte('n')
	if m.Content.Present() {
		kind = doc[m.Content.From]
	}
	switch kind {
	case '"':
		if head != "" {
			d.insert(m.Content.From+1, inside(head))
		}
		d.mask(m.Content)
		if tail != "" {
			d.insert(m.Content.To-1, inside(tail))
		}
	case '[':
		d.parts(m.Content, head, tail)
	case 'n':
		if head+tail == "" && m.CallsSpan.Present() {
			return
		}
		value := openai.AppendString(nil, Masked(head+tail))
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
	for _, found := range controlToken.FindAllSubmatchIndex(text, -1) {
		d.insert(at.From+found[3], []byte(zeroWidthSpace)) // behind its "<"
	}
}

func (d *draft) parts(at openai.Span, head, tail string) {
	doc := d.q.Body
	if d.srv.FlattenParts {
		if text, ok := d.text(at); ok {
			d.put(at, openai.AppendString(nil, Masked(head+text+tail)))
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
	d.unread(at)
	if head != "" {
		part := textPart(head)
		if count > 0 {
			part = append(part, ',')
		}
		d.insert(at.From+1, part)
	}
	if tail != "" {
		part := textPart(tail)
		if count > 0 || head != "" {
			part = append([]byte(","), part...)
		}
		d.insert(at.To-1, part)
	}
}

func textPart(text string) []byte {
	return append(append([]byte(`{"type":"text","text":"`), inside(text)...), `"}`...)
}

// unread puts a sentence in place of each part that the model cannot read.
func (d *draft) unread(at openai.Span) {
	if d.images {
		return
	}
	doc := d.q.Body
	_ = openai.Elements(doc, at, func(part openai.Span) {
		if text, isText := partText(gjson.ParseBytes(part.Of(doc))); !isText {
			d.put(part, textPart(text))
		}
	})
}

// text is the text of a content. It is false where the model can read what is no text.
func (d *draft) text(at openai.Span) (string, bool) {
	text, all := contentText(d.q.Body, at)
	return text, all || !d.images && d.q.Body[at.From] == '['
}

// partText is the text of a part of a content; where it is of another kind, a sentence in its place.
func partText(part gjson.Result) (text string, isText bool) {
	if part.Type == gjson.String {
		return part.Str, true
	}
	if text := part.Get("text"); text.Type == gjson.String {
		return text.Str, true
	}
	switch kind := part.Get("type").Str; {
	case strings.Contains(kind, "image"):
		return "[An image stands here. You cannot see it.]", false
	case strings.Contains(kind, "audio"):
		return "[Sound stands here. You cannot hear it.]", false
	case kind == "refusal":
		return part.Get("refusal").String(), false
	}
	return "[Something stands here that is no text. You cannot read it.]", false
}
