package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
	return t.r.told || t.field != Reasoning && !t.apart && front.Leads()
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
	// who writes about one leaves a blank
	if end < len(v) && !scan.IsSpace(t.before(v, j)) && strings.IndexByte("\"'`*_(", t.before(v, j)) < 0 &&
		!scan.IsSpace(v[end]) {
		return no
	}
	return t.r.s.header.Words.Sentence(v[end:], eof)
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
