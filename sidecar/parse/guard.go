package parse

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The gateway reads some text as calls and runs them: a channel word with to=NAME code and an object,
// [NAME] or [tool:NAME] with an object or parameters, and <function=NAME>. A quotation, or a page that
// the model read, could so run a tool past every check. Text that leaves as prose therefore gets a
// zero-width space into the middle of such markup if NAME may mean a tool.
// Grammar: OpenClaw, packages/tool-call-repair/src/{grammar,payload}.ts

// gatewayChannels are the channel words that the gateway knows.
var gatewayChannels = [...]string{harmony.Commentary, harmony.Analysis, harmony.Final}

const (
	zeroWidth = "\u200b"
	maxGuard  = 512 // window of the grammar; a full one counts as a match
)

// Guard breaks such markup in a text that arrives piece by piece. It holds the end of the text while
// that may become markup.
type Guard struct {
	tools *tools.Catalog
	held  []byte
}

// newGuard returns a guard for text beside the tools in c.
func newGuard(c *tools.Catalog) *Guard { return &Guard{tools: c} }

// InertText breaks the markup in a whole text.
func InertText(c *tools.Catalog, text string) string { return newGuard(c).Pass("", text, true) }

// Held returns the number of held bytes.
func (g *Guard) Held() int { return len(g.held) }

// Pass adds s and returns what may leave, behind the text that is already shown. With eof nothing is
// held.
func (g *Guard) Pass(shown, s string, eof bool) string {
	if len(g.held) > 0 {
		s = string(append(g.held, s...))
		g.held = g.held[:0]
	}
	if !plainText(s) {
		return g.broken(shown, s, eof)
	}
	return s
}

// broken returns s with its markup broken, as far as it may leave.
func (g *Guard) broken(shown, s string, eof bool) string {
	var out strings.Builder
	from := 0
	for i := nextMark(s, 0); i < len(s); i = nextMark(s, i+1) {
		at, is := g.callGrammar(shown, s[:i], s[i:min(len(s), i+maxGuard)], eof && len(s)-i <= maxGuard)
		if is == wait && len(s)-i >= maxGuard {
			is = yes
		}
		switch is {
		case wait:
			g.held = append(g.held, s[i:]...)
			return out.String() + s[from:i]
		case yes:
			out.WriteString(s[from:i+at] + zeroWidth)
			from = i + at
		}
	}
	if from == 0 {
		return s
	}
	return out.String() + s[from:]
}

// plainText reports, at a glance, that no such markup begins in s.
func plainText(s string) bool {
	if len(s) < 16 {
		return nextMark(s, 0) == len(s)
	}
	return strings.IndexByte(s, '[') < 0 && strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '=') < 0 &&
		!strings.HasSuffix(s, "t") && !strings.HasSuffix(s, "to")
}

// nextMark returns the offset of the next byte at or after i that may begin markup: [ or < or the t of
// to=.
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

// callGrammar reports whether s begins with what the gateway takes for a call, and where to break it.
// before is the text in front of s in the same piece.
func (g *Guard) callGrammar(shown, before, s string, eof bool) (at int, is verdict) {
	open := "to="
	switch s[0] {
	case '[':
		open = "["
		if is := scan.Starts(s, "[tool:", eof); is == wait {
			return 0, wait
		} else if is == yes {
			open = "[tool:"
		}
	case '<':
		open = "<function="
	}
	if s[0] == 't' && !behindChannel(shown, before) {
		return 0, no
	}
	if is := scan.StartsFold(s, open, eof); is != yes {
		return 0, is
	}
	end := len(open)
	for end < len(s) && (scan.IsName(s[end]) || s[end] == ':') {
		end++
	}
	switch {
	case end == len(s):
		return 0, scan.WaitUnless(eof)
	case !g.tools.Suggests(s[len(open):end]):
		return 0, no
	}
	return len(open), callBody(open, s[end:], eof)
}

// callBody reports whether the gateway accepts s behind the name. It requires a line break behind
// [NAME], which is ignored here: the seam between two parts of a message counts as one.
func callBody(open, s string, eof bool) verdict {
	if open == "to=" {
		i := scan.SkipBlanks(s, 0)
		if i == 0 {
			return no
		}
		if is := scan.Starts(s[i:], "code", eof); is != yes {
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
		return scan.WaitUnless(eof)
	case s[i] == '{', s[i] == '<':
		return yes
	}
	return no
}

// skipScriptSpace returns the offset of the first character that is no white space in JavaScript. cut
// reports that s ends within a character.
func skipScriptSpace(s string) (i int, cut bool) {
	i = len(s) - len(strings.TrimLeft(s, scan.Script))
	return i, i < len(s) && !utf8.FullRuneInString(s[i:])
}

// behindChannel reports whether the text in front ends with a channel word and blanks. A long run of
// blanks counts as one.
func behindChannel(shown, before string) bool {
	const enough = 160 // bytes that suffice
	var room [2 * enough]byte
	end := append(room[:0], shown[max(0, len(shown)-enough):]...)
	end = append(end, before[max(0, len(before)-enough):]...)
	word := bytes.TrimRight(end, " \t")
	switch {
	case len(word) == len(end):
		return false
	case len(word) == 0:
		return len(end) >= enough
	}
	return slices.ContainsFunc(gatewayChannels[:],
		func(c string) bool { return bytes.HasSuffix(word, []byte(c)) })
}
