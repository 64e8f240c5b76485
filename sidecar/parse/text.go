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

// mode is what the reader of a field expects next. What a mode does is its step; what
// becomes of text that fills its window, giveUp says.
type mode uint8

const (
	inProse     mode = iota // text, and anything that may open in it
	inHeader                // behind <|start|> or <|channel|>
	inMessage               // the body of a message that is shown, thought or dropped
	inCall                  // the body of a message with a recipient
	inLost                  // the body of a commentary message without one
	inJSON                  // an object or array that may be a call
	inDump                  // what may be a message that was printed
	inFence                 // a code fence that may hold a call
	inNamedCall             // an offered name, and arguments behind it
	inLines                 // Thought:, Action:, Final Answer:
	inBlock                 // between the literals of a block
	inMaybe                 // "analysis …", which is thought only if more markup follows
	inTail                  // behind an invented result: nothing counts any more
)

// text reads one field. pend holds what is not decided yet; all offsets that the
// modes keep are relative to its start.
//
// Two rules make a reading independent of how it was cut into pieces. A step
// decides by the bytes from pend[0] on and by nothing else, and it waits where
// one more byte could change the decision. And it waits in a window of a fixed
// size: look and opens are the only places that end the waiting.
type text struct {
	r     *Reader
	field Field
	pend  []byte
	base  int // offset of pend[0] in the field
	alias bool

	mode   mode
	at     int   // where the current mode resumes
	last   rune  // the one before pend[0]; '\n' at the start of a line
	past   Front // the text before it
	first  bool  // nothing but white space came before
	blanks int   // so many bytes at the start of pend are known to be white space
	retry  int   // how long the text must be for another look
	fence  fence // the current code block
	loose  bool  // a code block began in the middle of a line
	ticks  int   // inside `inline code`: how many backticks opened it

	lead     []byte // unmarked text at the start, while it may still be a thought
	held     bool   // the lead is being held
	bare     bool   // all text so far was unmarked, and came without reasoning
	hanging  bool   // a call came without a terminator: what follows that is no call was invented
	filler   bool   // behind a closed message: stray channel words are noise
	apart    bool   // the text in front stands behind the token that closes a message, and in none
	released bool   // some candidate was given back as text: no fence is tried any more

	head  head
	kind  EventKind // inMessage: what the body becomes
	drop  bool      // inMessage: it becomes nothing
	think string    // inMessage: the tag that closes it; "": none does
	trim  bool      // inMessage: blanks at its start are not part of it
	// inMessage: the body so far, where another role than the assistant speaks; nil: the assistant does
	heard []byte
	shown bool   // a visible message was closed before this one
	spoke bool   // the assistant said something, or thought it
	said  string // the header of the current call, as written

	inside   *text // reads the body of the message that is shown
	unmarked bool  // it is such a reader: control tokens are text
	gap      bool  // the next text begins a paragraph

	grammar    *harmony.Grammar // of the headers of this reply
	scan       harmony.Scan
	second     harmony.Scan // inCall: of another object behind the arguments
	open       *opener      // inBlock
	closers    []string     // inBlock: literals one of which ends it
	named      string       // inBlock: the name in the opening literal
	gaping     *Strategy    // inBlock: a literal of this one opened no call that could be read
	ahead      ahead
	openValues openValues
	namedCall  NamedCall
	fences     []span // inFence: the calls so far
	front      Signs  // inFence: what the text in front says
	// what stands in front of this offset in the field was released: no named call reaches back over it
	looked  int
	doubted bool      // it is in doubt whether the calls being taken are meant
	tried   *Strategy // this one, and those before it, released what begins at
	triedAt int       // this offset in the field
	lines   lines
	strict  int // how often a string in a call body had to be given up
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
	n, more := t.quiet(v)
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

// look takes one decision in the window of the mode. Where it still waits with
// the window full it gives up: at the same byte, however the reply was cut.
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

// window is how many bytes the mode may hold back.
func (t *text) window() int {
	switch t.mode {
	case inHeader:
		return harmony.Most
	case inMaybe:
		return maxMaybe
	case inProse, inMessage, inCall, inTail: // what these hold is bounded by their own steps, or by the reply
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
	case inMaybe:
		return t.stepMaybe(v, true)
	case inLost:
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

// step takes one decision. n bytes of v are done with; more asks for input.
func (t *text) step(v string, eof bool) (n int, more bool) {
	switch t.mode {
	case inHeader:
		return t.stepHeader(v, eof)
	case inMessage:
		return t.stepMessage(v, eof)
	case inCall:
		return t.stepCall(v, eof)
	case inLost:
		return t.stepLost(v, eof)
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
	case inMaybe:
		return t.stepMaybe(v, eof)
	case inTail:
		if len(v) > 0 {
			t.note(nil, 0, len(v), Dropped, "follows an invented result")
		}
		return len(v), true
	default:
		return t.stepProse(v, eof)
	}
}

// enter changes the mode; the next byte is where it begins.
func (t *text) enter(m mode) {
	t.mode, t.at, t.retry, t.scan, t.second, t.doubted = m, 0, 0, harmony.Scan{}, harmony.Scan{}, false
}

// prose goes back to reading text, skipping the first skip bytes in the search
// for openers: they have been looked at.
func (t *text) prose(skip int) {
	t.enter(inProse)
	t.at = skip
}

// release gives a candidate back as prose. to is how far it was looked at.
func (t *text) release(st *Strategy, to int, why string) (int, bool) {
	t.note(st, 0, to, Released, why)
	t.r.waste(st, t.base, to)
	skip := 1
	switch t.mode {
	case inFence:
		skip = 0 // it is a code block; released keeps it from being tried again
	case inBlock:
		skip, t.tried, t.triedAt = 0, st, t.base // another strategy may open here
	}
	t.prose(skip)
	t.released = true
	return 0, false
}

// early says that another look is not worth it yet: a look that begins at the
// front each time stays linear if the text grew by a quarter since.
func (t *text) early(v string, eof bool) bool {
	if !eof && len(v) < t.retry {
		return true
	}
	t.retry = min(len(v)+len(v)/4+1, t.r.facts.MaxText)
	return false
}

// skipBlank is the offset of the first byte of v that is no white space.
func (t *text) skipBlank(v string) int {
	t.blanks = scan.SkipSpace(v, t.blanks)
	return t.blanks
}

// mark keeps the position up to date: s was read as text.
func (t *text) mark(s string) {
	if s == "" {
		return
	}
	t.last = lastRune(s)
	if t.first && !scan.Blank(s) {
		t.first = false
	}
}

// fresh begins a line in front of which no text stands.
func (t *text) fresh() { t.last, t.past, t.apart = '\n', Front{}, false }

// lastRune is the last character of s.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func (t *text) note(st *Strategy, from, to int, o Outcome, why string) {
	t.r.step(st, Step{Field: t.field, From: t.base + from, To: t.base + to, Outcome: o, Note: why})
}

// emit passes on a piece of v.
func (t *text) emit(k EventKind, s string) {
	if all := t.r.all(k); !t.alias && all.Len() == 0 { // later pieces leave as a part of all
		s = strings.Clone(s)
	}
	t.r.emit(k, s)
}

// verdict is what a look at text yields that may still grow.
type verdict = scan.Verdict

const no, yes, wait = scan.No, scan.Yes, scan.Wait

// A reply without reasoning may begin with a thought whose header the server
// ate: only the Harmony token that ends it shows what it was. So the first bytes
// of unmarked text are held as a lead, and whatever goes beyond them is text.
// Where Facts say that the server leaves headers alone, only what begins as thoughts do is
// held.

// flow lets s leave as text, unless it is still a lead or follows an open call.
func (t *text) flow(s string) {
	t.past.Add(s)
	switch {
	case s == "":
	case t.inside != nil:
		t.readInside(s, t.base)
	case t.hanging:
		t.note(nil, 0, len(s), Dropped, "follows a call that was not answered yet")
	case t.leading(len(s)) && (!t.r.facts.Intact || t.r.s.thinks(string(t.lead)+s)):
		t.lead = append(t.lead, s...)
	default:
		if t.gap {
			t.gap = false
			t.r.emit(Text, "\n\n")
		}
		t.letGo(Text)
		t.emit(Text, s)
	}
}

// leading says that the lead is still held behind n more bytes.
func (t *text) leading(n int) bool { return t.held && len(t.lead)+n <= t.r.s.lead }

// thinks says that a text begins as thoughts do, or is too short to tell.
func (s *Strategies) thinks(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, " \n"))
	return slices.ContainsFunc(s.thoughts,
		func(begin string) bool { return strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text) })
}

// inLead says that v[n:] stands where a lead is held, or would be.
func (t *text) inLead(n int) bool {
	return t.leading(n) || t.r.facts.Intact && t.bare && t.base+n <= t.r.s.lead
}

// settle decides what the unmarked text was that ends here: a thought without its header
// shows that the server ate one, also where the text has long been let go.
func (t *text) settle(k EventKind) {
	if k == Thought && t.bare && !t.first {
		t.r.result.Headless = true
		t.shown = !t.held // what comes next does not continue what was let go
	}
	t.bare = false
	t.spoke = t.spoke || !t.first
	t.letGo(k)
}

// letGo ends the holding of the lead.
func (t *text) letGo(k EventKind) {
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

// settleLead decides about unmarked text before a header. A body whose own
// header was lost runs right up to the next token; prose ends with a blank.
func (t *text) settleLead() {
	k := Thought
	if scan.IsSpace(t.before("", 0)) {
		k = Text
	}
	t.settle(k)
}
