package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The gateway reads some text as calls, and runs them: a channel word with
// to=NAME code and an object, [NAME] or [tool:NAME] with an object or parameters,
// and <function=NAME>. What a model quotes, or a page that it read, could so run a
// tool past every check. Text that leaves as prose therefore gets a zero-width
// space into the middle of such markup, where NAME may mean a tool.
// Grammar: OpenClaw, packages/tool-call-repair/src/{grammar,payload}.ts

const (
	zeroWidth = "\u200b"
	maxGuard  = 512 // window in which the grammar must show; a full one counts as shown
)

// guard holds the end of visible text that may become such markup.
type guard struct{ held []byte }

// pass lets s go on to out, with the markup in it broken. shown is all text before.
func (g *guard) pass(r *Reader, s string, eof bool) {
	if len(g.held) > 0 {
		s = string(append(g.held, s...))
		g.held = g.held[:0]
	}
	if plainText(s) {
		r.out(s)
		return
	}
	from := 0
	for i := nextMark(s, 0); i < len(s); i = nextMark(s, i+1) {
		at, is := callGrammar(r, s[:i], s[i:min(len(s), i+maxGuard)], eof && len(s)-i <= maxGuard)
		if is == wait && len(s)-i >= maxGuard {
			is = yes
		}
		switch is {
		case wait:
			r.out(s[from:i])
			g.held = append(g.held, s[i:]...)
			return
		case yes:
			r.out(s[from:i+at] + zeroWidth)
			from = i + at
		}
	}
	r.out(s[from:])
}

// Guarded is a text of our own that shall be shown beside the tools in c, with the
// markup in it broken that the gateway would run.
func Guarded(c *tools.Catalog, text string) string {
	r := &Reader{c: c}
	r.guard.pass(r, text, true)
	return r.shown.String()
}

// plainText says at a glance that no such markup begins in s.
func plainText(s string) bool {
	if len(s) < 16 {
		return nextMark(s, 0) == len(s)
	}
	return strings.IndexByte(s, '[') < 0 && strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '=') < 0 &&
		!strings.HasSuffix(s, "t") && !strings.HasSuffix(s, "to")
}

// nextMark is the offset of the next byte at or after i that such markup may
// begin with: [ or < or the t of to=.
func nextMark(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '[', '<':
			return i
		case 't':
			if i+1 == len(s) || s[i+1] == 'o' && (i+2 == len(s) || s[i+2] == '=') {
				return i
			}
		}
	}
	return i
}

// callGrammar says whether s begins with what the gateway takes for a call, and
// where to break it. before is the text that was passed on with s.
func callGrammar(r *Reader, before, s string, eof bool) (at int, is verdict) {
	open := "to="
	switch s[0] {
	case '[':
		open = "["
		if is := starts(s, "[tool:", eof); is == wait {
			return 0, wait
		} else if is == yes {
			open = "[tool:"
		}
	case '<':
		open = "<function="
	}
	if s[0] == 't' && !r.behindChannel(before) {
		return 0, no
	}
	if is := startsFold(s, open, eof); is != yes {
		return 0, is
	}
	end := len(open)
	for end < len(s) && (isName(s[end]) || s[end] == ':') {
		end++
	}
	switch {
	case end == len(s):
		return 0, waitUnless(eof)
	case !r.c.Suggests(s[len(open):end]):
		return 0, no
	}
	return len(open), callBody(open, s[end:], eof)
}

// callBody says whether s goes on behind the name as the gateway wants it. That it
// wants a line break behind [NAME] does not count: it takes the seam between two
// parts of a message for one.
func callBody(open, s string, eof bool) verdict {
	if open == "to=" {
		i := skipBlanks(s, 0)
		if i == 0 {
			return no
		}
		if is := starts(s[i:], "code", eof); is != yes {
			return is
		}
		s = s[i+len("code"):]
	} else {
		if s[0] != ']' && s[0] != '>' {
			return no
		}
		s = s[1:]
	}
	i, cut := skipScriptSpace(s)
	switch {
	case i == len(s) || cut:
		return waitUnless(eof)
	case s[i] == '{', s[i] == '<':
		return yes
	}
	return no
}

// scriptSpace is what \s means in JavaScript.
const scriptSpace = " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// skipScriptSpace is the offset of the first character that JavaScript does not take for
// white space. cut says that s ends in the middle of it.
func skipScriptSpace(s string) (i int, cut bool) {
	i = len(s) - len(strings.TrimLeft(s, scriptSpace))
	return i, i < len(s) && !utf8.FullRuneInString(s[i:])
}

// behindChannel says whether the visible text ends with a channel word and blanks.
// Blanks without an end count as such, too.
func (r *Reader) behindChannel(before string) bool {
	var buf [64]byte
	shown := r.shown.String()
	before = before[max(0, len(before)-len(buf)):]
	shown = shown[max(0, len(shown)-len(buf)+len(before)):]
	all := append(append(buf[:0], shown...), before...)
	word := bytes.TrimRight(all, " \t")
	if len(word) == len(all) {
		return false
	}
	for _, c := range channels {
		if bytes.HasSuffix(word, []byte(c)) {
			return true
		}
	}
	return len(word) == 0 && len(all) == len(buf)
}
