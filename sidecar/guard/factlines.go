package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// FactLine is a line about what a call can do, for people.
type FactLine struct {
	Level int  // indentation: 1, or 2 below a command
	Bad   bool // the call cannot be understood
	Text  string
}

// FactLines returns the facts of a call for people. shown shortens what a model wrote and makes it
// safe to print.
func FactLines(f *policy.Facts, shown func(string) string) []FactLine {
	if f == nil {
		return nil
	}
	l := factLines{shown: shown}
	if f.Script == nil && len(f.Paths) > 0 { // commands show where they run
		l.add(1, "in %s", f.Workspace)
	}
	if s := f.Script; s != nil {
		if !s.Parsed {
			l.list = append(l.list, FactLine{1, true, "not a complete command: " + shown(s.Error)})
		}
		for _, why := range s.Dynamic {
			l.add(1, "only known at run time: %s", shown(why))
		}
		for i := range s.Commands {
			l.command(&s.Commands[i])
		}
	}
	l.touches(1, f.Paths, f.URLs)
	return l.list
}

type factLines struct {
	shown func(string) string
	list  []FactLine
}

func (l *factLines) add(level int, format string, args ...any) {
	l.list = append(l.list, FactLine{Level: level, Text: fmt.Sprintf(format, args...)})
}

func (l *factLines) command(c *shell.Command) {
	what := l.shown(strings.Join(c.Argv, " "))
	if what == "" {
		what = "no program, " + c.Via
	}
	for _, more := range []struct {
		word   string
		values []string
	}{
		{"through", runBy(c)}, {"in", oneOf(c.Cwd)}, {"code in", oneOf(c.CodeFile)}, {"with", c.Env},
		{"input from", append(c.Stdin.From, oneOf(c.Stdin.File)...)}, {"tags", c.Tags},
	} {
		if len(more.values) > 0 {
			what += "  " + more.word + " " + l.shown(strings.Join(more.values, ", "))
		}
	}
	l.add(1, "runs %s", what)
	l.touches(2, slices.Concat(c.Reads, c.Writes, c.Deletes), c.URLs)
}

// runBy returns what makes a command run: wrappers, and the construct around it.
func runBy(c *shell.Command) []string {
	if c.Via == "" || slices.Contains(c.Wrappers, c.Via) {
		return c.Wrappers
	}
	return append(slices.Clone(c.Wrappers), c.Via)
}

// oneOf returns a list with a word; nil for "".
func oneOf(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

func (l *factLines) touches(level int, files []paths.Use, addresses []urls.Use) {
	for _, p := range files {
		l.add(level, "%ss %s  %s%s", p.Op, l.shown(p.Path), p.Class, marks(p.Marks))
	}
	for _, u := range addresses {
		l.add(level, "%s %s  %s%s", u.Method, l.shown(u.URL), u.Class, marks(u.Marks))
	}
}

func marks(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
