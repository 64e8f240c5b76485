package tools

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// command converts the value of an argument that is executed to the form that the tool takes: a line of
// shell, a list of lines, or a program with its arguments. The name tells which list came: command is a
// program with its arguments, as gpt-oss was trained to write it, and commands are lines. ok is false if
// a list would change its meaning.
func (w *shaper) command(m member, s *Schema) (val string, ok bool) {
	if m.given == "" {
		m.given = m.name
	}
	if !w.runs(m.given) || !w.runs(m.name) || m.given == m.name && w.accepts(s, m.val) {
		return m.val, true
	}
	words, list := textsOf(m.val)
	several := list && plural(m.given)
	line, one := "", true
	switch text := takesText(s, 0); {
	case len(words) == 0, list && !several && !text && !plural(m.name), several && plural(m.name):
		return m.val, true // as the tool takes it, or no command
	case list && len(words) > 1:
		if line, one = lineOf(words); several || !one {
			return m.val, false
		}
	case text, plural(m.name):
		return m.val, true // a list of one is unwrapped elsewhere
	default:
		line = words[0]
	}
	switch val = jsontext.Quote(line); {
	case takesText(s, 0):
	case plural(m.name):
		val = "[" + val + "]"
	default:
		val = `["bash","-lc",` + val + "]"
	}
	w.note("args.command", m.val, val, "")
	return val, true
}

// runs reports whether a parameter is executed, by a rule or by its name.
func (w *shaper) runs(param string) bool {
	return w.rules.kindOf(w.tool, param).Kind == Command
}

func plural(name string) bool { return strings.HasSuffix(key(name), "s") }

// textsOf returns a text, or the texts of a list of texts only.
func textsOf(raw string) (texts []string, list bool) {
	v := gjson.Parse(raw)
	if v.Type == gjson.String {
		return []string{v.String()}, false
	}
	for _, e := range v.Array() {
		if e.Type != gjson.String {
			return nil, false
		}
		texts = append(texts, e.String())
	}
	return texts, true
}

var (
	programName = regexp.MustCompile(`^[\w./+-]+$`)
	plainWord   = regexp.MustCompile(`^[\w@%+=:,./-]+$`)
)

// operators of a shell are no arguments: the model meant a line.
var operators = []string{"&&", "||", "|", ";", "&", ">", ">>", "<", "<<"}

// lineOf returns a program with its arguments as a line of shell; the argument of bash -c is that line.
// ok is false for several lines.
func lineOf(words []string) (line string, ok bool) {
	if len(words) == 3 && slices.Contains([]string{"-c", "-lc"}, words[1]) &&
		slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, words[0]) {
		return words[2], true
	}
	if len(words) < 2 || !programName.MatchString(words[0]) {
		return "", false
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		switch {
		case slices.Contains(operators, word):
			return "", false
		case plainWord.MatchString(word):
			quoted[i] = word
		default:
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " "), true
}
