package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// A family of models writes its thoughts between literals at the start of the content. Where the prompt may
// begin the thought, only the literal that ends it comes, or none where the reply was cut:
//
//	We need the file.</think>
//	<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>

// thinking parts the thoughts at the start of a content from the text behind them. A nil one finds none.
type thinking struct {
	st     *Strategy
	calls  []string // literals that open a call of the family
	state  thinkingState
	held   string // it is not decided yet what this is
	looked int    // so much of it holds no literal
}

// thinkingState is what is known of a content.
type thinkingState uint8

const (
	unmarked  thinkingState = iota // nothing shows yet what it begins with
	inThought                      // a literal has opened a thought
	// so it has, and a call stands in it, unless the thought goes on behind that
	inCalls
	ended    // the thought has ended; line breaks between it and the text say nothing
	answered // what follows is text
)

// feed takes the next piece of the content, and gives what of it is text; the thoughts go to think.
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

// step looks at what is held.
func (t *thinking) step(eof, cut bool, think func(string)) {
	if t.state == ended {
		if t.held = strings.TrimLeft(t.held, "\n"); t.held != "" || eof {
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
	if at >= 0 {
		think(t.held[:at])
		t.held, t.state = t.held[at+n:], ended
		return
	}
	if t.state == inThought {
		t.looked = 0
		if at, _ = t.find(t.calls); at >= 0 {
			t.state = inCalls
		} else if at = len(t.held); !eof { // the end may be the beginning of a literal
			at = max(0, at-longest(t.st.Close, t.calls)+1)
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

// find is where the first of some literals stands in what is held, or -1; it does not look at anything twice.
func (t *thinking) find(lits []string) (at, n int) {
	if at, n = scan.FindAnyFold(t.held, t.looked, lits, true); at < 0 {
		t.looked = max(t.looked, len(t.held)-longest(lits)+1)
	}
	return at, n
}

// longest is the length of the longest of some literals.
func longest(lists ...[]string) (n int) {
	for _, lit := range slices.Concat(lists...) {
		n = max(n, len(lit))
	}
	return n
}

// release ends the holding of an unmarked beginning: it leaves as a thought where the server is known to
// leave out what opens one, and else as text.
func (t *thinking) release(opened bool, think func(string)) (text string) {
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
