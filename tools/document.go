package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// document shortens a JSON object or list, which stays valid: it keeps the first items of lists and the
// beginning of strings. ok is false for other texts.
func document(text string, b TrimBounds) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' || !gjson.Valid(trimmed) ||
		!utf8.ValidString(trimmed) {
		return "", false
	}
	all := utf8.RuneCountInString(trimmed)
	doc := gjson.Parse(trimmed)
	s := shrink{items: b.Items, strings: b.Strings}
	if s.items <= 0 {
		s.items = longest(doc)
	}
	if s.strings <= 0 {
		s.strings = max(b.Chars, 1)
	}
	for range 64 {
		out := s.value(doc, 0)
		if b.Chars == 0 || utf8.RuneCountInString(out) <= b.Chars {
			return out, true
		}
		if !s.tighten() {
			break
		}
	}
	note := strings.TrimSpace(fmt.Sprintf("%d characters of JSON. %s", all, b.Hint))
	last, err := json.Marshal(map[string]string{"left_out": note})
	if err != nil || utf8.RuneCountInString(string(last)) > b.Chars {
		last = fmt.Appendf(nil, `{"left_out":"%d characters of JSON"}`, all)
	}
	return string(last), true
}

// longest returns the length of the longest list.
func longest(v gjson.Result) (n int) {
	if !v.IsArray() && !v.IsObject() {
		return 0
	}
	items := 0
	v.ForEach(func(_, item gjson.Result) bool {
		items++
		n = max(n, longest(item))
		return true
	})
	if v.IsArray() {
		n = max(n, items)
	}
	return n
}

// shrink is the current bounds of lists and strings.
type shrink struct {
	items, strings int
	depth          int // of nesting; 0: any
}

// tighten lowers the bounds; false if nothing is left to remove.
func (s *shrink) tighten() bool {
	switch {
	case s.strings > 400:
		s.strings /= 2
	case s.items > 5:
		s.items = s.items * 3 / 4
	case s.strings > 60:
		s.strings = s.strings * 2 / 3
	case s.items > 1:
		s.items--
	case s.depth == 0:
		s.depth = 6
	case s.depth > 1:
		s.depth--
	default:
		return false
	}
	return true
}

// value returns a JSON value, shortened.
func (s *shrink) value(v gjson.Result, depth int) string {
	switch {
	case v.IsArray(), v.IsObject():
		if s.depth > 0 && depth >= s.depth {
			return jsontext.Quote(fmt.Sprintf("… %d characters left out", utf8.RuneCountInString(v.Raw)))
		}
		return s.group(v, depth)
	case v.Type == gjson.String:
		return s.text(v)
	}
	return v.Raw
}

// group returns an object or a list, shortened.
func (s *shrink) group(v gjson.Result, depth int) string {
	var out strings.Builder
	opens, closes := byte('{'), byte('}')
	if v.IsArray() {
		opens, closes = '[', ']'
	}
	out.WriteByte(opens)
	n, omitted := 0, 0
	v.ForEach(func(key, item gjson.Result) bool {
		n++
		if v.IsArray() && n > s.items {
			omitted++
			return true
		}
		if n > 1 {
			out.WriteByte(',')
		}
		if !v.IsArray() {
			out.WriteString(key.Raw + ":")
		}
		out.WriteString(s.value(item, depth+1))
		return true
	})
	if omitted > 0 {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(jsontext.Quote(fmt.Sprintf("… %d more left out", omitted)))
	}
	out.WriteByte(closes)
	return out.String()
}

// text returns a string, shortened; a URL is kept whole.
func (s *shrink) text(v gjson.Result) string {
	if utf8.RuneCountInString(v.Str) <= s.strings {
		return v.Raw
	}
	if strings.Contains(v.Str, "://") && !strings.ContainsAny(v.Str, " \t\n") {
		if s.depth == 0 {
			return v.Raw
		}
		return jsontext.Quote(fmt.Sprintf("… a URL of %d characters left out", utf8.RuneCountInString(v.Str)))
	}
	runes := []rune(v.Str)
	return jsontext.Quote(string(runes[:cutBack(runes, s.strings)]) + "…")
}
