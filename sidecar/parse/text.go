package parse

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// mode is what the reader of a field expects next.
type mode uint8

const (
	inProse       mode = iota // text, and anything that may open in it
	inHeader                  // behind <|start|> or <|channel|>
	inMessage                 // the body of a message that is shown, thought or dropped
	inCall                    // the body of a message with a recipient
	inNameless                // the body of a commentary message without one
	inJSON                    // an object or array that may be a call
	inDump                    // a possible printed message
	inFence                   // a code fence that may hold a call
	inNamedCall               // an offered name with arguments behind it
	inLines                   // Thought:, Action:, Final Answer:
	inBlock                   // between the literals of a block
	inMaybeHeader             // "analysis …", a thought only if markup follows
	inInvented                // behind an invented result: all is dropped
)

// text reads one field. pend holds undecided text; the offsets of the modes are relative to its start.
//
// Two rules make a reading independent of chunks. A step decides by the bytes from pend[0] on only, and
// waits if one more byte could change the decision. And it waits in a window of a fixed size, which only
// look and findOpening end.
type text struct {
	r     *Reader
	field Field
	pend  []byte
	base  int // offset of pend[0] in the field
	alias bool

	mode         mode
	at           int   // where the current mode resumes
	last         rune  // before pend[0]; '\n' at the start of a line
	front        Front // the text before pend[0]
	first        bool  // only white space came before
	blanks       int   // white space at the start of pend, in bytes
	retry        int   // length of the text before another look
	fence        fence // the current code block
	midLineFence bool  // a code block began in the middle of a line
	ticks        int   // backticks that opened `inline code`

	lead         []byte // unmarked text at the start, which may still be a thought
	held         bool   // the lead is held
	headerless   bool   // all text so far was unmarked and came without reasoning
	unterminated bool   // a call came without a terminator: text behind it is invented
	afterMessage bool   // behind a closed message: stray channel words are noise
	afterClose   bool   // the text in front stands between two messages
	released     bool   // some candidate became text: no fence is tried any more

	head  head
	kind  EventKind // inMessage: what the body becomes
	drop  bool      // inMessage: the body is dropped
	think string    // inMessage: its closing tag, or ""
	trim  bool      // inMessage: leading blanks are skipped
	// inMessage: the body of another role than the assistant; nil: the assistant's
	otherText  []byte
	shown      bool   // a visible message was closed before this one
	spoke      bool   // the assistant said or thought something
	callHeader string // of the current call, as written

	inside   *text // reads the body of a visible message
	unmarked bool  // this is such a reader: control tokens are text
	gap      bool  // the next text begins a paragraph

	grammar    *harmony.Grammar // of the headers of this reply
	scan       harmony.Scan
	second     harmony.Scan // inCall: another object behind the arguments
	open       *opener      // inBlock
	closers    []string     // inBlock: closing literals
	named      string       // inBlock: the name in the opening literal
	unread     *Strategy    // inBlock: its literal opened no readable call
	ahead      ahead
	openValues openValues
	namedCall  NamedCall
	fences     []span // inFence: the calls so far
	fenceSigns Signs  // inFence: signs of the text in front
	// text before this offset in the field was released: no named call reaches back over it
	looked         int
	doubted        bool      // it is unclear whether the calls being recorded are meant
	tried          *Strategy // released a block, as did those before it,
	triedAt        int       // at this offset in the field
	lines          lines
	stringsGivenUp int // strings in call bodies that had no end
}

func (t *text) init(r *Reader, f Field) {
	*t = text{r: r, field: f, last: '\n', first: true, grammar: r.s.header}
	t.ahead.end = -1
}

