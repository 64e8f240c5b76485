package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// thoughts reads the reasoning field. It passes at once; from the first control token on it is held, as
// a call may stand there.
type thoughts struct {
	held []byte
	open bool // a control token was seen
	base int  // offset of held[0] in the field

	early []byte // content so far, while it may complete a message that the thoughts end within
	look  int    // length of early before the next look
	over  bool   // early is decided
}

// readReasoning adds reasoning.
func (r *Reader) readReasoning(s string) {
	t := &r.thought
	if r.s.harmony == nil {
		r.emit(Thought, s)
		return
	}
	if t.open {
		t.held = append(t.held, s...)
		return
	}
	s = string(t.held) + s
	t.held = t.held[:0]
	at, _, end := r.s.header.Alphabet.Find(s, 0, false)
	if t.open = at >= 0; t.open {
		end = at
	}
	r.emit(Thought, s[:end])
	t.base += end
	t.held = append(t.held, s[end:]...)
}

// joinReasoning returns content, preceded by the beginning of its message if the thoughts end within
// that.
func (r *Reader) joinReasoning(s string, eof bool) string {
	t := &r.thought
	if t.over || r.s.harmony == nil {
		return s
	}
	if len(t.early)+len(s) < t.look && !eof {
		t.early = append(t.early, s...)
		return ""
	}
	s = string(t.early) + s
	at, is := r.s.header.Continues(string(t.held), s, r.names.Known, eof)
	if is == wait {
		t.early, t.look = []byte(s), len(s)+len(s)/8 // so any chunking costs few looks
		return ""
	}
	t.early, t.over = nil, s != "" || eof
	if is == yes {
		s = string(t.held[at:]) + s
		t.held = t.held[:at]
	}
	return s
}

// closeThoughts looks for a complete call in the reasoning if the rest of the reply has nothing to show
// or run.
func (r *Reader) closeThoughts() {
	t := &r.thought
	held := string(t.held)
	t.held = nil
	if r.found == 0 && scan.Blank(r.shown.String()) && len(r.result.Refused) == 0 {
		all := r.thoughtText.String() + held
		if r.salvage(all, held) {
			return
		}
	}
	r.emit(Thought, r.s.header.Alphabet.Strip(held))
}

// salvage reads the reasoning as content and keeps calls in complete syntax only: marked up, or the
// whole of it. Of others it reports only what the policy denied. If it begins with a header, the whole
// reply stands there.
func (r *Reader) salvage(all, marked string) bool {
	in, base := all, 0
	token := len(all) - len(marked) // offset of the first token
	headed := r.s.harmony != nil && r.s.header.Headed(all)
	if headed {
		marked = all
	}
	at := -1
	if r.s.json != nil && r.s.json.Envelope.IsDump(r.c, all, r.facts.MaxDepth) {
		marked = ""
	} else if r.s.harmony != nil {
		at = lastHeaders(&r.s.header.Words, all)
	}
	if at >= 0 && at < token && (marked == "" || token-at <= harmony.MaxGlue) {
		marked, base = all[at:], at
		in = marked
	} else if headed {
		in = marked
	} else if marked != "" {
		in, base = marked, r.thought.base
	} else if s := strings.TrimSpace(all); s == "" || r.s.json == nil || !r.s.json.Reads(Reasoning) {
		return false
	} else if s[0] != '{' && s[0] != '[' && r.s.printed.Begins(s, true) != yes {
		return r.takeLastObject(all)
	}
	if marked != "" && !r.s.harmony.Reads(Reasoning) {
		return false
	}
	probe := r.s.Reader(r.c, r.facts)
	probe.content.field, probe.content.base = Reasoning, base
	probe.content.held = false
	if before := all[:len(all)-len(in)]; before != "" {
		probe.content.front.Add(before)
		probe.content.advance(before)
	}
	probe.ended, probe.calls = r.ended, r.calls
	probe.content.feed(in, false)
	probe.closeContent()
	denied := probe.result.Denied() // else the model would never read why
	f, _ := r.s.header.Alphabet.At(marked, true)
	// the thought had ended: text behind the call is invented
	behind := f.Token == harmony.End && probe.called()
	shows := !behind && !scan.Blank(probe.shown.String())
	// the server put the whole reply there
	whole := marked != "" && scan.Blank(all[:len(all)-len(in)]) && probe.result.Marked
	if probe.found == 0 && !denied && !(whole && shows) || shows && !whole {
		for _, s := range probe.result.Steps {
			if s.Denied != nil {
				r.result.Steps = append(r.result.Steps, s)
			}
		}
		return false
	}
	for _, e := range probe.events {
		switch e.Kind {
		case ToolCall:
			r.call(*e.Call)
		case Thought, Text:
			if headed && e.Kind == Thought { // it was passed on as it came
				continue
			}
			if behind {
				e.Kind = Thought
			}
			r.emit(e.Kind, e.Text)
		}
	}
	r.result.Steps = append(r.result.Steps, probe.result.Steps...)
	if denied {
		r.result.Refused = probe.result.Refused
	}
	return true
}

