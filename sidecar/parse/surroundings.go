package parse

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Front is the end of the text in front of a call.
type Front struct{ scan.Tail }

// Ending classifies the end of that text.
type Ending uint8

// The endings.
const (
	Ended         Ending = iota // a complete sentence or a tag, or no text
	ParagraphOpen               // an open sentence and a blank line
	LineOpen                    // an open sentence and a line break
	InSentence                  // in an open sentence
	InItem                      // in data, an item of a list, a quotation, or a line of code
)

const (
	afterEnd   = "\"'”’»)*_`"    // may follow the end of a sentence
	beforeMore = ",;-–—(\"'“„«`" // leave a sentence open, as letters do
)

// Ends classifies the end of the text.
func (p *Front) Ends() Ending {
	all := p.String()
	text := strings.TrimRightFunc(all, isGap)
	last, _ := utf8.DecodeLastRuneInString(text)
	more := isLetter(last) || strings.ContainsRune(beforeMore, last)
	gap := all[len(text):]
	switch breaks := strings.Count(gap, "\n"); {
	case text == "":
		return Ended
	case last == '[' || last == '{' || strings.HasSuffix(text, "},"): // in data
		return InItem
	case strings.Contains(gap, "\n    ") || strings.Contains(gap, "\n\t"):
		return InItem // indented code of Markdown
	case breaks > 0 && !more:
		return Ended
	case breaks > 1:
		return ParagraphOpen
	case breaks == 1:
		return LineOpen
	}
	if len(text)-len(strings.TrimRight(text, noiseSigns)) >= minNoise {
		return Ended
	}
	line := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], scan.Script)
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRight(line, afterEnd))
	switch {
	case strings.Trim(line, "0123456789.)-*+>•–|") == "":
		return InItem
	case strings.ContainsRune(".!?…。！？", last), line[0] == '<' && last == '>':
		return Ended
	}
	return InSentence
}

// IsWord reports whether the text is one word: half a sentence of one word means nothing.
func (p *Front) IsWord() bool {
	const longest = 24 // bytes: some languages have no blanks
	word := strings.Trim(p.String(), " \t!"+noiseSigns)
	return word != "" && len(word) <= longest &&
		strings.IndexFunc(word, func(r rune) bool {
			return !isLetter(r) && !unicode.IsMark(r) && r != '\''
		}) < 0
}

// EndsInWords reports whether the text ends with words, not with data or markup.
func (p *Front) EndsInWords() bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(p.String(), isGap))
	return isLetter(last) || ends(last) || strings.ContainsRune(":：", last)
}

// EndsInToolName reports whether the text ends with a name in the namespace of tools: it was not lost.
func (p *Front) EndsInToolName() bool {
	text := strings.TrimRightFunc(p.String(), isGap)
	at := strings.LastIndex(text, harmony.Namespace)
	return at >= 0 && scan.NameEnd(text, at) == len(text)
}

