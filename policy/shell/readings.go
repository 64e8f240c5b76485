package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// reading is one way in which a shell can parse a text.
type reading struct {
	file  *syntax.File
	text  string
	stmts int
}

// splicedWord matches a line break that may be inside a word.
var splicedWord = regexp.MustCompile(`[^ \t\n]\\\n[^ \t\n]`)

// readings parses a text in each way in which bash could. A backslash before CR LF continues the line only if
// something has turned CR LF into LF. The plain reading comes last; if it does not parse, there are none.
func (a *analysis) readings(text string) (out []*reading) {
	a.scanCharacters(text)
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	if ended := strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", "\n"), "\r\n", "\n"); ended != lf {
		out = append(out, &reading{text: ended})
	}
	out = append(out, &reading{text: lf})
	for _, r := range out {
		if err := a.parse(r); err != nil {
			a.failParse(err)
			return nil
		}
		if strings.Contains(r.text, "$\\\n") {
			a.unsure("a line ends behind a $, and goes on")
		}
	}
	if lf = out[len(out)-1].text; strings.Contains(lf, "\\\n") && splicedWord.MatchString(lf) {
		// it may break quotes and here-documents; then it is no reading
		if spliced := (&reading{text: strings.ReplaceAll(lf, "\\\n", "")}); a.parse(spliced) == nil {
			out = append([]*reading{spliced}, out...)
		}
	}
	most := 0
	for _, r := range out {
		most = max(most, r.stmts)
	}
	a.extraReadings, a.statements = a.extraReadings+len(out)-1, a.statements+most
	if a.extraReadings > maxReadings || a.statements > a.limits.Statements {
		a.exceed()
		return nil
	}
	return out
}

// maxEndings is how often a text is parsed again because a comment ends earlier.
const maxEndings = 8

// parsers are reused: a new one is larger than most texts.
var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}}

func (a *analysis) parse(r *reading) (err error) {
	for n := 0; ; n++ {
		if openBrackets(r.text) > 2*maxNesting {
			a.exceed()
			return errors.New("nested too deep")
		}
		parser := parsers.Get().(*syntax.Parser) // one that panics is not put back
		r.file, err = parser.Parse(strings.NewReader(r.text), "")
		if parsers.Put(parser); err != nil {
			return err
		}
		if r.tooDeep() {
			a.exceed()
			return errors.New("nested too deep")
		}
		if !strings.Contains(r.text, "\\\n") || !r.endComments() {
			break
		}
		if n == maxEndings {
			return errors.New("too many comments that end in a backslash")
		}
	}
	if strings.Contains(r.text, "`") && strings.Contains(r.text, `\`) {
		a.checkBackquotes(r)
	}
	if strings.Contains(r.text, "<<") {
		return r.checkDelimiters()
	}
	return nil
}

// endComments ends comments at their line, even behind a backslash, which the parser takes as a continuation.
// It reports whether it changed any.
func (r *reading) endComments() (any bool) {
	text := []byte(r.text)
	syntax.Walk(r.file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && strings.HasSuffix(c.Text, "\\\n") {
			text[int(c.Hash.Offset())+len("#")+len(c.Text)-len("\\\n")] = ' '
			any = true
		}
		return true
	})
	r.text = string(text)
	return any
}

// checkBackquotes records backquotes around a backslash: bash reads their content twice, the parser in its
// own way.
func (a *analysis) checkBackquotes(r *reading) {
	syntax.Walk(r.file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CmdSubst)
		if ok = ok && c.Backquotes; ok {
			left, right := int(c.Left.Offset()), min(int(c.Right.Offset()), len(r.text))
			if left < right && strings.Contains(strings.ReplaceAll(r.text[left:right], "\\`", ""), `\`) {
				a.unsure("backquotes with a backslash inside")
			}
		}
		return !ok
	})
}

// openBrackets returns how many brackets are open at most, quoted or not. The parser is slow for many.
func openBrackets(text string) (most int) {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(0, open-1)
		}
		most = max(most, open)
	}
	return most
}

// tooDeep counts the statements and limits their nesting, since walking each nested part takes quadratic
// time. A statement in a statement is two levels.
func (r *reading) tooDeep() bool {
	depth, most := 0, 0
	r.stmts = 0
	syntax.Walk(r.file, func(n syntax.Node) bool {
		if n == nil {
			depth--
		} else {
			depth++
		}
		if _, is := n.(*syntax.Stmt); is {
			r.stmts++
		}
		most = max(most, depth)
		return depth <= 2*maxNesting
	})
	return most > 2*maxNesting
}

// checkDelimiters rejects here-documents whose end bash sees elsewhere: it takes 'E'# as one word, and allows
// a line break in a delimiter.
func (r *reading) checkDelimiters() (err error) {
	syntax.Walk(r.file, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.Redirect); ok && d.Hdoc != nil {
			from, to := int(d.Word.Pos().Offset()), int(d.Word.End().Offset())
			if strings.Contains(r.text[from:to], "\n") || to < len(r.text) &&
				!strings.ContainsRune(" \t\n;&|()<>`", rune(r.text[to])) {
				err = fmt.Errorf("%s: the delimiter of a here-document is not clear", d.Word.Pos())
			}
		}
		return err == nil
	})
	return err
}

// failParse records a part that does not parse. It costs many steps, since finding that out can take
// quadratic time.
func (a *analysis) failParse(err error) {
	a.script.Parsed = false
	a.steps -= a.limits.Steps / 8
	if a.script.Error == "" {
		a.script.Error = err.Error()
	}
}

// scanCharacters looks for characters that make a text look different from what runs.
func (a *analysis) scanCharacters(text string) {
	for i, r := range text {
		switch {
		case r == '\n', r == '\t', r >= 0x20 && r < 0x7f:
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
		case r < 0xa0:
			a.script.Control = true
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Z, r), r == 0x115f, r == 0x1160, r == 0x3164,
			r == 0xffa0, r == 0x034f:
			a.script.Invisible = true
		}
	}
}
