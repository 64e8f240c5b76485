package jsontext

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Canon returns a document in one spelling: no blanks, keys in order, of equal keys the last, as few
// escapes as possible. Numbers stay as written. ok reports that it is one JSON value.
func Canon(doc []byte) (canon []byte, ok bool) {
	s := Scanner{Doc: doc}
	canon = appendCanon(make([]byte, 0, len(doc)), &s)
	return canon, s.End() == nil
}

// AppendCanon appends Canon of a document, or the document itself if it is not one JSON value.
func AppendCanon(dst, doc []byte) []byte {
	s := Scanner{Doc: doc}
	if canon := appendCanon(slices.Grow(dst, len(doc)), &s); s.End() == nil {
		return canon
	}
	return append(dst, doc...)
}

func appendCanon(dst []byte, s *Scanner) []byte {
	switch s.Peek() {
	case '{':
		return appendObject(dst, s)
	case '[':
		dst = append(dst, '[')
		for ok := s.Enter('['); ok && s.Next(']'); dst = append(dst, ',') {
			dst = appendCanon(dst, s)
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), ']')
	case '"':
		at := s.Skip()
		return appendText(dst, at.Of(s.Doc))
	}
	at := s.Skip()
	return append(dst, at.Of(s.Doc)...)
}

// appendText appends a text that stands in its quotes. The other escapes have one spelling.
func appendText(dst, quoted []byte) []byte {
	switch {
	case len(quoted) < len(`""`):
		return dst // the document is cut
	case !respelt(quoted) && utf8.Valid(quoted):
		return append(dst, quoted...)
	}
	return AppendBytes(dst, UnquoteBytes(quoted[1:len(quoted)-1]))
}

// respelt reports whether a text contains an escape with another spelling.
func respelt(quoted []byte) bool {
	for i := bytes.IndexByte(quoted, '\\'); i >= 0 && i+1 < len(quoted); i = bytes.IndexByte(quoted, '\\') {
		if quoted[i+1] == 'u' || quoted[i+1] == '/' {
			return true
		}
		quoted = quoted[i+2:]
	}
	return false
}

func appendObject(dst []byte, s *Scanner) []byte {
	type member struct {
		key      []byte
		from, to int // in the output of the object
	}
	var few [8]member
	all, begin := few[:0], len(dst)
	dst = append(dst, '{')
	for ok := s.Enter('{'); ok && s.Next('}'); dst = append(dst, ',') {
		key, _ := s.Key()
		from := len(dst) - begin
		dst = appendCanon(append(AppendBytes(dst, key), ':'), s)
		all = append(all, member{key, from, len(dst) - begin})
	}
	byKey := func(a, b member) int { return bytes.Compare(a.key, b.key) }
	rising := true
	for i := range all[min(1, len(all)):] {
		rising = rising && byKey(all[i], all[i+1]) < 0
	}
	if !rising {
		written := bytes.Clone(dst[begin:])
		dst = append(dst[:begin], '{')
		slices.SortStableFunc(all, byKey)
		for i, m := range all {
			if i+1 == len(all) || byKey(m, all[i+1]) != 0 {
				dst = append(append(dst, written[m.from:m.to]...), ',')
			}
		}
	}
	return append(bytes.TrimSuffix(dst, []byte(",")), '}')
}
