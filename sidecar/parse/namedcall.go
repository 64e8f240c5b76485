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

const maxTrail = 24 // bytes of debris behind the arguments

// namedCalls returns v as text that may hold named calls. They do not reach back over released text.
func (t *text) namedCalls(v string) NameText {
	return NameText{Names: t.r.names, Grammar: t.r.s.header, V: v, Last: t.last,
		Floor: max(0, t.looked-t.base)}
}

// namedCallAt enters a named call whose arguments begin at v[j:].
func (t *text) namedCallAt(v string, j int, eof bool) (opening, verdict) {
	at := t.namedCalls(v)
	c, ok := at.Before(j, false)
	if !ok || v[j] == '(' && (c.To < j || c.Lost) {
		return opening{}, no
	}
	o, is := opening{back: j - c.Start}, yes
	if k := scan.SkipSpace(v, j+1); v[j] == '{' {
		switch {
		case k == len(v):
			is = scan.WaitUnless(eof)
		case v[k] != '"' && v[k] != '}':
			is = scan.Key(v, k, eof)
		}
	}
	c.From, c.To = c.From-c.Start, c.To-c.Start
	o.begin = func(t *text, _ string, _ int) {
		t.enter(inNamedCall)
		t.at, t.namedCall = j-c.Start, c
	}
	return o, is
}

// stepNamedCall reads a named call whose arguments begin at t.at.
func (t *text) stepNamedCall(v string, eof bool) (int, bool) {
	end, ok := t.namedCallEnd(v, eof)
	switch {
	case !ok && !eof:
		return 0, true
	case !ok:
		return t.cutNamedCall(v)
	}
	if t.namedCall.Lost {
		return t.takeLostName(v, end, eof)
	}
	call := Call{Name: v[t.namedCall.From:t.namedCall.To], Args: v[t.at:end]}
	if v[t.at] == '(' {
		found, ok := codeCalls(strings.Clone(v[t.namedCall.From:end]))
		switch {
		case ok && len(found) == 1:
			call = found[0]
		case strings.HasPrefix(call.Name, harmony.Namespace) &&
			end-t.at > 2: // the arguments themselves are damaged
			call.Args = v[t.at+1 : end-1]
		default:
			return t.releaseNamedCall(v[:end], "no call in brackets")
		}
	}
	behind, is := trailingSigns(v, end, maxTrail, eof)
	if is == wait {
		return 0, true
	}
	a, is := t.around(v, behind, eof)
	if is == wait {
		return 0, true
	}
	signs := a
	if t.namedCall.Words > 0 {
		signs |= Word
	}
	if t.namedCall.Signs > 0 || behind > end {
		signs |= Strange
	}
	if _, refusal := t.r.c.Call(strings.Clone(call.Name), []byte(call.Args), tools.Ending{}); refusal != nil {
		return t.releaseNamedCall(v[:end], "no arguments behind a name")
	}
	if !t.accepts(Named, signs, call) {
		return t.releaseNamedCall(v[:end], quotedBecause(a))
	}
	t.addCandidate(t.r.s.json, v, 0, behind, call, tools.Ending{}, tools.Repair{Kind: "call.glued", At: t.base})
	return t.afterCall(behind)
}

// namedCallEnd returns the end of the arguments.
func (t *text) namedCallEnd(v string, eof bool) (end int, ok bool) {
	if t.at >= len(v) { // the text in front exceeds the window
		return 0, false
	}
	if v[t.at] == '(' {
		if t.tooEarly(v, eof) {
			return 0, false
		}
		end = codeEnd(v, t.namedCall.From, false)
		return end, end > 0
	}
	t.scan.At = max(t.scan.At, t.at)
	t.scan.Run(v, eof)
	return t.scan.End, t.scan.End > 0
}

// cutNamedCall handles a named call that ends the reply.
func (t *text) cutNamedCall(v string) (int, bool) {
	name := v[t.namedCall.From:t.namedCall.To]
	a, _ := t.around(v, len(v), true)
	if !t.namedCall.Lost && v[t.at] == '{' && t.field == Content && mayBe(Named, a) &&
		t.allowed(t.r.s.json, 0, len(v), v) {
		t.refuseTruncated(t.r.s.json, v, 0, strings.Clone(name))
		return t.afterCall(len(v))
	}
	return t.releaseNamedCall(v, "unfinished arguments behind a name")
}

// releaseNamedCall gives a named call back as text; its arguments may still be an object that names a
// tool.
func (t *text) releaseNamedCall(v, why string) (int, bool) {
	at := t.at
	t.release(t.r.s.json, len(v), why)
	t.at = at
	return 0, false
}