// feed reads s. With eof nothing follows and everything is decided.
func (t *text) feed(s string, eof bool) {
	v := s
	if t.alias = len(t.pend) == 0; !t.alias {
		t.pend = append(t.pend, s...)
		v = unsafe.String(unsafe.SliceData(t.pend), len(t.pend))
	}
	n, more := t.passQuickly(v)
	if more = more && !eof; more {
		t.pass(v[:n])
		v, t.base, t.blanks = v[n:], t.base+n, 0
	}
	for !more && (len(v) > 0 || eof) {
		n, more = t.look(v, eof)
		if n > 0 {
			v, t.blanks = v[n:], 0
			t.base += n
		}
	}
	if t.alias {
		t.pend = append(t.pend[:0], v...)
	} else {
		t.pend = t.pend[:copy(t.pend, v)]
	}
}

// look takes one decision in the window of the mode. If it still waits when the window is full, it gives
// up: at the same byte for every chunking.
func (t *text) look(v string, eof bool) (n int, more bool) {
	window := t.window()
	if len(v) <= window {
		return t.step(v, eof)
	}
	if n, more = t.step(v[:window], false); n > 0 || !more {
		return n, more
	}
	return t.giveUp(v[:window])
}

// window returns how many bytes the mode may hold back.
func (t *text) window() int {
	switch t.mode {
	case inHeader:
		return harmony.Most
	case inMaybeHeader:
		return maxMaybeHeader
	case inProse, inMessage, inCall, inInvented: // bounded by their steps, or by the reply
		return math.MaxInt
	}
	return t.r.facts.MaxText
}

// giveUp ends a candidate that fills its window.
func (t *text) giveUp(v string) (int, bool) {
	const why = "longer than a call may be"
	switch t.mode {
	case inHeader:
		return t.stepHeader(v, true)
	case inMaybeHeader:
		return t.stepMaybeHeader(v, true)
	case inNameless:
		t.message(Text, false)
		return 0, false
	case inNamedCall:
		return t.releaseNamedCall(v, why)
	case inLines:
		return t.release(t.r.s.lines, len(v), why)
	case inBlock:
		return t.release(t.open.st, len(v), why)
	}
	return t.release(t.r.s.json, len(v), why)
}

// step takes one decision and returns the bytes that were read; more asks for input.
func (t *text) step(v string, eof bool) (n int, more bool) {
	switch t.mode {
	case inHeader:
		return t.stepHeader(v, eof)
	case inMessage:
		return t.stepMessage(v, eof)
	case inCall:
		return t.stepCall(v, eof)
	case inNameless:
		return t.stepNameless(v, eof)
	case inJSON:
		return t.stepJSON(v, eof)
	case inDump:
		return t.stepDump(v, eof)
	case inFence:
		return t.stepFence(v, eof)
	case inNamedCall:
		return t.stepNamedCall(v, eof)
	case inLines:
		return t.stepLines(v, eof)
	case inBlock:
		return t.stepBlock(v, eof)
	case inMaybeHeader:
		return t.stepMaybeHeader(v, eof)
	case inInvented:
		if len(v) > 0 {
			t.note(nil, 0, len(v), Dropped, "follows an invented result")
		}
		return len(v), true
	default:
		return t.stepProse(v, eof)
	}
}

// enter changes the mode, which begins at the next byte.
func (t *text) enter(m mode) {
	t.mode, t.at, t.retry, t.scan, t.second, t.doubted = m, 0, 0, harmony.Scan{}, harmony.Scan{}, false
}

// resumeProse returns to text. The first skip bytes were searched for openers.
func (t *text) resumeProse(skip int) {
	t.enter(inProse)
	t.at = skip
}

// release turns a candidate into prose. The first to bytes were looked at.
func (t *text) release(st *Strategy, to int, why string) (int, bool) {
	t.note(st, 0, to, Released, why)
	t.r.countWasted(st, t.base, to)
	skip := 1
	switch t.mode {
	case inFence:
		skip = 0 // released keeps the code block from being tried again
	case inBlock:
		skip, t.tried, t.triedAt = 0, st, t.base // another strategy may open here
	}
	t.resumeProse(skip)
	t.released = true
	return 0, false
}

// tooEarly delays another look until the text grew by a quarter: looks that begin at the front then stay
// linear.
func (t *text) tooEarly(v string, eof bool) bool {
	if !eof && len(v) < t.retry {
		return true
	}
	t.retry = min(len(v)+len(v)/4+1, t.r.facts.MaxText)
	return false
}

