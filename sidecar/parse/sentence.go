package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
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
	cut := eof && t.r.cut() && scan.Blank(v[end:]) // nobody knows what was to follow
	switch a := t.past.Ends(); {
	case is == wait:
		return isAlone, wait
	case cut && a != sentence.Ended:
		return isQuoted, yes
	case a == sentence.InItem, b == sentence.SameSentence, a != sentence.Ended && b == sentence.NextPart, a > sentence.PartOpen && b == sentence.NextLine:
		return isQuoted, yes
	case a == sentence.InSentence, b == sentence.SameLine, t.loose, b != sentence.NoSentence && t.past.Announces(): // an example, or the call itself
		return isOpen, yes
	}
	return isAlone, yes
}

// inQuotation says whether the control token at v[j:end] is quoted: it stands in a sentence
// that goes on behind it.
func (t *text) inQuotation(v string, j, end int, eof bool) verdict {
	p := t.past
	p.Add(v[:j])
	if a := p.Ends(); a != sentence.InSentence && a != sentence.InItem {
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
	case i >= sentence.MaxGap:
		return no
	case i == len(s) && eof && t.r.cut():
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

// follows looks at v[end:].
func (t *text) follows(v string, end int, eof bool) (sentence.Sequel, verdict) {
	line, j, is := sentence.Behind(v, end, eof)
	if is != no {
		return sentence.NoSentence, is
	}
	if v[j] == '{' { // the arguments again
		return sentence.NoSentence, yes
	}
	if is := t.marked(v[j:], eof); is != no {
		return sentence.NoSentence, is
	}
	return sentence.Goes(v, line, j, eof)
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