// EndsInLead reports whether the text ends with a colon or a question, ignoring ReAct lines behind it:
// "It repeats this:\n\nThought: I list it.\n".
func (p *Front) EndsInLead() bool {
	text := strings.TrimRightFunc(p.String(), isGap)
	for {
		last := strings.LastIndexByte(text, '\n')
		if kw, _, _ := lineKeyword(usualLineWords, text[last+1:]); kw == otherLine || last < 0 {
			break
		}
		text = strings.TrimRightFunc(text[:last], isGap)
	}
	text = strings.TrimRightFunc(text, isCloser)
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(":：?？؟", last)
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// noiseSigns are signs that confused models repeat in front of a header.
const (
	noiseSigns = "+#=~-"
	minNoise   = 5
)

// skipNoise returns the offset behind a row of noise signs at v[i:], or i.
func skipNoise(v string, i int) int {
	if n := scan.SkipBytes(v, i, noiseSigns); n-i >= minNoise || n == len(v) {
		return n
	}
	return i
}

// Sequel classifies the text behind a call.
type Sequel uint8

// The sequels.
const (
	NoSentence    Sequel = iota // no text, or markup
	NewParagraph                // another paragraph
	OpenParagraph               // another paragraph, within a sentence
	NextLine                    // the next line
	SameLine                    // the same line, like a new sentence
	SameSentence                // the rest of a sentence
)

// MaxGap bounds the blanks, brackets and tags between a call and its sequel.
const MaxGap = 256

// TextBehind finds the text behind v[:end], past closing brackets, tags of wrappers and noise: at v[j:],
// behind a line that ends at v[line:]. The verdict is yes if nothing follows, wait if something may.
func TextBehind(v string, end int, eof bool) (line, j int, is verdict) {
	i, more := skipClosingTags(v, scan.SkipBytes(v, end, "}]"), eof)
	if row := scan.SkipSpace(v, i); row-i < MaxGap {
		if n := skipNoise(v, row); n > row {
			i = n
		}
	}
	line = scan.SkipBlanks(v, i)
	j = scan.SkipSpace(v, line)
	switch {
	case j-end >= MaxGap:
		return line, j, yes
	case more, j == len(v):
		return line, j, scan.WaitOr(eof)
	}
	return line, j, no
}

// SequelAt classifies the text at v[j:], behind a line that ends at v[line:].
func SequelAt(v string, line, j int, eof bool) (Sequel, verdict) {
	first, _ := utf8.DecodeRuneInString(v[j:])
	within := unicode.IsLower(first) || strings.ContainsRune(".,;:!?)", first)
	switch breaks := strings.Count(v[line:j], "\n"); {
	case !eof && !utf8.FullRuneInString(v[j:]):
		return NoSentence, wait
	case breaks > 1 && within:
		return OpenParagraph, yes
	case breaks > 1:
		return NewParagraph, yes
	case j > line && !within:
		return NextLine, yes
	case j == line && unicode.IsUpper(first):
		return SameLine, yes
	}
	return SameSentence, yes
}

// skipClosingTags returns the offset behind the closing tags of wrappers at v[i:].
func skipClosingTags(v string, i int, eof bool) (end int, more bool) {
	for {
		end, is := closingTag(v, i, eof)
		if is != yes {
			return i, is == wait
		}
		i = end
	}
}

// closingTag returns the end of the short closing tag at v[i:].
func closingTag(v string, i int, eof bool) (end int, is verdict) {
	const longest = 32
	if !strings.HasPrefix(v[i:], "</") {
		return i, no
	}
	n := strings.IndexAny(v[i:min(len(v), i+longest)], "> \n")
	if n < 0 {
		return i, scan.WaitUnless(eof || len(v)-i >= longest)
	}
	return i + n + 1, scan.When(v[i+n] == '>')
}

func isGap(r rune) bool    { return unicode.IsSpace(r) || strings.ContainsRune(scan.Invisible, r) }
func isCloser(r rune) bool { return strings.ContainsRune(afterEnd, r) }
func ends(r rune) bool     { return r == '\n' || strings.ContainsRune(".!?。！？؟", r) }

// A call in a sentence is quoted: the model writes about it, and the gateway must not run it. The text
// in front and behind shows whether a sentence surrounds it.

// quotedBecause explains why a call with these signs is text.
func quotedBecause(signs Signs) string {
	switch {
	case signs.Has(Quoted):
		return "a sentence goes on around it"
	case signs.Has(Led | Behind):
		return "the text beside it may speak about it"
	}
	return "it may not be meant as a call"
}

// around returns the signs of the text in front of v and behind v[:end].
func (t *text) around(v string, end int, eof bool) (Signs, verdict) {
	b, is := t.sequel(v, end, eof)
	if is == wait {
		return 0, wait
	}
	signs := t.leadSigns()
	if b != NoSentence {
		signs |= Behind
	}
	cut := eof && t.r.cut() && scan.Blank(v[end:]) // what was to follow is unknown
	switch a := t.front.Ends(); {
	case cut && a != Ended:
		return signs | Quoted, yes
	case t.mode == inBlock && t.open.st.Own && (a == Ended || b == NoSentence || t.isGlued(v, 0)):
		return signs, yes // a sentence about the call surrounds it
	case a == InItem, b == SameSentence, a != Ended && b == OpenParagraph, a > ParagraphOpen && b == NextLine:
		return signs | Quoted, yes
	case a == InSentence, b == SameLine, b == OpenParagraph, t.midLineFence: // an example, or the call itself
		return signs | Open, yes
	}
	return signs, yes
}

// leadSigns returns the signs of the text in front.
func (t *text) leadSigns() Signs {
	if t.introduces(&t.front) {
		return Led
	}
	return 0
}

// introduces reports whether the text in front may be about what follows: a call was in doubt before, or
// it ends with a colon or a question outside of a thought. Text between two messages announces a call,
// as models show examples in an answer with its own header.
func (t *text) introduces(front *Front) bool {
	return t.r.aboutCall || t.field != Reasoning && !t.afterClose && front.EndsInLead()
}

// announces reports whether the text in front of nameless arguments names the tool, which reads, and is
// not about it.
func (t *text) announces(front *Front, name string) bool {
	return !t.introduces(front) && t.r.c.Class(name) == tools.Read && strings.Contains(front.String(), name)
}

// inQuotation reports whether the control token at v[j:end] is quoted in a sentence that continues
// behind it.
func (t *text) inQuotation(v string, j, end int, eof bool) verdict {
	p := t.front
	p.Add(v[:j])
	if a := p.Ends(); a != InSentence && a != InItem {
		return no
	}
	if end < len(v) && t.isGlued(v, j) && !scan.IsSpace(v[end]) {
		return no
	}
	return t.r.s.header.Words.Sentence(v[end:], eof)
}

// isGlued reports whether text directly precedes v[j:]: text about a token has a blank or a quote there.
func (t *text) isGlued(v string, j int) bool {
	b := t.prevByte(v, j)
	return !scan.IsSpace(b) && strings.IndexByte("\"'`*_(", b) < 0
}

// sequel classifies v[end:].
func (t *text) sequel(v string, end int, eof bool) (Sequel, verdict) {
	line, j, is := TextBehind(v, end, eof)
	if is != no {
		return NoSentence, is
	}
	if v[j] == '{' { // the arguments again
		return NoSentence, yes
	}
	if is := t.startsMarkup(v[j:], eof); is != no {
		return NoSentence, is
	}
	if is := t.leadsToMarkup(v[j:], eof); is != no {
		return NoSentence, is
	}
	return SequelAt(v, line, j, eof)
}

// maxBetween bounds a text between two calls that announces the second.
const maxBetween = 160

// leadsToMarkup reports whether markup follows a short text.
func (t *text) leadsToMarkup(s string, eof bool) verdict {
	part := s[:min(len(s), maxBetween)]
	for i := strings.IndexAny(part, "\n \t<[{"); i >= 0; {
		if scan.IsSpace(part[i]) {
			if i = scan.SkipSpace(part, i); i == len(part) {
				break
			}
		}
		switch tok, _, is := t.tokenAt(s[i:], eof); {
		case is == wait:
			return wait
		case is == yes && tok.Closes():
			return no
		}
		if is := t.startsMarkup(s[i:], eof); is != no {
			return is
		}
		n := strings.IndexAny(part[i+1:], "\n \t<[{")
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return scan.WaitUnless(eof || len(part) == maxBetween)
}

// startsMarkup reports whether s begins with markup: an opening at the start of a line, or a closing.
func (t *text) startsMarkup(s string, eof bool) verdict {
	if s[0] == '<' || s[0] == '[' {
		switch {
		case len(s) == 1:
			return scan.WaitUnless(eof)
		case s[1] == '/' || s[1] == '|':
			return yes
		}
	}
	if _, is := t.grammar.Stray(s, eof); is != no {
		return is
	}
	if is := harmony.Answers(s, eof); is != no {
		return is
	}
	probe := text{r: t.r, field: t.field, grammar: t.grammar}
	probe.startLine()
	looks := [...]func(*text, string, int, bool) (opening, verdict){(*text).lineOpening,
		(*text).inlineOpening,
		(*text).gluedName}
	for _, look := range looks {
		if _, is := probe.findOpening(s, 0, eof, look); is != no {
			return is
		}
	}
	return no
}

// gluedName looks for an offered name directly followed by { or (.
func (t *text) gluedName(v string, j int, eof bool) (opening, verdict) {
	n := scan.NameEnd(v, j)
	switch {
	case t.r.s.json == nil || t.r.c.Open() || n == j:
		return opening{}, no
	case n == len(v) && !eof && t.r.names.IsPrefix(v[j:]):
		return opening{}, wait
	case n == len(v) || v[n] != '{' && v[n] != '(' || !t.r.names.Named(v[j:n]):
		return opening{}, no
	}
	return opening{}, yes
}

// HasWord reports whether a text contains one of some lower-case words, not as a part of a name like
// json in package.json.
func HasWord(text string, words []string) bool {
	text = strings.ToLower(text)
	goesOn := func(b byte, is func(byte) bool) bool { return b < utf8.RuneSelf && is(b) }
	return slices.ContainsFunc(words, func(word string) bool {
		for from := 0; ; {
			i := strings.Index(text[from:], word)
			if i < 0 {
				return false
			}
			at, end := from+i, from+i+len(word)
			inFront := at > 0 && goesOn(text[at-1], scan.IsName)
			if behind := end < len(text) && goesOn(text[end], scan.IsWord); !inFront && !behind {
				return true
			}
			from = at + 1
		}
	})
}
