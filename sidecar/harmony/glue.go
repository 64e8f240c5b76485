package harmony

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// What stands between a recipient and its body.

// glue reads one word or sign at rest[i:], between a recipient and its body.
func (g *Grammar) glue(rest string, i int, h *bare, eof bool) (end int, is scan.Verdict) {
	words := &g.Words
	end = wordEnd(rest, i)
	if end == len(rest) && !eof {
		return 0, scan.Wait
	}
	word := rest[i:end]
	if t := h.glued(word, words.Types); t > 0 {
		h.kind, h.raw = word[:t], i+t
		return 0, scan.No
	}
	kind := ""
	for _, k := range words.Types {
		if endsFold(word, k) {
			kind = k
		}
	}
	// and no body
	debris := foreign(word) && (h.kind == "json" || scan.AmongFold(strings.TrimFunc(word, isForeign),
		words.Types))
	switch {
	case word == "":
		return h.sign(rest, i)
	case words.Outsider(word):
		return 0, scan.No
	case scan.AmongFold(word, words.Recipient): // it is said again
		name, end, is := g.assigned(rest, end, func(string) bool { return true }, eof)
		switch {
		case is == scan.Yes && name != h.name:
			is = scan.No
		case is == scan.Yes && h.known:
			h.led = true
			h.again++
		}
		return end, is
	case kind != "" && len(kind) == len(word) && h.kind == "":
		h.kind = kind
		h.raw = scan.SkipBytes(rest, end, " \n\t\r:=")
	case scan.AmongFold(word, words.Channels, words.Between, words.Roles, words.Types):
	case h.raw > 0 && !debris:
		return 0, scan.No
	case foreign(word):
		h.noise, h.kind = max(h.noise, 1), cmp.Or(kind, h.kind)
		h.debris = h.debris || strings.IndexFunc(word, strange) >= 0
	case h.kind != "", h.noise == maxNoise, len(word) > len("parameters"):
		return 0, scan.No
	default:
		h.noise++
		h.words++
		h.kind = kind
	}
	return end, scan.Yes
}

// glued is how many bytes of a word are a content type that the body, which is code, is glued to:
// "codeimport math".
func (h *bare) glued(word string, types []string) int {
	for _, t := range types {
		if h.led && h.kind == "" && len(word) > len(t) && strings.HasPrefix(word, t) && !foreign(word) {
			return len(t)
		}
	}
	return 0
}

// sign reads a sign of ASCII: others stand in words.
func (h *bare) sign(rest string, i int) (end int, is scan.Verdict) {
	b, end := rest[i], scan.SkipBytes(rest, i, senseless)
	switch tag := strings.IndexByte(rest[i:min(len(rest), i+maxTag)], '>') + 1; {
	case b == ':' || b == '=':
		return i + 1, scan.Yes
	case b == '<' && tag > 0 && strings.IndexFunc(rest[i+1:i+tag-1], notLetter) < 0:
		end = i + tag // <unk>
	}
	if h.noise++; h.noise > maxNoise {
		return 0, scan.No
	}
	return max(end, i+1), scan.Yes
}

// maxTag is how many bytes a strange tag may have, and senseless are signs that models write in
// a row when they lose their way.
const (
	maxTag    = 16
	senseless = "+#~-"
)

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// foreign says that a word has signs of other scripts: such words come from the model's other
// languages.
func foreign(word string) bool {
	return strings.IndexFunc(word, isForeign) >= 0
}

func isForeign(r rune) bool { return r >= utf8.RuneSelf }

// strange says that r is a letter of another script, or stands at one.
func strange(r rune) bool { return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)) }

// SkipForeign is the offset behind debris of other scripts at s[i:], if an object follows at once; else i:
// 彩票{"path":"a"}
func SkipForeign(s string, i int, eof bool) (int, scan.Verdict) {
	const most = 24
	j := i
	for j < len(s) && j-i < most && s[j] >= utf8.RuneSelf {
		j++
	}
	switch {
	case j == len(s) && j > i:
		return i, scan.WaitUnless(eof)
	case j < len(s) && s[j] == '{':
		return j, scan.No
	}
	return i, scan.No
}
