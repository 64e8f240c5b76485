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

// Calls says that the text ends with the name of a tool in its namespace: it was not lost.
func (p *Front) Calls() bool {
	text := strings.TrimRightFunc(p.String(), isGap)
	at := strings.LastIndex(text, harmony.Namespace)
	return at >= 0 && scan.NameEnd(text, at) == len(text)
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
func SentenceBehind(v string, end int, eof bool) (line, j int, is verdict) {
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
		return line, j, yes
	case more, j == len(v):
		return line, j, scan.WaitOr(eof)
	}
	return line, j, no
}

// Goes says how text goes on at v[j:], behind a line whose text ended at v[line:].
func Goes(v string, line, j int, eof bool) (Sequel, verdict) {
	first, _ := utf8.DecodeRuneInString(v[j:])
	within := unicode.IsLower(first) || strings.ContainsRune(".,;:!?)", first)
	switch breaks := strings.Count(v[line:j], "\n"); {
	case !eof && !utf8.FullRuneInString(v[j:]):
		return NoSentence, wait
	case breaks > 1 && within:
		return NextPart, yes
	case breaks > 1:
		return NewPart, yes
	case j > line && !within:
		return NextLine, yes
	case j == line && unicode.IsUpper(first):
		return SameLine, yes
	}
	return SameSentence, yes
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

// A call in a sentence is quoted: the model writes about it, and the gateway must not run it. The text in
// front of a call and behind it shows whether a sentence goes on around it.

// why is the reason for which a call with such signs around it is text.
func why(signs Signs) string {
	switch {
	case signs.Has(Quoted):
		return "a sentence goes on around it"
	case signs.Has(Led | Behind):
		return "the text beside it may speak about it"
	}
	return "it may not be meant as a call"
}

// around looks at the text in front of v and behind v[:end].
func (t *text) around(v string, end int, eof bool) (Signs, verdict) {
	b, is := t.follows(v, end, eof)
	if is == wait {
		return 0, wait
	}
	signs := t.leadIn()
	if b != NoSentence {
		signs |= Behind
	}
	cut := eof && t.r.cut() && scan.Blank(v[end:]) // what was to follow is unknown
	switch a := t.past.Ends(); {
	case cut && a != Ended:
		return signs | Quoted, yes
	case t.mode == inBlock && t.open.st.Own && (a == Ended || b == NoSentence || t.abuts(v, 0)):
		return signs, yes // a sentence about such a call goes on around it
	case a == InItem, b == SameSentence, a != Ended && b == NextPart, a > PartOpen && b == NextLine:
		return signs | Quoted, yes
	case a == InSentence, b == SameLine, b == NextPart, t.loose: // an example, or the call itself
		return signs | Open, yes
	}
	return signs, yes
}

// leadIn is what the text in front shows of a call that follows.
func (t *text) leadIn() Signs {
	if t.leads(&t.past) {
		return Led
	}
	return 0
}

// leads says that a text in front may speak about what follows: a call was in doubt before; or it ends with a
// colon or a question, and stands in no thought. What a model shows it shows in its answer, a message with a
// header of its own: text between two messages leads in a call.
func (t *text) leads(front *Front) bool {
	return t.r.aboutCall || t.field != Reasoning && !t.apart && front.Leads()
}

// names says that the text in front of arguments without a name names a tool, which reads, and may not speak
// about it.
func (t *text) names(front *Front, name string) bool {
	return !t.leads(front) && t.r.c.Class(name) == tools.Read && strings.Contains(front.String(), name)
}

// inQuotation says whether the control token at v[j:end] is quoted: it stands in a sentence
// that goes on behind it.
func (t *text) inQuotation(v string, j, end int, eof bool) verdict {
	p := t.past
	p.Add(v[:j])
	if a := p.Ends(); a != InSentence && a != InItem {
		return no
	}
	if end < len(v) && t.abuts(v, j) && !scan.IsSpace(v[end]) {
		return no
	}
	return t.r.s.header.Words.Sentence(v[end:], eof)
}

// abuts says that text stands right in front of v[j:]: who writes about a token leaves a blank, or quotes it.
func (t *text) abuts(v string, j int) bool {
	b := t.before(v, j)
	return !scan.IsSpace(b) && strings.IndexByte("\"'`*_(", b) < 0
}

// follows looks at v[end:].
func (t *text) follows(v string, end int, eof bool) (Sequel, verdict) {
	line, j, is := SentenceBehind(v, end, eof)
	if is != no {
		return NoSentence, is
	}
	if v[j] == '{' { // the arguments again
		return NoSentence, yes
	}
	if is := t.marked(v[j:], eof); is != no {
		return NoSentence, is
	}
	if is := t.leadsOn(v[j:], eof); is != no {
		return NoSentence, is
	}
	return Goes(v, line, j, eof)
}

// maxBetween is how much text between two calls leads in the second one.
const maxBetween = 160

// leadsOn says whether a short text goes on with markup.
func (t *text) leadsOn(s string, eof bool) verdict {
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
		if is := t.marked(s[i:], eof); is != no {
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
	if _, is := t.grammar.Stray(s, eof); is != no {
		return is
	}
	if is := harmony.Answers(s, eof); is != no {
		return is
	}
	probe := text{r: t.r, field: t.field, grammar: t.grammar}
	probe.fresh()
	looks := [...]func(*text, string, int, bool) (opening, verdict){(*text).line, (*text).inline,
		(*text).gluedName}
	for _, look := range looks {
		if _, is := probe.opens(s, 0, eof, look); is != no {
			return is
		}
	}
	return no
}

// gluedName looks for an offered name that a { or ( follows directly.
func (t *text) gluedName(v string, j int, eof bool) (opening, verdict) {
	n := scan.NameEnd(v, j)
	switch {
	case t.r.s.json == nil || t.r.c.Open() || n == j:
		return opening{}, no
	case n == len(v) && !eof && t.r.names.May(v[j:]):
		return opening{}, wait
	case n == len(v) || v[n] != '{' && v[n] != '(' || !t.r.names.Named(v[j:n]):
		return opening{}, no
	}
	return opening{}, yes
}

// Has says that one of these words, which have small letters, stands in a text: not as a part of a name, as
// json in package.json.
func Has(text string, words []string) bool {
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
