package tools

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// TrimBounds bound a result. A zero bound is none.
type TrimBounds struct {
	Chars     int     // of the whole with its notes; at least MinTrim
	Head      float64 // share of Chars kept from the beginning, 0 to 1
	HeadLines int     // kept lines at the beginning
	TailLines int     // and at the end, of longer texts
	Items     int     // of a list in a JSON document
	Strings   int     // characters of a JSON string; a URL is kept whole
	Hint      string  // how to get the rest; a sentence, or empty
}

// MinTrim is the least Chars: the notes need room.
const MinTrim = 200

// Trim shortens a text. cut reports whether it did. A JSON document stays valid, a URL is kept or
// dropped as a whole, and the result never exceeds b.Chars.
func Trim(text string, b TrimBounds) (out string, cut bool) {
	if b.fits(text) {
		return text, false
	}
	if doc, ok := document(text, b); ok {
		return doc, true
	}
	out = byLines(strings.ToValidUTF8(text, "\uFFFD"), b)
	if b.Chars > 0 && utf8.RuneCountInString(out) > b.Chars {
		out = byChars(strings.ToValidUTF8(text, "\uFFFD"), b)
	}
	return out, true
}

// TrimBlocks shortens the parts of one result, each in proportion to its length.
func TrimBlocks(parts []string, b TrimBounds) (out []string, cut bool) {
	all := 0
	for _, p := range parts {
		all += utf8.RuneCountInString(p)
	}
	out = slices.Clone(parts)
	if b.Chars == 0 || all <= b.Chars || len(parts) == 1 {
		for i, p := range parts {
			var did bool
			out[i], did = Trim(p, b)
			cut = cut || did
		}
		return out, cut
	}
	remaining, rest := b.Chars, all
	for i, p := range parts {
		n := utf8.RuneCountInString(p)
		share := b
		share.Chars = int(float64(remaining) * float64(n) / float64(max(rest, 1)))
		remaining, rest = remaining-min(share.Chars, n), rest-n
		switch {
		case n <= share.Chars:
			out[i] = p
		case share.Chars < MinTrim:
			out[i], cut = first(fmt.Sprintf("[%d characters left out]", n), share.Chars), true
		default:
			out[i], _ = Trim(p, share)
			cut = true
		}
	}
	return out, cut
}

// fits reports whether no bound is exceeded.
func (b TrimBounds) fits(text string) bool {
	if b.Chars > 0 && len(text) > b.Chars && utf8.RuneCountInString(text) > b.Chars {
		return false
	}
	most := b.HeadLines + b.TailLines
	return most == 0 || strings.Count(text, "\n") <= most
}

// byLines keeps lines from both ends.
func byLines(text string, b TrimBounds) string {
	lines := slices.Collect(strings.Lines(text))
	most := b.HeadLines + b.TailLines
	if most == 0 || len(lines) <= most {
		return text
	}
	missing := len(lines) - most
	head, tail := strings.Join(lines[:b.HeadLines], ""), strings.Join(lines[len(lines)-b.TailLines:], "")
	return head + b.mark(fmt.Sprintf("%d of %d lines left out", missing, len(lines))) + tail
}

// byChars keeps characters from both ends.
func byChars(text string, b TrimBounds) string {
	runes := []rune(text)
	mark := b.mark(fmt.Sprintf("%d of %d characters left out", len(runes), len(runes))) // the longest note
	room := max(0, b.Chars-utf8.RuneCountInString(mark))
	share := b.Head
	if share <= 0 || share > 1 {
		share = 1
	}
	head := int(math.Round(float64(room) * share))
	from, to := cutBack(runes, head), cutForward(runes, len(runes)-(room-head))
	if to < from {
		to = from
	}
	mark = b.mark(fmt.Sprintf("%d of %d characters left out", to-from, len(runes)))
	return first(string(runes[:from])+mark+string(runes[to:]), b.Chars)
}

// mark returns a note on lines of its own.
func (b TrimBounds) mark(what string) string {
	if b.Hint != "" {
		what += ". " + b.Hint
	}
	return "\n[" + what + "]\n"
}

// first returns the first n characters of a text.
func first(text string, n int) string {
	if n <= 0 {
		return ""
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// near bounds how far a cut moves to the end of a line.
const near = 200

// cutBack moves a cut back, out of a URL, and to a near end of a line.
func cutBack(runes []rune, at int) int {
	if at >= len(runes) {
		return len(runes)
	}
	if from, _, in := urlIn(runes, at); in {
		at = from
	}
	for i := at; i > 0 && i > at-near; i-- {
		if runes[i-1] == '\n' {
			return i
		}
	}
	return at
}

// cutForward moves a cut forward, out of a URL, and to a near beginning of a line.
func cutForward(runes []rune, at int) int {
	if at <= 0 {
		return 0
	}
	if _, to, in := urlIn(runes, at); in {
		at = to
	}
	for i := at; i < len(runes) && i < at+near; i++ {
		if runes[i-1] == '\n' {
			return i
		}
	}
	return min(at, len(runes))
}

// urlIn reports whether a cut falls into a URL, and its bounds.
func urlIn(runes []rune, at int) (from, to int, in bool) {
	from, to = at, at
	for from > 0 && !endsURL(runes[from-1]) {
		from--
	}
	for to < len(runes) && !endsURL(runes[to]) {
		to++
	}
	return from, to, from < at && at < to && strings.Contains(string(runes[from:to]), "://")
}

// endsURL reports whether a character ends a URL.
func endsURL(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'<>()[]{}`, r) }
