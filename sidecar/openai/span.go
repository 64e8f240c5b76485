package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Span is the place of a JSON value, or of a key with its quotes. Zero: absent.
type Span = jsontext.Span

// Edit replaces the span by With. If From equals To, it inserts.
type Edit struct {
	Span
	With []byte
}

// Apply returns a new document with the edits, or doc itself without any. Edits may be unsorted; insertions
// at one place keep their order. Overlapping edits panic.
func Apply(doc []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return doc
	}
	size := len(doc)
	for _, e := range edits {
		size += len(e.With) - (e.To - e.From)
	}
	return AppendEdited(make([]byte, 0, size), doc, edits)
}

// AppendEdited appends the result of Apply to dst.
func AppendEdited(dst, doc []byte, edits []Edit) []byte {
	order := func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }
	if !slices.IsSortedFunc(edits, order) {
		edits = slices.Clone(edits)
		slices.SortStableFunc(edits, order)
	}
	done := 0
	for _, e := range edits {
		dst = append(dst, doc[done:e.From]...)
		dst = append(dst, e.With...)
		done = e.To
	}
	return append(dst, doc[done:]...)
}

// Members calls each for the members of the object at the span, in order; other values have none. key is
// decoded and valid during the call: switch on string(key), which copies nothing.
func Members(doc []byte, at Span, each func(key []byte, keySpan, val Span)) error {
	s := scan(doc, at)
	for ok := s.Enter('{'); ok && s.Next('}'); {
		key, keySpan := s.Key()
		if val := s.Skip(); s.Err == nil {
			each(key, keySpan, val)
		}
	}
	return s.End()
}

// Elements calls each for the elements of the array at the span, in order; other values have none.
func Elements(doc []byte, at Span, each func(val Span)) error {
	s := scan(doc, at)
	for ok := s.Enter('['); ok && s.Next(']'); {
		if val := s.Skip(); s.Err == nil {
			each(val)
		}
	}
	return s.End()
}

// Remove returns the edits that remove the members for which drop is true, with their commas. There must be
// one Remove per object, since two would overlap.
func Remove(doc []byte, object Span, drop func(key []byte) bool) []Edit {
	var edits []Edit
	// last: where the member before ends; open: it is dropped up to the next key
	kept, last, open := false, 0, false
	err := Members(doc, object, func(key []byte, keySpan, val Span) {
		if open {
			edits[len(edits)-1].To = keySpan.From
			open = false
		}
		switch {
		case !drop(key):
			kept = true
		case kept:
			edits = append(edits, Edit{Span: Span{From: last, To: val.To}})
		default:
			edits = append(edits, Edit{Span: Span{From: keySpan.From, To: val.To}})
			open = true
		}
		last = val.To
	})
	if err != nil {
		return nil
	}
	return edits
}

// Set returns the edit that sets a member: in place of its value was, or as Insert if that is absent.
func Set(doc []byte, object, was Span, key string, value []byte) Edit {
	if was.Present() {
		return Edit{Span: was, With: value}
	}
	return Insert(doc, object, key, value)
}

// Insert returns the edit that puts a member before the others of the object. It must not be combined with
// a Remove that leaves none.
func Insert(doc []byte, object Span, key string, value []byte) Edit {
	member := append(AppendString(nil, key), ':')
	member = append(member, value...)
	s := scan(doc, Span{From: object.From + 1, To: object.To})
	if s.Peek() != '}' {
		member = append(member, ',')
	}
	return Edit{Span: Span{From: object.From + 1, To: object.From + 1}, With: member}
}

// Text returns the JSON string at the span, decoded like encoding/json; false: another value.
func Text(doc []byte, at Span) (string, bool) { return jsontext.Text(doc, at) }

// AppendString appends s as a JSON string with few escapes (none for HTML). Broken UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte { return jsontext.AppendString(dst, s) }

// explain says where and why doc is not JSON: "line 3, column 14: invalid character …". The scanner,
// which found err, knows the depth limit; encoding/json words the rest better.
func explain(doc []byte, err error) string {
	var bad *json.SyntaxError
	var found *jsontext.SyntaxError
	if !errors.As(json.Unmarshal(doc, new(json.RawMessage)), &bad) && errors.As(err, &found) {
		return place(doc, found.Offset) + ": " + found.Why
	}
	at := int(bad.Offset)
	if !strings.HasPrefix(bad.Error(), "unexpected end") {
		at-- // the offset is behind the character it complains about
	}
	return place(doc, at) + ": " + bad.Error()
}

// place describes a byte offset for people.
func place(doc []byte, at int) string {
	head := string(doc[:min(max(at, 0), len(doc))])
	line := head[strings.LastIndexByte(head, '\n')+1:]
	return fmt.Sprintf("line %d, column %d", strings.Count(head, "\n")+1, utf8.RuneCountInString(line)+1)
}

// scanner reads the values of requests and replies.
type scanner struct {
	jsontext.Scanner
	words jsontext.Block
}

// scan returns a scanner of the value at the span.
func scan(doc []byte, at Span) scanner {
	return scanner{Scanner: jsontext.Scanner{Doc: doc[:at.To], Pos: at.From}}
}

// word reads a string, "" for other values. Common words cost no allocation.
func (s *scanner) word() (string, Span) {
	at := s.Skip()
	if s.Err != nil || s.Doc[at.From] != '"' {
		return "", at
	}
	raw := s.Doc[at.From+1 : at.To-1]
	for _, w := range words {
		if string(raw) == w {
			return w, at
		}
	}
	return s.words.Text(raw), at
}

// int reads a whole number, or for other values.
func (s *scanner) int(or int) int {
	at := s.Skip()
	if s.Err != nil || at.To-at.From > 18 {
		return or
	}
	n, err := strconv.Atoi(string(at.Of(s.Doc)))
	if err != nil {
		return or
	}
	return n
}

// null reports whether the value just read is null.
func (s *scanner) null(at Span) bool { return s.Err == nil && s.Doc[at.From] == 'n' }

// words are common in requests and replies.
var words = [...]string{"", "system", "developer", "user", "assistant", "tool", "function", "auto",
	"chat.completion", "chat.completion.chunk", "stop", "length", "tool_calls"}
