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

// The gateway reads some text as calls, and runs them: a channel word with
// to=NAME code and an object, [NAME] or [tool:NAME] with an object or parameters,
// and <function=NAME>. What a model quotes, or a page that it read, could so run a
// tool past every check. Text that leaves as prose therefore gets a zero-width
// space into the middle of such markup, where NAME may mean a tool.
// Grammar: OpenClaw, packages/tool-call-repair/src/{grammar,payload}.ts

// gatewayChannels are the channel words that it knows.
var gatewayChannels = [...]string{harmony.Commentary, harmony.Analysis, harmony.Final}

const (
	zeroWidth = "\u200b"
	maxGuard  = 512 // window in which the grammar must show; a full one counts as shown
)

// Guard lets a text go on, piece by piece, with the markup in it broken. It holds the end of the
// text where that may become such markup.
type Guard struct {
	tools *tools.Catalog
	held  []byte
}

// New makes a guard for a text that is shown beside the tools in c.
func New(c *tools.Catalog) *Guard { return &Guard{tools: c} }

// Text is a whole text, with the markup in it broken.
func InertText(c *tools.Catalog, text string) string { return New(c).Pass("", text, true) }

// Held is how many bytes are held.
func (g *Guard) Held() int { return len(g.held) }

// Pass takes in s, and gives what may leave, behind the text that is shown already. With eof nothing is held
// any longer.
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

// broken is s with the markup in it broken, as far as it may leave.
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

// callBody says whether s goes on behind the name as the gateway wants it. That it
// wants a line break behind [NAME] does not count: it takes the seam between two
// parts of a message for one.
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

// skipScriptSpace is the offset of the first character that JavaScript does not take for
// white space. cut says that s ends in the middle of it.
func skipScriptSpace(s string) (i int, cut bool) {
	i = len(s) - len(strings.TrimLeft(s, scan.Script))
	return i, i < len(s) && !utf8.FullRuneInString(s[i:])
}

// behindChannel says whether the text ends with a channel word and blanks, before what stands
// in front of it. Blanks without an end count as such, too.
func behindChannel(shown, before string) bool {
	const enough = 160 // bytes that tell
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
