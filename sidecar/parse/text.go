package parse

import (
	"strings"
	"unsafe"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// mode is what the reader of a field expects next.
type mode uint8

const (
	inProse   mode = iota // text, and anything that may open in it
	inHeader              // behind <|start|> or <|channel|>
	inMessage             // the body of a message that is shown, thought or dropped
	inCall                // the body of a message with a recipient
	inLost                // the body of a commentary message without one
	inJSON                // an object or array that may be a call
	inFence               // a code fence at the start that may hold a call
	inGlued               // an offered name directly followed by {
	inLines               // Thought:, Action:, Final Answer:
	inBlock               // between the literals of a block
	inMaybe               // "analysis …", which is thought only if more markup follows
	inTail                // behind an invented result: nothing counts any more
)

// text reads one field. pend holds what is not decided yet; all offsets that the
// modes keep are relative to its start.
type text struct {
	r     *Reader
	field Field
	pend  []byte
	base  int // offset of pend[0] in the field
	alias bool

	mode    mode
	at      int  // where the current mode resumes
	bol     bool // pend[0] stands at the start of a line
	spaced  bool // white space stands before pend[0]
	first   bool // nothing but white space came before
	blankTo int  // inProse: pend up to here is white space
	fence   byte // the byte that fences the current code block, or 0
	ticks   bool // inside `inline code`

	word struct{ at, end int } // offsets in the field: the next word that opens something, in the text up to end

	lead   []byte // unmarked text at the start, while it may still be a thought
	held   bool   // the lead is being held
	after  after
	filler bool // behind a closed message: stray channel words are noise

	head  header
	kind  EventKind // inMessage: what the body becomes
	drop  bool      // inMessage: it becomes nothing
	think bool      // inMessage: closed by </think>
	trim  bool      // inMessage: blanks at its start are not part of it
	shown bool      // a visible message was closed before this one
	said  string    // the header of the current call, as written

	released bool // a candidate at the start of the reply turned out to be prose

	scan   valueScan
	open   *opener
	retry  int // inBlock: how long the text must be for another look
	lines  lines
	strict int // how often a string in a call body had to be given up
}

// after is what may follow the calls found so far.
type after uint8

const (
	afterNothing after = iota // no call yet, or one that was closed properly
	afterOpen                 // a call without a terminator: what follows that is no call was invented
)

func (t *text) init(r *Reader, f Field) {
	*t = text{r: r, field: f, bol: true, spaced: true, first: true}
	t.word.end = -1
}

// feed reads s. With eof nothing follows and everything is decided.
func (t *text) feed(s string, eof bool) {
	v := s
	t.alias = len(t.pend) == 0
	if !t.alias {
		t.pend = append(t.pend, s...)
		v = unsafe.String(unsafe.SliceData(t.pend), len(t.pend))
	}
	for len(v) > 0 || eof {
		n, more := t.step(v, eof)
		v = v[n:]
		t.base += n
		if more {
			break
		}
	}
	if t.alias {
		t.pend = append(t.pend[:0], v...)
	} else {
		t.pend = t.pend[:copy(t.pend, v)]
	}
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
	case inFence:
		return t.stepFence(v, eof)
	case inGlued:
		return t.stepGlued(v, eof)
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
	t.mode, t.at, t.scan = m, 0, valueScan{}
}

// prose goes back to reading text, skipping the first skip bytes in the search
// for openers: they have been looked at.
func (t *text) prose(skip int) {
	t.enter(inProse)
	t.at = skip
}

// flow lets s leave as text, unless it is still a lead or follows an open call.
func (t *text) flow(s string) {
	if s == "" {
		return
	}
	if t.after == afterOpen {
		t.note(nil, 0, len(s), Dropped, "follows a call that was not answered yet")
		return
	}
	if t.held {
		t.lead = append(t.lead, s...)
		if len(t.lead) > t.r.s.lead {
			t.settle(Text)
		}
		return
	}
	t.emit(Text, s)
}

// settle decides what the lead is.
func (t *text) settle(k EventKind) {
	if !t.held {
		return
	}
	t.held = false
	if len(t.lead) > 0 {
		if k == Thought {
			t.step0(Thinking, "unmarked text before the first Harmony token")
		}
		t.r.emit(k, string(t.lead))
		t.lead = nil
	}
}

// emit passes on a piece of v.
func (t *text) emit(k EventKind, s string) {
	if s == "" {
		return
	}
	if !t.alias {
		s = strings.Clone(s)
	}
	t.r.emit(k, s)
}

// mark keeps the flags of a position up to date: s was read as text.
func (t *text) mark(s string) {
	if s == "" {
		return
	}
	t.bol = s[len(s)-1] == '\n'
	t.spaced = isSpace(s[len(s)-1])
	if t.first && !blank(s) {
		t.first = false
	}
}

func (t *text) note(st *Strategy, from, to int, o Outcome, why string) {
	t.r.step(st, Step{Field: t.field, From: t.base + from, To: t.base + to, Outcome: o, Note: why})
}

func (t *text) step0(o Outcome, why string) {
	t.r.step(t.r.s.harmony, Step{Field: t.field, From: 0, To: len(t.lead), Outcome: o, Note: why})
}

// found hands a candidate call to the catalog. v[from:to] is all of its text.
func (t *text) found(st *Strategy, v string, from, to int, name, args string, end tools.Ending, how ...tools.Repair) bool {
	candidate := t.said + v[from:to]
	t.said = ""
	if !t.r.allowed(st, t.field, candidate) {
		t.note(st, from, to, Refused, "the strategy's condition does not hold")
		return false
	}
	call, refusal := t.r.c.Call(strings.Clone(name), strings.Clone(args), end)
	return t.take(st, from, to, call, refusal, how)
}

// take records a call or the reason why it is none.
func (t *text) take(st *Strategy, from, to int, call tools.Call, refusal *tools.Refusal, how []tools.Repair) bool {
	if refusal != nil {
		if refusal.Code == tools.Answer {
			t.settle(Text)
			t.note(st, from, to, Shown, "an answer sent to a pseudo tool")
			t.r.emit(Text, refusal.Text)
			return false
		}
		t.note(st, from, to, Refused, refusal.Error())
		t.r.refuse(*refusal)
		return false
	}
	t.settle(Text)
	call.Repairs = append(how, call.Repairs...)
	call.Strategy, call.Confidence = st.ID, st.Confidence
	t.note(st, from, to, Found, call.Name)
	t.r.call(call, t.field)
	return true
}
