package openai

import (
	"cmp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Span is the bytes of one JSON value, or of one key with its quotes, in its
// document. The zero Span means absent.
type Span = jsontext.Span

// Edit puts With in place of the span; where From equals To it inserts.
type Edit struct {
	Span
	With []byte
}

// Apply returns a new document with the edits made. They may come unsorted;
// insertions at one place keep their order. Edits that overlap are a mistake of
// the program, and panic. Without edits it returns doc itself.
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

// AppendEdited appends to dst what Apply makes of doc.
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

// Members calls each for every member of the object at the span, in order. A
// value that is no object has no members. key is decoded and valid only during
// the call: switch on string(key), which copies nothing.
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

// Elements calls each for every element of the array at the span, in order. A
// value that is no array has no elements.
func Elements(doc []byte, at Span, each func(val Span)) error {
	s := scan(doc, at)
	for ok := s.Enter('['); ok && s.Next(']'); {
		if val := s.Skip(); s.Err == nil {
			each(val)
		}
	}
	return s.End()
}

// Remove returns the edits that take the members for which drop is true out of
// the object at the span, with their commas. Use one Remove per object: the
// edits of two would overlap.
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

// Set returns the edit that gives a member of the object a value: in place of the one it
// had, or as Insert does where that is absent.
func Set(doc []byte, object, was Span, key string, value []byte) Edit {
	if was.Present() {
		return Edit{Span: was, With: value}
	}
	return Insert(doc, object, key, value)
}

// Insert returns the edit that puts a member in front of the others of the
// object at the span. It must not be combined with a Remove that leaves none.
func Insert(doc []byte, object Span, key string, value []byte) Edit {
	member := append(AppendString(nil, key), ':')
	member = append(member, value...)
	s := scan(doc, Span{From: object.From + 1, To: object.To})
	if s.Peek() != '}' {
		member = append(member, ',')
	}
	return Edit{Span: Span{From: object.From + 1, To: object.From + 1}, With: member}
}
