package cli

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// facts are the lines about what a call can do.
func (r *rows) facts(f *policy.Facts) {
	if f == nil {
		return
	}
	if f.Script == nil && len(f.Paths) > 0 { // commands show where they run
		r.add(1, plain, "", "in %s", f.Workspace)
	}
	if s := f.Script; s != nil {
		if !s.Parsed {
			r.add(1, red, "", "not a complete command: %s", clipped(s.Error))
		}
		for _, why := range s.Dynamic {
			r.add(1, plain, "", "only known at run time: %s", clipped(why))
		}
		for i := range s.Commands {
			r.commandFacts(&s.Commands[i])
		}
	}
	r.touches(1, f.Paths, f.URLs)
}

func (r *rows) commandFacts(c *shell.Command) {
	what := clipped(strings.Join(c.Argv, " "))
	if what == "" {
		what = "no program, " + c.Via
	}
	for _, more := range []struct {
		word   string
		values []string
	}{
		{"through", through(c)}, {"in", one(c.Cwd)}, {"code in", one(c.CodeFile)}, {"with", c.Env},
		{"input from", append(c.Stdin.From, one(c.Stdin.File)...)}, {"tags", c.Tags},
	} {
		if len(more.values) > 0 {
			what += "  " + more.word + " " + clipped(strings.Join(more.values, ", "))
		}
	}
	r.add(1, plain, "", "runs %s", what)
	r.touches(2, append(append(append([]paths.Use(nil), c.Reads...), c.Writes...), c.Deletes...), c.URLs)
}

// through is what makes a command run: programs around it, and the construct it stands in.
func through(c *shell.Command) []string {
	if c.Via == "" || slices.Contains(c.Wrappers, c.Via) {
		return c.Wrappers
	}
	return append(slices.Clone(c.Wrappers), c.Via)
}

// one is a list of a word, if there is one.
func one(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

func (r *rows) touches(level int, files []paths.Use, addresses []urls.Use) {
	for _, p := range files {
		r.add(level, plain, "", "%ss %s  %s%s", p.Op, clipped(p.Path), p.Class, marks(p.Marks))
	}
	for _, u := range addresses {
		r.add(level, plain, "", "%s %s  %s%s", u.Method, clipped(u.URL), u.Class, marks(u.Marks))
	}
}

func marks(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
