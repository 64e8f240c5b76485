package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Front is the end of the text in front of a call.
type Front struct{ scan.Tail }

// Ending is how the text in front of a call ends.
type Ending uint8

// The endings.
const (
	Ended      Ending = iota // with a sentence or a tag; or there is none
	PartOpen                 // with a paragraph that leaves a sentence open
	LineOpen                 // with a line that does
	InSentence               // in the line of the call, within a sentence
	InItem                   // with what begins an item of a list, a quotation, or a line of code
)

const (
	afterEnd   = "\"'”’»)*_`"    // may stand behind what ends a sentence
	beforeMore = ",;-–—(\"'“„«`" // leave it open, as letters do
)

// Ends says how the text ends.
func (p *Front) Ends() Ending {
	all := p.String()
	text := strings.TrimRightFunc(all, isGap)
	last, _ := utf8.DecodeLastRuneInString(text)
	more := isLetter(last) || strings.ContainsRune(beforeMore, last)
	gap := all[len(text):]
	switch breaks := strings.Count(gap, "\n"); {
	case text == "":
		return Ended
	case last == '[' || last == '{' || strings.HasSuffix(text, "},"): // it stands in data
		return InItem
	case strings.Contains(gap, "\n    ") || strings.Contains(gap, "\n\t"):
		return InItem // Markdown takes what is indented so far for code
	case breaks > 0 && !more:
		return Ended
	case breaks > 1:
		return PartOpen
	case breaks == 1:
		return LineOpen
	}
	if len(text)-len(strings.TrimRight(text, senseless)) >= fewSenseless {
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

// IsWord says that the text is one word: half a sentence of one word says nothing.
func (p *Front) IsWord() bool {
	const longest = 24 // bytes: some languages have no blanks
	word := strings.Trim(p.String(), " \t!"+senseless)
	return word != "" && len(word) <= longest &&
		strings.IndexFunc(word, func(r rune) bool {
			return !isLetter(r) && !unicode.IsMark(r) && r != '\''
		}) < 0
}

// Says says that words stand at its end: neither data nor markup.
func (p *Front) Says() bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(p.String(), isGap))
	return isLetter(last) || ends(last) || strings.ContainsRune(":：", last)
}

// Leads says that the text ends with a colon or a question. Lines of a ReAct step behind it are no part of
// the text: "It repeats this:\n\nThought: I list it.\n" leads.
func (p *Front) Leads() bool {
	text := strings.TrimRightFunc(p.String(), isGap)
	for {
		last := strings.LastIndexByte(text, '\n')
		if keyword, _, _ := Line(text[last+1:]); keyword == Plain || last < 0 {
			break
		}
		text = strings.TrimRightFunc(text[:last], isGap)
	}
	text = strings.TrimRightFunc(text, isCloser)
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(":：?？؟", last)
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// senseless are signs that models write in a row before a header when they lose their way.
const (
	senseless    = "+#=~-"
	fewSenseless = 5
)

// SkipSenseless is the offset behind a row of them at v[i:], or i.
func SkipSenseless(v string, i int) int {
	if n := scan.SkipBytes(v, i, senseless); n-i >= fewSenseless || n == len(v) {
		return n
	}
	return i
}

// Sequel is what text does behind a call.
type Sequel uint8

// The sequels.
const (
	NoSentence   Sequel = iota // it ends, or more markup or another paragraph follows
	NewPart                    // another paragraph follows
	NextPart                   // the same, and it begins within a sentence
	NextLine                   // it goes on in the next line
	SameLine                   // it goes on in the same line, like a new sentence
	SameSentence               // it goes on like the rest of a sentence
)

// MaxGap is how many blanks, brackets and tags part a call from whatever follows.
const MaxGap = 256

// Behind is where text goes on behind v[:end], past closing brackets, tags of wrappers and signs
// without meaning: at v[j:], in the line that ends at v[line:], or a later one. The verdict is
// Yes where nothing follows, and Wait where something still may.
func SentenceBehind(v string, end int, eof bool) (line, j int, is scan.Verdict) {
	i, more := SkipTags(v, scan.SkipBytes(v, end, "}]"), eof)
	if row := scan.SkipSpace(v, i); row-i < MaxGap {
		if n := SkipSenseless(v, row); n > row {
			i = n
		}
	}
	line = scan.SkipBlanks(v, i)
	j = scan.SkipSpace(v, line)
	switch {
	case j-end >= MaxGap:
		return line, j, scan.Yes
	case more, j == len(v):
		return line, j, scan.WaitOr(eof)
	}
	return line, j, scan.No
}

// Goes says how text goes on at v[j:], behind a line whose text ended at v[line:].
func Goes(v string, line, j int, eof bool) (Sequel, scan.Verdict) {
	first, _ := utf8.DecodeRuneInString(v[j:])
	within := unicode.IsLower(first) || strings.ContainsRune(".,;:!?)", first)
	switch breaks := strings.Count(v[line:j], "\n"); {
	case !eof && !utf8.FullRuneInString(v[j:]):
		return NoSentence, scan.Wait
	case breaks > 1 && within:
		return NextPart, scan.Yes
	case breaks > 1:
		return NewPart, scan.Yes
	case j > line && !within:
		return NextLine, scan.Yes
	case j == line && unicode.IsUpper(first):
		return SameLine, scan.Yes
	}
	return SameSentence, scan.Yes
}

// SkipTags is the offset behind the closing tags of wrappers at v[i:].
func SkipTags(v string, i int, eof bool) (end int, more bool) {
	const longest = 32
	for strings.HasPrefix(v[i:], "</") {
		n := strings.IndexAny(v[i:min(len(v), i+longest)], "> \n")
		switch {
		case n < 0 && len(v)-i < longest:
			return i, !eof
		case n < 0 || v[i+n] != '>':
			return i, false
		}
		i += n + 1
	}
	return i, false
}

func isGap(r rune) bool    { return unicode.IsSpace(r) || strings.ContainsRune(scan.Invisible, r) }
func isCloser(r rune) bool { return strings.ContainsRune(afterEnd, r) }
func ends(r rune) bool     { return r == '\n' || strings.ContainsRune(".!?。！？؟", r) }
