package parse

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/evidence"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/callcode"
)

// A clue is the name of an offered tool with arguments behind it, in markup that no strategy
// knows, or that lost its signs:
//
//	functions.read commentary json {"path":"a"}
//	⟦call⟧ read ⟦args⟧ {"path":"a"}
//	read(path="a")
//
// Evidence says whether it is a call.
type clue struct {
	start    int // where it begins: at the start of its line, if nothing but debris is in front
	from, to int // the name
	words    int // strange words between its parts
	signs    int // strange signs there
}

const (
	maxLead  = 24 // bytes of debris in front of a name
	maxWord  = 12 // bytes of a strange word
	maxSigns = 4  // strange signs in debris
)

// clueBefore looks for a clue that ends at v[j:], where its arguments begin. With open the
// word that ends there may still go on.
func (t *text) clueBefore(v string, j int, open bool) (c clue, ok bool) {
	c.start = j
	floor := t.floor()
	for i := j; j-i <= header.MaxGlue; {
		end := i
		for end > floor && (v[end-1] == ' ' || v[end-1] == '\t') {
			end--
		}
		if end > floor && v[end-1] == '\n' && !strings.Contains(v[end:j], "\n") {
			i = end - 1
			continue
		}
		from := t.wordStart(v, end)
		from += strings.LastIndex(v[from:end], "."+header.Namespace) + 1
		word := v[from:end]
		glued := t.before(v, from) == '.' && strings.HasPrefix(word, header.Namespace)
		switch {
		case end <= floor, end-from > maxName:
			return c, false
		case word == "":
			n, fine := sentence.Debris(v[:end])
			if c.signs++; !fine || c.signs > maxSigns {
				return c, false
			}
			i = end - n
			continue
		case t.isNamed(word) && (glued || !t.nameGoesOn(v, from)):
			if c.from, c.to = from, end; glued {
				c.signs++
			}
			c.start = t.leadOf(v, from, 0, &c)
			return c, true
		case t.r.s.header.Knows(word), open && end == j && len(word) <= maxWord:
		default:
			if c.words++; c.words > 1 || len(word) > maxWord {
				return c, false
			}
		}
		i = from
	}
	return c, false
}

// wordStart is where the word that ends at v[:end] begins.
func (t *text) wordStart(v string, end int) int {
	from, floor := end, t.floor()
	for from > floor && end-from <= maxName {
		n := 1
		if b := v[from-1]; b >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeLastRuneInString(v[floor:from]); !unicode.IsLetter(r) {
				break
			}
		} else if !scan.IsName(b) {
			break
		}
		from -= n
	}
	return from
}

// floor is where the text begins in which a clue may stand: behind what was released.
func (t *text) floor() int { return max(0, t.looked-t.base) }

// nameGoesOn says that in front of v[from:] stands what belongs to the same word.
func (t *text) nameGoesOn(v string, from int) bool {
	if b := t.before(v, from); b < utf8.RuneSelf {
		return scan.IsName(b)
	}
	r, _ := utf8.DecodeLastRuneInString(v[:from])
	return from == 0 || unicode.IsLetter(r)
}

// isNamed says that a word is the name of an offered tool; behind functions. it may be bent.
func (t *text) isNamed(word string) bool {
	rest := strings.TrimPrefix(word, header.Namespace)
	return rest != "" && (t.r.initials.Has(word[0]) && t.r.c.Exact(word) || len(rest) < len(word) && (t.r.c.Exact(rest) || t.known(rest)))
}

// itemSigns begin an item of a list, a quotation, a heading or a row of a table.
const itemSigns = "-*+>|•–#0123456789"

// leadOf is where the debris in front of the name at v[from:] begins, if nothing else stands
// in its line. So many signs of it were seen before.
func (t *text) leadOf(v string, from, signs int, c *clue) int {
	words, floor := 0, t.floor()
	for i := from; from-i <= maxLead; {
		switch {
		case t.before(v, i) == '\n':
			if signs+words == 0 || i < from && v[i] == ' ' {
				return from
			}
			c.signs += signs
			return i
		case i <= floor:
			return from
		case v[i-1] == ' ':
			i--
		case scan.IsWord(v[i-1]) && v[i-1] < utf8.RuneSelf:
			end := i
			i = t.wordStart(v, end)
			if words++; words > 1 || !t.leadWord(v[i:end], end == from) {
				return from
			}
		default:
			n, ok := sentence.Debris(v[:i])
			if signs++; !ok || signs > maxSigns || strings.Contains(itemSigns, v[i-n:i]) {
				return from
			}
			i -= n
		}
	}
	return from
}

