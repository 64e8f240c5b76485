package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Keyword is the word that a line begins with.
type Keyword uint8

// The words.
const (
	Plain Keyword = iota // none of them
	ReactThought
	Action
	Input
	Answer
	Final
	Observation
)

var keywords = []struct {
	kw   Keyword
	word string
}{
	{Input, "action input"},
	{Action, "action"},
	{ReactThought, "thought"},
	{Final, "final answer"},
	{Answer, "answer"},
	{Observation, "observation"},
}

// Line reads the keyword of a line and where its value begins. more says
// that the line is too short to tell.
func Line(line string) (kw Keyword, value int, more bool) {
	i := scan.SkipBytes(line, 0, " \t#*_")
	if i == len(line) {
		return Plain, 0, true
	}
	for _, k := range keywords {
		switch scan.StartsFold(line[i:], k.word, false) {
		case scan.No:
			continue
		case scan.Wait:
			more = true
			continue
		}
		j := scan.SkipBytes(line, i+len(k.word), " *_")
		switch {
		case j == len(line):
			return Plain, 0, true
		case line[j] == ':':
			return k.kw, scan.SkipBytes(line, j+1, " *_\t"), false
		}
	}
	return Plain, 0, more
}

// ArgumentsOf is the input without what was invented behind a quoted one.
func ArgumentsOf(s string) string {
	s = strings.TrimSpace(s)
	if line, _, more := strings.Cut(s, "\n"); more && line[0] == '"' {
		if line = strings.TrimSpace(line); len(line) > 1 && line[len(line)-1] == '"' {
			return line
		}
	}
	return s
}

// InputEnd is where the input ends that v ends with: before a last line in which
// the model began to invent the result.
func InputEnd(v string, input int) int {
	i := strings.LastIndexByte(v, '\n')
	if i > input && i+1 < len(v) && scan.StartsFold(strings.TrimSpace(v[i+1:]), "observation",
		false) != scan.No {
		return i
	}
	return len(v)
}

// Name removes markup and a remark in parentheses from a name.
func Name(s string) string {
	s = strings.Trim(s, "*`\"' \t")
	if i := strings.Index(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = strings.TrimRight(s[:i], "*`\"' \t")
	}
	return s
}
