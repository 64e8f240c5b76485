package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A call in a sentence is quoted: the model writes about it, and the gateway must not run it. The text in
// front of a call and behind it shows whether a sentence goes on around it.

// Signs that the text around a call gives of it.
const (
	isAlone  Set = 0
	isOpen   Set = 1 << Open   // it may be quoted, or not
	isQuoted Set = 1 << Quoted // a sentence goes on around it
	isTold   Set = 1 << Told   // the text speaks about it
	isBehind Set = 1 << Behind // text stands behind
	isBeside Set = 1 << Beside // text in front does not say that it is made
)

// why is the reason for which a call with such signs around it is text.
func why(signs Set) string {
	switch {
	case signs.Has(Told):
		return "the text beside it speaks about it"
	case signs.Has(Quoted):
		return "a sentence goes on around it"
	}
	return "its signs weigh too little"
}

// around looks at the text in front of v and behind v[:end].
func (t *text) around(v string, end int, eof bool) (Set, verdict) {
	b, told, is := t.follows(v, end, eof)
	if is == wait {
		return 0, wait
	}
	lead := t.leadIn()
	told |= lead & isTold
	cut := eof && t.r.cut() && scan.Blank(v[end:]) // what was to follow is unknown
	switch a := t.past.Ends(); {
	case cut && a != Ended:
		return told | isQuoted, yes
	case a == InItem, b == SameSentence, a != Ended && b == NextPart, a > PartOpen && b == NextLine:
		return told | isQuoted, yes
	case a == InSentence, b == SameLine, b == NextPart, t.loose, b != NoSentence &&
		t.past.Announces(): // an example, or the call itself
		return told | lead | isOpen, yes
	}
	return told | lead, yes
}

// leadIn is what the text in front says of a call that follows; so it says of those behind it.
func (t *text) leadIn() Set {
	if t.r.facts.Talk == nil {
		return 0
	}
	switch lead := t.r.facts.Talk.Lead(&t.past); {
	case t.r.told, lead == Speaks:
		return isTold
	case scan.AmongFold(strings.TrimSpace(t.past.String()), t.r.s.header.Words.Types): // the rest of a header
		return 0
	case lead == Silent && t.past.Ends() >= InSentence:
		return isBeside | isOpen
	case lead == Silent:
		return isBeside
	}
	return 0
}

// makes says that the text in front of arguments without a name makes a call of a tool of them: it says
// so, or names the tool, which reads. "" is any tool.
func (t *text) makes(front *Front, name string) bool {
	k := t.r.facts.Talk
	switch {
	case k == nil || t.speaks(front):
		return false
	case k.Makes(front):
		return true
	}
	return slices.ContainsFunc(t.r.c.Names(), func(n string) bool {
		return (n == name || name == "") && t.r.c.Class(n) == tools.Read && strings.Contains(front.String(),
			n)
	})
}

// speaks says that the text in front speaks about what follows.
func (t *text) speaks(front *Front) bool {
	k := t.r.facts.Talk
	return t.r.told || k != nil && k.Lead(front) == Speaks
}

// tells are the signs of a text that follows a call.
func (t *text) tells(v string, eof bool) (signs Set, is verdict) {
	part, is := First(v, eof)
	talk := t.r.facts.Talk
	switch {
	case is != yes || talk == nil:
		return 0, is
	case eof && t.r.cut() && len(part) == len(v): // how it goes on is unknown
		return isTold, yes
	}
	switch talk.Behind(part) {
	case Speaks:
		signs = isTold
	case Silent:
		signs = isBehind
	}
	return signs, yes
}

// inQuotation says whether the control token at v[j:end] is quoted: it stands in a sentence
// that goes on behind it.
func (t *text) inQuotation(v string, j, end int, eof bool) verdict {
	p := t.past
	p.Add(v[:j])
	if a := p.Ends(); a != InSentence && a != InItem {
		return no
	}
	// who writes about one leaves a blank
	if end < len(v) && !scan.IsSpace(t.before(v, j)) && strings.IndexByte("\"'`*_(", t.before(v, j)) < 0 &&
		!scan.IsSpace(v[end]) {
		return no
	}
	return t.r.s.header.Words.Sentence(v[end:], eof)
}

// follows looks at v[end:].
func (t *text) follows(v string, end int, eof bool) (s Sequel, signs Set, is verdict) {
	line, j, is := SentenceBehind(v, end, eof)
	if is != no {
		return NoSentence, 0, is
	}
	if v[j] == '{' { // the arguments again
		return NoSentence, 0, yes
	}
	if is := t.marked(v[j:], eof); is != no {
		return NoSentence, 0, is
	}
	if s, is = Goes(v, line, j, eof); is == yes && s != SameSentence {
		if signs, is = t.tells(v[j:], eof); signs == 0 && t.r.facts.Talk != nil { // it makes the next call
			s = NoSentence
		}
	}
	return s, signs, is
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
