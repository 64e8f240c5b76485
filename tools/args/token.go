package args

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// tokenOps are tokens of a vocabulary that a server left undecoded.
func tokenOps() []Op {
	row := func(id, about, signs string, damage func(*rand.Rand, string) (string, bool),
		undo func(string) []string) Op {
		return Op{ID: id, About: about, Server: true, Damage: damage, Undo: pure(undo), Signs: signs,
			Cost: cheap, Keeps: true, Proof: true}
	}
	return []Op{
		row("args.blanks", "▁ in place of each blank", "▁", func(_ *rand.Rand, text string) (string, bool) {
			return strings.ReplaceAll(text, " ", "▁"), strings.Contains(text, " ") &&
				!strings.Contains(text, "▁")
		}, blankMarks),
		row("args.bytes", "characters of a vocabulary in place of bytes", "ĠĊĉč", func(_ *rand.Rand,
			text string) (string, bool) {
			var b strings.Builder
			for _, c := range []byte(text) {
				b.WriteRune(glyph(c))
			}
			return b.String(), b.String() != text
		}, byteMarks),
		row("args.byte_tokens", "<0x0A> around the object", "<", between([2]string{"<0x0A>", "<0x0A>"}),
			byteTokens),
		{ID: "args.tokens", About: "tokens, a fence or tags around the object", Server: true,
			Damage: between([2]string{"<unk>", "<unk>"}, [2]string{"<|message|>", "</s>"},
				[2]string{"```json\n", "\n```"}, [2]string{"<arguments>", "</arguments>"}),
			Undo: pure(tokensAround), Cost: cheap, Keeps: true},
		row("args.between", "tokens between the members", "<", func(r *rand.Rand,
			text string) (string, bool) {
			return layout{"{", ":" + pick(r, "</s>", "<unk>"), ", ", "}", nil, nil}.write(text)
		}, tokensBetween),
	}
}

// glyph returns the character for a byte in the vocabulary of GPT-2.
func glyph(c byte) rune {
	switch {
	case c > ' ' && c < 0x7f, c > 0xa0 && c != 0xad:
		return rune(c)
	case c <= ' ':
		return 0x100 + rune(c)
	case c == 0xad:
		return 0x143
	}
	return 0x121 + rune(c) - 0x7f
}

// blankMarks reads ▁, a blank in the vocabulary of SentencePiece.
func blankMarks(s string) []string {
	return marked(s, strings.NewReplacer("▁", " "))
}

// marked reads tokenizer marks between texts. If the text has no other blank, marks within texts are
// blanks, too; else they are ambiguous.
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
	if hasBlank(s) {
		return slices.Compact([]string{plain, all})
	}
	return []string{all}
}

// hasBlank reports whether an object in s has a real blank. Text around it may come from elsewhere.
func hasBlank(s string) bool {
	begin, end := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	return strings.ContainsAny(s[max(begin, 0):max(begin, end, 0)], " \n\t")
}

// byteMarks reads characters for bytes in the vocabulary of GPT-2: Ġ is a blank, Ċ ends a line, Ã and ¼
// are ü. A server may leave all of them, or only those of blanks.
func byteMarks(s string) []string {
	blanks := marked(s, strings.NewReplacer("Ġ", " ", "Ċ", "\n", "ĉ", "\t", "č", "\r"))
	if len(blanks) == 0 || hasBlank(s) {
		return blanks
	}
	of := map[rune]byte{' ': ' ', '\n': '\n', '\t': '\t', '\r': '\r'}
	for c := range 256 {
		of[glyph(byte(c))] = byte(c)
	}
	var b strings.Builder
	for _, r := range s {
		c, ok := of[r]
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

// Marked reports whether a text contains a tokenizer mark: others in it may then be marks, too.
func Marked(s string) bool { return strings.ContainsAny(s, "ĠĊ▁") }

// tokensAround removes tokens, byte order marks, a code fence and a pair of tags around an object.
func tokensAround(s string) []string {
	inner := s
	for {
		next := unfenced(Bare(inner))
		if name, rest, ok := openTag(next); ok && frames(name) {
			if body, closed := strings.CutSuffix(rest, "</"+name+">"); closed {
				next = body
			}
		}
		if next == inner {
			break
		}
		inner = next
	}
	return only(inner, strings.TrimSpace(s), true)
}

// unfenced returns the content of a code fence, or s.
func unfenced(s string) string {
	const fence = "```"
	rest, opens := strings.CutPrefix(s, fence)
	inner, closes := strings.CutSuffix(rest, fence)
	info, body, lined := strings.Cut(inner, "\n")
	if info = strings.TrimSpace(info); !opens || !closes || !lined || info != "" && !isWord(info) ||
		strings.Contains(body, fence) {
		return s
	}
	return body
}

// Bare removes blanks, invisible characters and tokens around s.
func Bare(s string) string {
	for {
		next := strings.TrimFunc(s, isBlank)
		for from := 0; from < len(next); {
			n := tokenLen(next[from:])
			if n == 0 {
				next = next[from:]
				break
			}
			from += n
			if from == len(next) {
				next = ""
			}
		}
		for strings.HasSuffix(next, ">") {
			at := strings.LastIndexByte(next, '<')
			if at < 0 || tokenLen(next[at:]) != len(next)-at {
				break
			}
			next = next[:at]
		}
		if next == s {
			return s
		}
		s = next
	}
}

// tokenLen returns the length of the token at the start of s: <|word|>, <unk>, </s>.
func tokenLen(s string) int {
	const longest = 40
	if !strings.HasPrefix(s, "<") {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), longest)], '>')
	if end < 0 {
		return 0
	}
	switch word := s[1:end]; {
	case len(word) > 2 && word[0] == '|' && word[len(word)-1] == '|' && isWord(word[1:len(word)-1]):
		return end + 1
	case len(word) > 2*len("｜") && strings.HasPrefix(word, "｜") && strings.HasSuffix(word, "｜") &&
		isWord(strings.ReplaceAll(strings.Trim(word, "｜"), "▁", "_")):
		return end + 1 // of DeepSeek
	case isToken(strings.TrimPrefix(word, "/")):
		return end + 1
	}
	return 0
}

func isToken(word string) bool {
	switch strings.TrimRight(strings.ToLower(word), "0123456789") {
	case "unk", "s", "pad", "bos", "eos", "eot", "eod", "mask", "sep", "cls", "unused", "extra_id_",
		"reserved_":
		return true
	}
	return false
}

// frames reports whether a tag of this name marks its content as arguments.
func frames(name string) bool {
	switch strings.ToLower(name) {
	case "json", "arguments", "args", "parameters", "params", "input", "tool_input", "action_input":
		return true
	}
	return false
}

// openTag returns the name of the tag at the start of s, and what follows it.
func openTag(s string) (name, rest string, ok bool) {
	inner, found := strings.CutPrefix(s, "<")
	name, rest, closed := strings.Cut(inner, ">")
	return name, rest, found && closed && isWord(name)
}

// isWord reports whether s is a name like those of parameters and tokens.
func isWord(s string) bool {
	return s != "" && scan.Name(s) == s
}

// byteTokens reads <0x0A>, a byte without a word in the vocabulary. In texts it requires bytes of a
// character beyond ASCII: others may be literal.
func byteTokens(s string) []string {
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

// withBytes replaces runs of byte tokens, each of which must be accepted.
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
