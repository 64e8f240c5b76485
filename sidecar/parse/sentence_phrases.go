package parse

import (
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// phrases are words to look for, by their first two bytes; a shorter one has zeros there.
type phrases map[[2]byte][]phrase

// phrase is what stands in front of a * and behind it.
type phrase struct {
	begin, end string
	any        bool // there is a *
}

func phrasesOf(words []string) phrases {
	all := phrases{}
	for _, w := range words {
		p := phrase{}
		p.begin, p.end, p.any = strings.Cut(w, "*")
		var key [2]byte
		copy(key[:], p.begin)
		all[key] = append(all[key], p)
	}
	return all
}

// last is where the one of them stands that ends last in a text, or -1, -1.
func (all phrases) last(text string) (from, to int) {
	from, to = -1, -1
	for i := range len(text) {
		var two [2]byte
		copy(two[:], text[i:])
		for _, key := range [...][2]byte{two, {two[0]}, {}} {
			for _, p := range all[key] {
				if n := p.at(text[i:]); n >= 0 && i+n > to {
					from, to = i, i+n
				}
			}
		}
	}
	return from, to
}

// at is how many bytes it has at the start of a text, or -1.
func (p phrase) at(text string) int {
	rest, ok := strings.CutPrefix(text, p.begin)
	switch n := strings.Index(rest, p.end); {
	case !ok:
		return -1
	case !p.any:
		return len(p.begin)
	case n < 0 || strings.Contains(rest[:n], " "):
		return -1
	default:
		return len(p.begin) + n + len(p.end)
	}
}

// PlainSentence is a text in small letters, where one blank stands for all that is neither letter nor
// digit nor apostrophe. One is at each end, too. Invisible characters count for nothing.
func PlainSentence(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	blank := true
	for _, r := range s {
		switch {
		case strings.ContainsRune(scan.Invisible, r):
		case r == '’':
			r = '\''
			fallthrough
		case r == '\'', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
			blank = false
		case !blank:
			b.WriteByte(' ')
			blank = true
		}
	}
	if !blank {
		b.WriteByte(' ')
	}
	return b.String()
}