// NamedCall is the name of an offered tool with arguments behind it, in unknown markup or without its
// signs:
//
//	functions.read commentary json {"path":"a"}
//	⟦call⟧ read ⟦args⟧ {"path":"a"}
//	read(path="a")
//
// The text around it decides whether it is a call.
type NamedCall struct {
	Start    int  // at the start of its line if only debris precedes it
	From, To int  // the name
	Words    int  // unknown words between its parts
	Signs    int  // unknown signs there
	Lost     bool // no name, only the rest of a header, as in commentary json{"path":"a"}
}

// NameText is a text that may hold named calls.
type NameText struct {
	Names   *Names
	Grammar *harmony.Grammar
	V       string
	Last    rune // the character in front of V
	Floor   int  // no named call reaches back over this offset
}

const (
	maxName  = 64 // bytes of a name that are held back
	maxLead  = 24 // bytes of debris in front of a name
	maxWord  = 12 // bytes of an unknown word
	maxSigns = 4  // unknown signs in debris
)

// Before looks for a named call whose arguments begin at V[j:]. With open, the word that ends there may
// still grow.
func (t *NameText) Before(j int, open bool) (c NamedCall, ok bool) {
	if c, ok = t.named(j, open); ok {
		return c, true
	}
	from := t.leftoverStart(j, open)
	return NamedCall{Start: from, From: from, To: from, Lost: true}, from < j
}

// leftoverStart returns the start of a line in which only the rest of a header without a name precedes
// V[j:]; or j.
func (t *NameText) leftoverStart(j int, open bool) int {
	least := max(0, j-maxLead-maxWord)
	from := least + strings.LastIndexByte(t.V[least:j], '\n') + 1
	if from == j || from < t.Floor || t.prevByte(from) != '\n' {
		return j
	}
	channels := false
	for i := from; i < j; {
		word, _, _ := strings.Cut(t.V[i:j], " ")
		channel, is := t.Grammar.Words.Leftover(word)
		channels = channels || channel
		if is == no || is == wait && !(open && i+len(word) == j) {
			return j
		}
		i = scan.SkipBytes(t.V[:j], i+len(word), " ")
	}
	if !channels && t.V[j-1] == ' ' { // a type alone is glued to what follows
		return j
	}
	return from
}

func (t *NameText) named(j int, open bool) (c NamedCall, ok bool) { return t.namedBefore(j, j, open) }

// namedBefore looks for a name that ends at V[:i], or in front of words and signs there.
func (t *NameText) namedBefore(i, j int, open bool) (c NamedCall, ok bool) {
	c.Start = j
	floor := t.Floor
	for j-i <= harmony.MaxGlue {
		end := i
		for end > floor && (t.V[end-1] == ' ' || t.V[end-1] == '\t') {
			end--
		}
		if end > floor && t.V[end-1] == '\n' && !strings.Contains(t.V[end:j], "\n") {
			i = end - 1
			continue
		}
		from := t.wordStart(end)
		from += strings.LastIndex(t.V[from:end], "."+harmony.Namespace) + 1
		word := t.V[from:end]
		glued := t.prevByte(from) == '.' && strings.HasPrefix(word, harmony.Namespace)
		switch {
		case end <= floor, end-from > maxName:
			return c, false
		case word == "":
			n, fine := debrisSign(t.V[:end])
			if c.Signs++; !fine || c.Signs > maxSigns {
				return c, false
			}
			i = end - n
			continue
		case t.Names.Named(word) && (glued || !t.nameGoesOn(from)):
			if open && end == j { // it may become another word
				if front, is := t.namedBefore(from, j, open); is {
					return front, true
				}
			}
			if c.From, c.To = from, end; glued {
				c.Signs++
			}
			c.Start = t.debrisStart(from, 0, &c)
			return c, true
		case t.Grammar.Knows(word), open && end == j && len(word) <= maxWord:
		default:
			if c.Words++; c.Words > 1 || len(word) > maxWord {
				return c, false
			}
		}
		i = from
	}
	return c, false
}

// wordStart returns the start of the word that ends at V[:end].
func (t *NameText) wordStart(end int) int {
	from, floor := end, t.Floor
	for from > floor && end-from <= maxName {
		n := 1
		if b := t.V[from-1]; b >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeLastRuneInString(t.V[floor:from]); !unicode.IsLetter(r) {
				break
			}
		} else if !scan.IsName(b) {
			break
		}
		from -= n
	}
	return from
}