// skipBlank returns the offset of the first byte that is no white space.
func (t *text) skipBlank(v string) int {
	t.blanks = scan.SkipSpace(v, t.blanks)
	return t.blanks
}

// advance updates the position: s was read as text.
func (t *text) advance(s string) {
	if s == "" {
		return
	}
	t.last = lastRune(s)
	if t.first && !scan.Blank(s) {
		t.first = false
	}
}

// startLine begins a line without text in front.
func (t *text) startLine() { t.last, t.front, t.afterClose = '\n', Front{}, false }

// lastRune returns the last character of s.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func (t *text) note(st *Strategy, from, to int, o Outcome, why string) {
	t.r.step(st, Step{Field: t.field, From: t.base + from, To: t.base + to, Outcome: o, Note: why})
}

// emit passes on a piece of v.
func (t *text) emit(k EventKind, s string) {
	if all := t.r.sent(k); !t.alias && all.Len() == 0 { // later pieces are parts of all
		s = strings.Clone(s)
	}
	t.r.emit(k, s)
}

// verdict is the result of a look at text that may still grow.
type verdict = scan.Verdict

const no, yes, wait = scan.No, scan.Yes, scan.Wait

// A reply without reasoning may begin with a thought whose header the server removed: only its end token
// shows that. So the first bytes of unmarked text are held as a lead. If Facts report that the server
// keeps headers, only text that begins like a thought is held.

// flow lets s leave as text, unless it is a lead or follows an unterminated call.
func (t *text) flow(s string) {
	t.front.Add(s)
	switch {
	case s == "":
	case t.inside != nil:
		t.readInside(s, t.base)
	case t.unterminated:
		t.note(nil, 0, len(s), Dropped, "follows a call that was not answered yet")
	case t.leading(len(s)) && (!t.r.facts.Intact || t.r.s.mayBeThought(string(t.lead)+s)):
		t.lead = append(t.lead, s...)
	default:
		if t.gap {
			t.gap = false
			t.r.emit(Text, "\n\n")
		}
		t.releaseLead(Text)
		t.emit(Text, s)
	}
}

// leading reports whether the lead is still held behind n more bytes.
func (t *text) leading(n int) bool { return t.held && len(t.lead)+n <= t.r.s.lead }

// mayBeThought reports whether a text begins like a thought, or is too short to tell.
func (s *Strategies) mayBeThought(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, " \n"))
	return slices.ContainsFunc(s.thoughts,
		func(begin string) bool { return strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text) })
}

// inLead reports whether a lead is or would be held at v[n:].
func (t *text) inLead(n int) bool {
	return t.leading(n) || t.r.facts.Intact && t.headerless && t.base+n <= t.r.s.lead
}

// settle decides what the unmarked text was that ends here. A thought without a header shows that the
// server removed it, also if the text has left.
func (t *text) settle(k EventKind) {
	if k == Thought && t.headerless && !t.first {
		t.r.result.Headless = true
		t.shown = !t.held // what follows does not continue released text
	}
	t.headerless = false
	t.spoke = t.spoke || !t.first
	t.releaseLead(k)
}

// releaseLead lets the lead leave as k.
func (t *text) releaseLead(k EventKind) {
	if !t.held {
		return
	}
	t.held = false
	if len(t.lead) == 0 {
		return
	}
	if k == Thought {
		t.r.step(t.r.s.harmony, Step{Field: t.field, To: len(t.lead), Outcome: Thinking,
			Note: "unmarked text before the first Harmony token"})
	}
	t.r.emit(k, string(t.lead))
	t.lead = nil
}

// settleLead decides about unmarked text before a header. A body without its header reaches to the next
// token; prose ends with a blank.
func (t *text) settleLead() {
	k := Thought
	if scan.IsSpace(t.prevByte("", 0)) {
		k = Text
	}
	t.settle(k)
}
