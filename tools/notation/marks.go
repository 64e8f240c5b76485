package notation

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// blankMarks reads ▁, which stands for a blank in the vocabulary of SentencePiece.
func blankMarks(s string) []string {
	return marked(s, strings.NewReplacer("▁", " "))
}

// marked reads marks of a tokenizer that stand between texts. Where the text has no blank of its own,
// those in texts are blanks, too; else they may be either.
func marked(s string, marks *strings.Replacer) []string {
	found := false
	plain, ok := split(s, func(part string) (string, bool) {
		to := marks.Replace(part)
		found = found || to != part
		return to, true
	}, same)
	if !ok || !found {
		return nil
	}
	all := marks.Replace(s)
	switch {
	case plain == all || hasBlank(s):
		return compact(plain, all)
	}
	return []string{all}
}

// hasBlank reports whether an object in s has a blank of its own. What stands around it may come
// from somewhere else.
func hasBlank(s string) bool {
	begin, end := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	return strings.ContainsAny(s[max(begin, 0):max(begin, end, 0)], " \n\t")
}

// compact is the readings of which there are two at most.
func compact(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// byteMarks reads characters that stand for bytes in the vocabulary of GPT-2: Ġ is a blank, Ċ ends a
// line, Ã and ¼ are ü. A server that leaves them may have left all of them, or those of blanks only.
func byteMarks(s string) []string {
	blanks := marked(s, strings.NewReplacer("Ġ", " ", "Ċ", "\n", "ĉ", "\t", "č", "\r"))
	if len(blanks) == 0 || hasBlank(s) {
		return blanks
	}
	var b strings.Builder
	for _, r := range s {
		c, ok := byteOf(r)
		if blank := strings.ContainsRune(" \n\t\r", r); blank {
			c, ok = byte(r), true
		}
		if !ok {
			return blanks
		}
		b.WriteByte(c)
	}
	if text := b.String(); utf8.ValidString(text) {
		return []string{text}
	}
	return blanks
}

// byteOf is the byte that a character stands for in the vocabulary of GPT-2: those that can be seen
// for themselves, the others in their order from U+0100 on.
func byteOf(r rune) (byte, bool) {
	switch {
	case r > ' ' && r < 0x7F, r > 0xA0 && r <= 0xFF && r != 0xAD:
		return byte(r), true
	case r >= 0x100 && r <= 0x120:
		return byte(r - 0x100), true
	case r > 0x120 && r <= 0x142:
		return byte(r - 0x121 + 0x7F), true
	case r == 0x143:
		return 0xAD, true
	}
	return 0, false
}

// byteTokens reads <0x0A>, a byte for which a vocabulary has no word. In texts it does so only where
// the bytes are a character beyond ASCII: the others may be what the text says.
func byteTokens(s string) []string {
	if !strings.Contains(s, "<0x") {
		return nil
	}
	found := false
	text, ok := split(s, func(part string) (string, bool) {
		to, ok := withBytes(part, func(run string) bool { return strings.Trim(run, " \n\t\r") == "" })
		found = found || to != part
		return to, ok
	}, func(part string) (string, bool) {
		return withBytes(part, func(run string) bool {
			return utf8.ValidString(run) &&
				strings.IndexFunc(run, func(r rune) bool { return r < utf8.RuneSelf }) < 0
		})
	})
	return only(text, s, ok && found)
}

// withBytes puts bytes for the runs of their tokens, each of which must be one that it takes.
func withBytes(part string, takes func(run string) bool) (string, bool) {
	var b, run strings.Builder
	for i := 0; i < len(part); {
		c, ok := byteToken(part[i:])
		if ok {
			run.WriteByte(c)
			i += len("<0x00>")
		}
		if !ok || i == len(part) {
			if !takes(run.String()) {
				return "", false
			}
			b.WriteString(run.String())
			run.Reset()
		}
		if !ok {
			b.WriteByte(part[i])
			i++
		}
	}
	return b.String(), true
}

func byteToken(s string) (byte, bool) {
	if !strings.HasPrefix(s, "<0x") || len(s) < len("<0x00>") || s[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[3:5], 16, 8)
	return byte(n), err == nil
}

// Marked reports whether a text holds a mark of a tokenizer: then others in it may be marks, too.
func Marked(s string) bool { return strings.ContainsAny(s, "ĠĊ▁") }