// takeLastObject takes the call that ends the reasoning, or arguments that fit one tool alone, if the
// last sentence announces a call or the tool reads.
func (r *Reader) takeLastObject(all string) bool {
	i := LastObject(all)
	if i <= 0 || r.cut() {
		return false
	}
	t := text{r: r, field: Reasoning, base: i}
	t.front.Add(all[:i])
	if t.allKnown(r.s.json, all[i:]) {
		return t.takeEnvelope(r.s.json, all[i:], 0, len(all)-i, tools.Ending{}, t.atEnd(all[i:]))
	}
	call, ok := r.c.Fit(all[i:], tools.Ending{})
	sure := ok && r.c.Class(call.Name) == tools.Read && !t.introduces(&t.front) && !t.front.EndsInToolName()
	return sure && t.takeInferred(r.s.json, all[i:], 0, len(all)-i, call)
}

// called reports whether a call is the first thing that the reader returned.
func (r *Reader) called() bool {
	i := slices.IndexFunc(r.events, func(e Event) bool { return e.Kind == ToolCall || !scan.Blank(e.Text) })
	return i >= 0 && r.events[i].Kind == ToolCall
}

// thinkTag looks for tags around thoughts, as other models and servers write them. A tag that the
// request mentions is text.
func (t *text) thinkTag(v string, j int, eof bool) (opening, verdict) {
	first := t.firstAt(v, j)
	if !first && !t.inLead(j) {
		return opening{}, no
	}
	closes, tags := strings.HasPrefix(v[j+1:], "/"), t.r.s.header.Closing
	if !closes && first {
		tags = t.r.s.header.Opening
	}
	n, is := scan.StartsAnyFold(v[j:], tags, eof)
	if tell := t.r.facts.Mentioned; is == yes && tell != nil &&
		tell("<"+strings.ToLower(strings.TrimLeft(v[j:j+n], "</"))) {
		return opening{}, no
	}
	return opening{n: n, markup: true, begin: func(t *text, v string, n int) {
		if closes {
			t.settle(Thought)
			t.startLine()
			t.first = true
			return
		}
		t.message(Thought, false)
		t.think = strings.ToLower("</" + v[1:n])
	}}, is
}

// stepThink passes on thoughts up to their closing tag.
func (t *text) stepThink(v string, eof bool) (int, bool) {
	tag := t.think
	if i, _ := scan.FindAnyFold(v, 0, []string{tag}, true); i >= 0 {
		t.emit(Thought, v[:i])
		t.resumeProse(0)
		t.startLine()
		t.think, t.first = "", true
		return i + len(tag), false
	}
	n := len(v)
	if !eof {
		n -= scan.Begun(strings.ToLower(v[max(0, n-len(tag)):]), tag)
	}
	t.emit(Thought, v[:n])
	return n, true
}

