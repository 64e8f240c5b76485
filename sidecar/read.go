package sidecar

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// object is where the members of an object stand; of members with one name the last.
type object map[string]openai.Span

// members reads the object at a span. Any other value has none.
func members(doc []byte, at openai.Span) (object, error) {
	o := object{}
	err := openai.Members(doc, at, func(key []byte, _, val openai.Span) { o[string(key)] = val })
	return o, err
}

// names are in an order that is always the same.
func (o object) names() []string { return slices.Sorted(maps.Keys(o)) }

// fail ends the translation, unless something has ended it already. What is wrong follows the param.
func (r *request) fail(param, format string, about ...any) {
	if r.err == nil {
		r.err = openai.InvalidRequest(param, param+" "+fmt.Sprintf(format, about...))
	}
}

// wrong fails because of the value at a span, or because there is none in the object around it.
func (r *request) wrong(param string, at, around openai.Span, must string) {
	switch {
	case r.err != nil:
	case at.Present():
		r.err = openai.Wrong(r.doc, at, must, param)
	default:
		r.err = openai.Missing(r.doc, around, param)
	}
}

// kind is the first character of the value at a span, 0 where there is none.
func (r *request) kind(at openai.Span) byte {
	if !at.Present() {
		return 0
	}
	return r.doc[at.From]
}

// given reports that there is a value at the span, other than null.
func (r *request) given(at openai.Span) bool { return at.Present() && r.kind(at) != 'n' }

// word is the string at a span; "" if it is none.
func (r *request) word(at openai.Span) string {
	if !at.Present() {
		return ""
	}
	text, _ := openai.Text(r.doc, at)
	return text
}

// object reads the object at a span, which may be absent.
func (r *request) object(param string, at openai.Span) object {
	if !r.given(at) {
		return nil
	}
	if r.kind(at) != '{' {
		r.wrong(param, at, at, "an object")
	}
	o, _ := members(r.doc, at) // the body has been scanned: there is no error
	return o
}

// each goes through the array at a span, which may be absent.
func (r *request) each(param string, at openai.Span, do func(param string, at openai.Span)) {
	if !r.given(at) {
		return
	}
	if r.kind(at) != '[' {
		r.wrong(param, at, at, "an array")
	}
	i := 0
	_ = openai.Elements(r.doc, at, func(val openai.Span) { // as above
		if r.err == nil {
			do(fmt.Sprintf("%s[%d]", param, i), val)
		}
		i++
	})
}

// text is the string at a span with its quotes, which must be there.
func (r *request) text(param string, at, around openai.Span) []byte {
	if r.kind(at) != '"' {
		r.wrong(param, at, around, "a string")
		return []byte(`""`)
	}
	return at.Of(r.doc)
}

// put adds a member to the chat request.
func (r *request) put(name string, value []byte) {
	if len(r.chat) > 1 {
		r.chat = append(r.chat, ',')
	}
	r.chat = append(append(openai.AppendString(r.chat, name), ':'), value...)
}

// copy adds those of the named members that are said to an object of the chat request.
func (r *request) copy(from object, names ...string) {
	for _, name := range names {
		at := from[name]
		if !r.given(at) {
			continue
		}
		if r.chat[len(r.chat)-1] != '{' {
			r.chat = append(r.chat, ',')
		}
		r.chat = append(append(openai.AppendString(r.chat, name), ':'), at.Of(r.doc)...)
	}
}

// joined is several JSON strings as one, with something between them that needs no escape.
func joined(parts [][]byte, between string) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	out := []byte{'"'}
	for i, p := range parts {
		if i > 0 {
			out = append(out, between...)
		}
		out = append(out, p[1:len(p)-1]...)
	}
	return append(out, '"')
}