// nameGoesOn reports whether the word at V[from:] begins before it.
func (t *NameText) nameGoesOn(from int) bool {
	if b := t.prevByte(from); b < utf8.RuneSelf {
		return scan.IsName(b)
	}
	if from == 0 {
		return unicode.IsLetter(t.Last)
	}
	r, _ := utf8.DecodeLastRuneInString(t.V[:from])
	return unicode.IsLetter(r)
}

// itemSigns begin an item of a list, a quotation, a heading or a row of a table.
const itemSigns = "-*+>|•–#0123456789"

// debrisStart returns the start of the debris in front of the name at V[from:], if nothing else stands
// in its line. signs were seen before.
func (t *NameText) debrisStart(from, signs int, c *NamedCall) int {
	words, floor := 0, t.Floor
	for i := from; from-i <= maxLead; {
		switch {
		case t.prevByte(i) == '\n':
			if signs+words == 0 || i < from && t.V[i] == ' ' {
				return from
			}
			c.Signs += signs
			return i
		case i <= floor:
			return from
		case t.V[i-1] == ' ':
			i--
		case scan.IsWord(t.V[i-1]) && t.V[i-1] < utf8.RuneSelf:
			end := i
			i = t.wordStart(end)
			if words++; words > 1 || !t.leadWord(t.V[i:end], end == from) {
				return from
			}
		default:
			n, ok := debrisSign(t.V[:i])
			if signs++; !ok || signs > maxSigns || strings.Contains(itemSigns, t.V[i-n:i]) {
				return from
			}
			i -= n
		}
	}
	return from
}

// leadWord reports whether w may precede a call; with open, as the beginning of such a word.
func (t *NameText) leadWord(w string, open bool) bool {
	words := &t.Grammar.Words
	if scan.AmongFold(w, words.Call, words.Channels) {
		return true
	}
	return open && slices.ContainsFunc(words.Call,
		func(word string) bool { return scan.StartsFold(word, w, true) == yes })
}

// Held returns how many bytes in front of V[j:] may be a named call.
func (t *NameText) Held(j int) int {
	if n, sure := t.quickHeld(j); sure {
		return n
	}
	whole := scan.WholeRunes(t.V[:j])
	if c, ok := t.Before(whole, true); ok {
		return j - c.Start
	}
	from := t.wordStart(whole)
	if n := harmony.BehindDot(t.prevByte(from), t.V[from:whole]); n > 0 {
		from = whole - n
	} else if t.nameGoesOn(from) || !t.Names.IsPrefix(t.V[from:whole]) {
		from = whole
	}
	start := t.debrisStart(from, 0, &NamedCall{})
	if whole < j { // a sign, or a letter of the name
		start = min(start, t.debrisStart(whole, 1, &NamedCall{}))
	}
	return j - start
}

// quickHeld is Held if one look at each byte suffices: no line begins in V[:j], no character is cut, and
// no word is a name, though the last one may become one.
func (t *NameText) quickHeld(j int) (held int, sure bool) {
	const most = 32
	if j > most || t.Last == '\n' || j > 0 && t.V[j-1] >= utf8.RuneSelf && scan.WholeRunes(t.V[:j]) < j {
		return 0, false
	}
	before := t.prevByte(0)
	for i, b := range []byte(t.V[:j]) {
		switch {
		case b == '\n', b == harmony.Namespace[0] && before == '.':
			return 0, false
		case t.Names.initials.Has(b) && (before >= utf8.RuneSelf || !scan.IsName(before)):
			word := scan.Name(t.V[i:j])
			switch open := i+len(word) == j; {
			case strings.HasPrefix(word, harmony.Namespace), !open && t.Names.c.Exact(word),
				before >= utf8.RuneSelf && open && t.Names.IsPrefix(word):
				return 0, false
			case open && t.Names.IsPrefix(word):
				return j - i, i >= t.Floor
			}
		}
		before = b
	}
	return 0, true
}

// prevByte returns the byte before V[i:]; for text in front of V, a byte of the same kind.
func (t *NameText) prevByte(i int) byte {
	if i == 0 {
		return byte(min(t.Last, utf8.RuneSelf))
	}
	return t.V[i-1]
}

// Names are the names of the offered tools, prepared for searching. They are immutable.
type Names struct {
	c        *tools.Catalog
	initials scan.Bytes // first bytes of the names and of their namespace
}

// NewNames returns the names of a catalog.
func NewNames(c *tools.Catalog) *Names {
	n := &Names{c, c.Initials()}
	n.initials.Add(harmony.Namespace[0])
	return n
}