// Some models write their thoughts between literals at the start of the content. If the prompt begins
// the thought, only the closing literal comes, or none if the reply was cut:
//
//	We need the file.</think>
//	<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>

// thinking separates the thoughts at the start of a content from the text behind them. A nil one finds
// none.
type thinking struct {
	st     *Strategy
	calls  []string // literals that open a call
	state  thinkingState
	held   string // undecided text
	looked int    // length of held that contains no literal
}

// thinkingState is what is known of a content.
type thinkingState uint8

const (
	unmarked  thinkingState = iota // undecided
	inThought                      // within a thought
	// within a thought that contains a call, unless the thought continues behind it
	inCalls
	ended    // behind a thought; line breaks are dropped
	answered // text follows
)

// feed adds a piece of the content and returns its text; thoughts go to think.
func (t *thinking) feed(s string, eof, cut bool, think func(string)) (text string) {
	if t == nil || t.state == answered {
		return s
	}
	t.held += s
	for before := answered; t.state != before && t.state != answered; {
		before = t.state
		t.step(eof, cut, think)
	}
	if t.state == answered {
		text, t.held = t.held, ""
	}
	return text
}

// step decides about the held text.
func (t *thinking) step(eof, cut bool, think func(string)) {
	if t.state == ended { // another thought may begin
		t.held = strings.TrimLeft(t.held, "\n")
		switch lit, is := scan.StartsAny(t.held, t.st.Open, eof); is {
		case yes:
			t.held, t.looked, t.state = t.held[len(lit):], 0, inThought
		case no:
			t.state = answered
		}
		return
	}
	if t.state == unmarked {
		i := scan.SkipSpace(t.held, 0)
		lit, is := scan.StartsAny(t.held[i:], t.st.Open, eof)
		switch {
		case is == yes:
			t.held, t.looked, t.state = t.held[i+len(lit):], 0, inThought
			return
		case is == wait || i == len(t.held) && !eof:
			return
		case !t.st.Opened:
			t.state = answered
			return
		}
	}
	at, n := t.find(t.st.Close)
	if at >= 0 && t.state == unmarked { // a later thought has an answer in front
		if begun, _ := scan.FindAnyFold(t.held[:at], 0, t.st.Open, true); begun >= 0 {
			t.state = answered
			return
		}
	}
	if at >= 0 {
		think(t.held[:at])
		t.held, t.state = t.held[at+n:], ended
		return
	}
	if t.state == inThought {
		t.looked = 0
		if at, _ = t.find(t.calls); at >= 0 {
			t.state = inCalls
		} else if at = len(t.held); !eof { // the end may begin a literal
			at = max(0, at-longest(t.st.Close, t.calls)+1)
			at = scan.WholeRunes(t.held[:at])
		}
		think(t.held[:at])
		t.held, t.looked = t.held[at:], 0
	}
	if !eof {
		return
	}
	if t.state == unmarked && cut && !scan.Blank(t.held) {
		if at, _ := scan.FindAnyFold(t.held, 0, t.calls, true); at < 0 {
			think(t.held)
			t.held = ""
		}
	}
	t.state = answered
}

// find returns the first of some literals in the held text, or -1. Each byte is searched once.
func (t *thinking) find(lits []string) (at, n int) {
	if at, n = scan.FindAnyFold(t.held, t.looked, lits, true); at < 0 {
		t.looked = max(t.looked, len(t.held)-longest(lits)+1)
	}
	return at, n
}

// longest returns the length of the longest literal.
func longest(lists ...[]string) (n int) {
	for _, lit := range slices.Concat(lists...) {
		n = max(n, len(lit))
	}
	return n
}

// releaseHeld releases an undecided beginning: as a thought if the server is known to omit the opening
// literal, else as text.
func (t *thinking) releaseHeld(opened bool, think func(string)) (text string) {
	switch {
	case t == nil || t.state != unmarked:
		return ""
	case opened:
		t.state = inThought
		think(t.held)
	default:
		t.state, text = answered, t.held
	}
	t.held, t.looked = "", 0
	return text
}
