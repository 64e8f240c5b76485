package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// A call in a sentence is quoted: somebody writes about it, and nobody shall run it. What
// stands in front of a call and behind it shows whether a sentence goes on around it. Calls
// with control tokens are not asked: those stand in no sentence.

// around is what the text around a call says of it.
type around uint8

const (
	isAlone  around = iota // it stands by itself
	isOpen                 // it may be quoted, or not
	isQuoted               // a sentence goes on around it
)

// why is the reason for which a call is text.
func (a around) why() string {
	if a == isQuoted {
		return "a sentence goes on around it"
	}
	return "its signs weigh too little"
}

// around looks at the text in front of v and behind v[:end].
func (t *text) around(v string, end int, eof bool) (around, verdict) {
	b, is := t.follows(v, end, eof)
	switch a := t.past.ends(); {
	case is == wait:
		return isAlone, wait
	case a == inItem, b == sameSentence, a != ended && b == nextPart, a > partOpen && b == nextLine:
		return isQuoted, yes
	case a == inSentence, b == sameLine, t.loose, b != noSentence && t.past.announces(): // an example, or the call itself
		return isOpen, yes
	}
	return isAlone, yes
}

// inQuotation says whether the control token at v[j:end] is quoted: it stands in a sentence
// that goes on behind it.
func (t *text) inQuotation(v string, j, end int, eof bool) verdict {
	p := t.past
	p.Add(v[:j])
	if a := p.ends(); a != inSentence && a != inItem {
		return no
	}
	rest := v[end:]
	i := scan.SkipBlanks(rest, 0)
	first, _ := utf8.DecodeRuneInString(rest[i:])
	switch {
	case !utf8.FullRuneInString(rest[i:]):
		return scan.WaitUnless(eof)
	case strings.ContainsRune(closesQuote, first):
		return yes
	case i == 0 || !unicode.IsLetter(first) || unicode.IsUpper(first):
		return no
	}
	n := scan.WordEnd(rest, i)
	if n == len(rest) && !eof {
		return wait
	}
	words := &t.r.s.header.Words
	if w := rest[i:n]; words.Channel(w) != "" || scan.AmongFold(w, words.Roles, words.Recipient, words.Types) {
		return no
	}
	return yes
}

// goesOn says whether text goes on at s, behind a call with control tokens in front of which
// a text was not at its end. A model that calls a tool stops there.
func (t *text) goesOn(s string, eof bool) verdict {
	i := scan.SkipSpace(s, 0)
	switch {
	case i >= maxGap:
		return no
	case i == len(s) && eof && t.r.length:
		return yes // nobody knows
	case i == len(s):
		return scan.WaitUnless(eof)
	case s[i] == '`': // it closes what the call is quoted in
		return yes
	}
	return invert(t.marked(s[i:], eof))
}

func invert(is verdict) verdict {
	switch is {
	case yes:
		return no
	case no:
		return yes
	}
	return wait
}

// closesQuote may stand behind something that is quoted.
const closesQuote = ".,;:!?)\"'”’»`"

// past is the end of the text in front of a call.
type past struct{ scan.Tail }

// ending is how the text in front of a call ends.
type ending uint8

const (
	ended      ending = iota // with a sentence or a tag; or there is none
	partOpen                 // with a paragraph that leaves a sentence open
	lineOpen                 // with a line that does
	inSentence               // in the line of the call, within a sentence
	inItem                   // with what begins an item of a list, a quotation, or a line of code
)

const (
	afterEnd   = "\"'”’»)*_`"    // may stand behind what ends a sentence
	beforeMore = ",;-–—(\"'“„«`" // leave it open, as letters do
)