// Known reports whether a name, however misspelt, is that of a tool or of a wrapper of calls. In an open
// catalog none is.
func (n *Names) Known(name string) bool {
	if n.c.Open() || strings.HasPrefix(name, tools.Parallel) {
		return !n.c.Open()
	}
	_, refusal := n.c.Name(strings.Clone(name))
	return refusal == nil
}

// Initial reports whether an offered name or the namespace of tools may begin with b.
func (n *Names) Initial(b byte) bool { return n.initials.Has(b) }

// Named reports whether a word is the name of an offered tool; behind functions. it may be misspelt.
func (n *Names) Named(word string) bool {
	rest := strings.TrimPrefix(word, harmony.Namespace)
	return rest != "" && (n.initials.Has(word[0]) && n.c.Exact(word) || len(rest) < len(word) &&
		(n.c.Exact(rest) || n.Known(rest)))
}

// IsPrefix reports whether a word may become the name of an offered tool.
func (n *Names) IsPrefix(word string) bool {
	switch {
	case word == "":
		return false
	case strings.HasPrefix(harmony.Namespace, word):
		return true
	}
	// behind functions. it may be misspelt
	return strings.HasPrefix(word, harmony.Namespace) || n.initials.Has(word[0]) && n.c.HasPrefix(word)
}

// debrisSign returns the length of the sign at the end of s; false if it ends a sentence, quotes, or is
// a letter.
func debrisSign(s string) (n int, ok bool) {
	r, n := utf8.DecodeLastRuneInString(s)
	return n, r != utf8.RuneError && !unicode.IsLetter(r) && !unicode.IsSpace(r) &&
		!strings.ContainsRune(".,;!?`\"'“”„«»{}()。，；！？", r)
}

// trailingSigns returns the end of unknown signs behind v[:end], up to the end of the line and fewer
// than most bytes.
func trailingSigns(v string, end, most int, eof bool) (behind int, is verdict) {
	i := end
	for i < len(v) && i-end < most {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case !utf8.FullRuneInString(v[i:]) && !eof:
			return 0, wait
		case r == '\n' || r == '\r':
			return i, yes
		case r == '<' || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,;!?\"'`{(", r):
			return end, yes
		}
		i += n
	}
	if i == len(v) {
		if !eof {
			return 0, wait
		}
		return i, yes
	}
	return end, yes
}

// passQuickly returns, with one look at each byte, how much of s is text in which nothing opens: all but
// a last word that may become an opener. Most pieces of a stream are read this way; ok is false if more
// must be looked at.
func (t *text) passQuickly(s string) (n int, ok bool) {
	const most = len(harmony.Assistant) - 1
	if t.mode != inProse || t.at > 0 || t.afterMessage || t.last == '\n' || t.fence.n > 0 || t.ticks > 0 ||
		len(s) > most {
		return 0, false
	}
	table, names := &t.r.s.first, t.r.names
	for i := range len(s) {
		switch opens := table[s[i]]; {
		case opens == opensAnywhere:
			return 0, false
		case opens == plain && !names.Initial(s[i]):
		case t.startsWord(s, i) && (names.Initial(s[i]) && names.IsPrefix(scan.Name(s[i:])) ||
			t.wordOpens(s, i)):
			return i, scan.NameEnd(s, i) == len(s)
		}
	}
	return min(scan.WholeRunes(s), len(s)-t.assistant(s)), true
}

// startsWord reports whether a word may begin at v[i:], also behind a letter of another script.
func (t *text) startsWord(v string, i int) bool {
	before := t.prevByte(v, i)
	return before >= utf8.RuneSelf || !scan.IsWord(before)
}

// tail returns how many bytes at the end of v may begin "assistant" or a named call.
func (t *text) tail(v string) int {
	if v == "" || t.fence.n > 0 || t.ticks > 0 {
		return 0
	}
	return max(t.assistant(v), t.heldBefore(v, len(v)))
}

// assistant returns how many bytes at the end of v may begin that word.
func (t *text) assistant(v string) int {
	if !t.readsHarmony() {
		return 0
	}
	return scan.Begun(v, harmony.Assistant)
}

// heldBefore returns how many bytes in front of v[j:] may be a named call.
func (t *text) heldBefore(v string, j int) int {
	if t.r.s.json == nil || t.r.c.Empty() || t.r.c.Open() {
		return 0
	}
	at := t.namedCalls(v)
	return at.Held(j)
}