// leadWord says that w is a word in front of a call, or with open the beginning of one.
func (t *text) leadWord(w string, open bool) bool {
	words := &t.r.s.header.Words
	if scan.AmongFold(w, words.Call, words.Channels) {
		return true
	}
	return open && slices.ContainsFunc(words.Call, func(word string) bool { return scan.StartsFold(word, w, true) == yes })
}

// clueAt enters a clue whose arguments begin at v[j:].
func (t *text) clueAt(v string, j int, eof bool) (opening, verdict) {
	c, ok := t.clueBefore(v, j, false)
	if !ok || v[j] == '(' && c.to < j {
		return opening{}, no
	}
	o, is := opening{back: j - c.start}, yes
	if k := scan.SkipSpace(v, j+1); v[j] == '{' {
		switch {
		case k == len(v):
			is = scan.WaitUnless(eof)
		case v[k] != '"' && v[k] != '}':
			is = scan.Key(v, k, eof)
		}
	}
	c.from, c.to = c.from-c.start, c.to-c.start
	o.begin = func(t *text, _ string, _ int) {
		t.enter(inClue)
		t.at, t.clue = j-c.start, c
	}
	return o, is
}

// stepClue reads a clue. at is where its arguments begin.
func (t *text) stepClue(v string, eof bool) (int, bool) {
	end, ok := t.clueEnd(v, eof)
	switch {
	case !ok && !eof:
		return 0, true
	case !ok:
		return t.cutClue(v)
	}
	call := callcode.Call{Name: v[t.clue.from:t.clue.to], Args: v[t.at:end]}
	if v[t.at] == '(' {
		found, ok := callcode.Calls(strings.Clone(v[t.clue.from:end]))
		switch {
		case ok && len(found) == 1:
			call = found[0]
		case strings.HasPrefix(call.Name, header.Namespace) && end-t.at > 2: // the arguments themselves are damaged
			call.Args = v[t.at+1 : end-1]
		default:
			return t.releaseClue(v[:end], "no call in brackets")
		}
	}
	behind, is := sentence.Trail(v, end, maxLead, eof)
	if is == wait {
		return 0, true
	}
	a, is := t.around(v, behind, eof)
	if is == wait {
		return 0, true
	}
	signs := a
	if t.clue.words > 0 {
		signs = signs.With(evidence.Word)
	}
	if t.clue.signs > 0 || behind > end {
		signs = signs.With(evidence.Signs)
	}
	if _, refusal := t.r.c.Call(strings.Clone(call.Name), []byte(call.Args), tools.Ending{}); refusal != nil {
		return t.releaseClue(v[:end], "no arguments behind a name")
	}
	if !t.runs(evidence.Name, signs, call) {
		return t.releaseClue(v[:end], why(a))
	}
	t.found(t.r.s.json, v, 0, behind, call, tools.Ending{}, tools.Repair{Kind: "call.glued", At: t.base})
	t.behindCall()
	return behind, false
}

// clueEnd is where the arguments of a clue end.
func (t *text) clueEnd(v string, eof bool) (end int, ok bool) {
	if t.at >= len(v) { // more than the window holds stands in front
		return 0, false
	}
	if v[t.at] == '(' {
		if t.early(v, eof) {
			return 0, false
		}
		end = callcode.End(v, t.clue.from, false)
		return end, end > 0
	}
	t.scan.At = max(t.scan.At, t.at)
	t.scan.Run(v, eof)
	return t.scan.End, t.scan.End > 0
}

// cutClue handles a clue that the reply ends in.
func (t *text) cutClue(v string) (int, bool) {
	name := v[t.clue.from:t.clue.to]
	a, _ := t.around(v, len(v), true)
	if v[t.at] == '{' && t.field == Content && t.mayBe(evidence.Name, a, callcode.Call{Name: name}) && t.allowed(t.r.s.json, 0, len(v), v) {
		t.cutOff(t.r.s.json, v, 0, strings.Clone(name))
		t.behindCall()
		return len(v), false
	}
	return t.releaseClue(v, "unfinished arguments behind a name")
}

// releaseClue gives a clue back as text; its arguments may still be an object that names a tool.
func (t *text) releaseClue(v, why string) (int, bool) {
	at := t.at
	t.release(t.r.s.json, len(v), why)
	t.at = at
	return 0, false
}
