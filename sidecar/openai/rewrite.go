package openai

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Call is a complete tool call for the caller. Arguments is JSON text.
type Call struct {
	Index     int
	ID, Name  string
	Arguments []byte
}

// Rewrite holds the new values of a choice. Zero fields keep what the server wrote.
type Rewrite struct {
	Content   *string // "" becomes null if there are Calls
	Reasoning *string // for reasoning_content and the name that the server used; "" becomes null
	Calls     []Call  // empty but not nil: none
	Finish    string
}

// Edits returns the edits that make choice i say w. There are none for a choice without a message or delta.
func (c *Completion) Edits(i int, w Rewrite) []Edit {
	ch := &c.Choices[i]
	if !ch.Body.Present() {
		return nil
	}
	var edits []Edit
	put := func(object, value Span, key string, with []byte) {
		edits = append(edits, Set(c.Doc, object, value, key, with))
	}
	if w.Content != nil {
		text := AppendString(nil, *w.Content)
		if *w.Content == "" && len(w.Calls) > 0 {
			text = []byte("null")
		}
		put(ch.Body, ch.Content.Value, "content", text)
	}
	if w.Reasoning != nil {
		text := appendNullable(nil, *w.Reasoning)
		put(ch.Body, ch.sources[0].Value, reasoningKeys[0], text)
		for _, part := range ch.sources[1:details] {
			if part.Present {
				edits = append(edits, Edit{part.Value, text})
			}
		}
		if part := ch.sources[details]; part.Present {
			edits = append(edits, Edit{part.Value, []byte("[]")})
		}
	}
	if w.Calls != nil && ch.LegacySpan.Present() {
		put(ch.Body, ch.LegacySpan, "function_call", []byte("null"))
	}
	if ids, only := c.idEdits(ch, w.Calls); only {
		edits = append(edits, ids...)
	} else if len(w.Calls) > 0 || w.Calls != nil && len(ch.Calls) > 0 && ch.CallsSpan.Present() {
		put(ch.Body, ch.CallsSpan, "tool_calls", appendCalls(nil, w.Calls, ch.Streamed))
	}
	if w.Finish != "" {
		put(ch.Span, ch.FinishSpan, "finish_reason", AppendString(nil, w.Finish))
	}
	return edits
}

// idEdits returns the edits that give the calls of a choice other ids; false: more than the ids differs.
func (c *Completion) idEdits(ch *Choice, calls []Call) (edits []Edit, only bool) {
	if len(calls) == 0 || len(calls) != len(ch.Calls) || ch.Foreign {
		return nil, false
	}
	for i := range calls {
		was, to := &ch.Calls[i], &calls[i]
		if was.Name != to.Name || !bytes.Equal(was.Arguments, to.Arguments) || !was.Typed ||
			!was.IDSpan.Present() || c.Doc[was.ArgsSpan.From] != '"' {
			return nil, false
		}
		if was.ID != to.ID {
			edits = append(edits, Edit{was.IDSpan, AppendString(nil, to.ID)})
		}
	}
	return edits, true
}

// ReasoningEdits returns the edits that put the reasoning of a choice under reasoning_content, the only
// name that OpenClaw sends back: usually a renamed key. A reasoning_content with text stays, and so does
// its copy.
func (c *Completion) ReasoningEdits(ch *Choice) []Edit {
	to, from := ch.sources[0], ch.Reasoning
	if from.Text == "" && !from.Skipped || to.Present && hasText(c.Doc, to.Value) {
		return nil
	}
	text := from.Value.Of(c.Doc)
	array := text[0] == '['
	if array {
		text = AppendString(nil, from.Text)
	}
	if to.Present || array {
		return []Edit{Set(c.Doc, ch.Body, to.Value, reasoningKeys[0], text)}
	}
	return []Edit{{from.Key, AppendString(nil, reasoningKeys[0])}}
}

// DropPrefix returns the edit that removes the first n bytes of a content; false: the document does not
// hold them as plain characters.
func (c *Completion) DropPrefix(i, n int) (Edit, bool) {
	ch := &c.Choices[i]
	from := ch.Content.Value.From + 1
	if !ch.Content.Value.Present() || from+n >= ch.Content.Value.To ||
		string(c.Doc[from:from+n]) != ch.Content.Text[:n] ||
		strings.IndexByte(ch.Content.Text[:n], '\\') >= 0 {
		return Edit{}, false
	}
	return Edit{Span: Span{From: from, To: from + n}}, true
}

// hasText reports whether the value is a string other than "".
func hasText(doc []byte, at Span) bool {
	return doc[at.From] == '"' && at.To > at.From+2
}

// appendCalls appends tool_calls, with an index in a delta.
func appendCalls(dst []byte, calls []Call, index bool) []byte {
	dst = append(dst, '[')
	for i, call := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if index {
			dst = strconv.AppendInt(append(dst, `"index":`...), int64(call.Index), 10)
			dst = append(dst, ',')
		}
		dst = AppendString(append(dst, `"id":`...), call.ID)
		dst = AppendString(append(dst, `,"type":"function","function":{"name":`...), call.Name)
		dst = jsontext.AppendBytes(append(dst, `,"arguments":`...), call.Arguments)
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}
