package upstream

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// trimmed shortens the result of a tool and adds head and tail. It is false where nothing is
// too long; then nothing was edited.
func (d *draft) trimmed(m *openai.Message, tool string, bounds func(string, int) tools.TrimBounds,
	head, tail string) bool {
	doc := d.q.Body
	size := m.Content.To - m.Content.From
	if b := bounds(tool, size); b.Chars == 0 || size <= b.Chars && b.HeadLines+b.TailLines == 0 {
		return false // most results; no text has more characters than bytes
	}
	spans, texts := d.q.Texts(m)
	chars := 0
	for _, t := range texts {
		chars += utf8.RuneCountInString(t)
	}
	short, cut := tools.TrimBlocks(texts, bounds(tool, chars))
	if !cut {
		return false
	}
	list := doc[m.Content.From] == '['
	if list && d.srv.FlattenParts {
		if _, ok := d.text(m.Content); ok {
			for _, p := range gjson.ParseBytes(m.Content.Of(doc)).Array() {
				if text, isText := partText(p); !isText {
					short = append(short, text)
				}
			}
			d.put(m.Content, openai.AppendString(nil, Masked(head+strings.Join(short, "\n")+tail)))
			return true
		}
	}
	if list {
		d.unread(m.Content)
	}
	short[0] = head + short[0]
	for i, at := range spans {
		if i == len(spans)-1 {
			short[i] += tail
		}
		d.put(at, openai.AppendString(nil, Masked(short[i])))
	}
	return true
}