func (p *past) ends() ending {
	all := p.String()
	text := strings.TrimRight(all, scan.Script)
	last, _ := utf8.DecodeLastRuneInString(text)
	more := isLetter(last) || strings.ContainsRune(beforeMore, last)
	gap := all[len(text):]
	switch breaks := strings.Count(gap, "\n"); {
	case text == "":
		return ended
	case strings.Contains(gap, "\n    ") || strings.Contains(gap, "\n\t"):
		return inItem // Markdown takes what is indented so far for code
	case breaks > 0 && !more:
		return ended
	case breaks > 1:
		return partOpen
	case breaks == 1:
		return lineOpen
	}
	line := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], scan.Script)
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRight(line, afterEnd))
	switch {
	case strings.Trim(line, "0123456789.)-*+>•–|") == "":
		return inItem
	case strings.ContainsRune(".!?…。！？", last), line[0] == '<' && last == '>':
		return ended
	}
	return inSentence
}

// announces says that the text ends with a colon.
func (p *past) announces() bool {
	text := strings.TrimRight(p.String(), scan.Script)
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// sequel is what text does behind a call.
type sequel uint8

const (
	noSentence   sequel = iota // it ends, or more markup or another paragraph follows
	newPart                    // another paragraph follows
	nextPart                   // the same, and it begins within a sentence
	nextLine                   // it goes on in the next line
	sameLine                   // it goes on in the same line, like a new sentence
	sameSentence               // it goes on like the rest of a sentence
)

// maxGap is how many blanks part a call from whatever follows.
const maxGap = 256

// follows looks at v[end:].
func (t *text) follows(v string, end int, eof bool) (sequel, verdict) {
	i, more := skipTags(v, scan.SkipBytes(v, end, "}]"), eof)
	line := scan.SkipBlanks(v, i)
	j := scan.SkipSpace(v, line)
	switch {
	case j-i >= maxGap:
		return noSentence, yes
	case more, j == len(v):
		return noSentence, scan.WaitOr(eof)
	}
	if v[j] == '{' { // the arguments again
		return noSentence, yes
	}
	if is := t.marked(v[j:], eof); is != no {
		return noSentence, is
	}
	first, _ := utf8.DecodeRuneInString(v[j:])
	within := unicode.IsLower(first) || strings.ContainsRune(".,;:!?)", first)
	switch breaks := strings.Count(v[line:j], "\n"); {
	case !eof && !utf8.FullRuneInString(v[j:]):
		return noSentence, wait
	case breaks > 1 && within:
		return nextPart, yes
	case breaks > 1:
		return newPart, yes
	case j > line && !within:
		return nextLine, yes
	case j == line && unicode.IsUpper(first):
		return sameLine, yes
	}
	return sameSentence, yes
}

// skipTags is the offset behind the closing tags of wrappers at v[i:].
func skipTags(v string, i int, eof bool) (end int, more bool) {
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

// marked says whether s begins with something that is no text: with what the reader would
// open at the start of a line, or with what closes something.
func (t *text) marked(s string, eof bool) verdict {
	if s[0] == '<' || s[0] == '[' {
		switch {
		case len(s) == 1:
			return scan.WaitUnless(eof)
		case s[1] == '/' || s[1] == '|':
			return yes
		}
	}
	if _, is := t.strayWord(s, eof); is != no {
		return is
	}
	probe := text{r: t.r, field: t.field, grammar: t.grammar}
	probe.fresh()
	looks := [...]func(*text, string, int, bool) (opening, verdict){(*text).line, (*text).inline, (*text).gluedName}
	for _, look := range looks {
		if _, is := probe.opens(s, 0, eof, look); is != no {
			return is
		}
	}
	return no
}

// gluedName looks for an offered name that a { or ( follows directly.
func (t *text) gluedName(v string, j int, eof bool) (opening, verdict) {
	n := nameEnd(v, j)
	switch {
	case t.r.s.json == nil || t.r.c.Open() || n == j:
		return opening{}, no
	case n == len(v) && !eof && t.mayName(v[j:]):
		return opening{}, wait
	case n == len(v) || v[n] != '{' && v[n] != '(' || !t.isNamed(v[j:n]):
		return opening{}, no
	}
	return opening{}, yes
}
