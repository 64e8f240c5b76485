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

// reading is how a shell parses a text.
type reading struct {
	file  *syntax.File
	text  string
	stmts int
}

// splicedWord matches a line break that may be inside a word.
var splicedWord = regexp.MustCompile(`[^ \t\n]\\\n[^ \t\n]`)

// reading parses a text as bash does; nil: it does not parse, or bash may read it in another way. A
// backslash before CR LF continues the line only if something has turned CR LF into LF.
func (a *analysis) reading(text string) *reading {
	a.scanCharacters(text)
	r := &reading{text: strings.ReplaceAll(text, "\r\n", "\n")}
	if err := a.parse(r); err != nil {
		a.failParse(err)
		return nil
	}
	switch {
	case strings.Contains(text, "\\\r\n"):
		a.unfollowed("a line that goes on behind CR LF")
	case strings.Contains(r.text, "\\\n") && splicedWord.MatchString(r.text):
		a.unfollowed("a word that goes on in the next line")
	case strings.Contains(r.text, "$\\\n"):
		a.unfollowed("a line that ends behind a $")
	}
	if a.statements += r.stmts; a.statements > a.limits.Statements {
		a.exceed()
		return nil
	}
	return r
}

// parsers are reused: a new one is larger than most texts.
var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}}

func (a *analysis) parse(r *reading) (err error) {
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
	if strings.Contains(r.text, "\\\n") && r.endsComment() {
		a.unfollowed("a comment that ends in a backslash")
	}
	if strings.Contains(r.text, "`") && strings.Contains(r.text, `\`) {
		a.checkBackquotes(r)
	}
	if strings.Contains(r.text, "<<") {
		return r.checkDelimiters()
	}
	return nil
}

// endsComment reports whether a comment ends in a backslash, which the parser takes as a continuation.
func (r *reading) endsComment() (any bool) {
	syntax.Walk(r.file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.Comment)
		any = any || ok && strings.HasSuffix(c.Text, "\\\n")
		return !any
	})
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
