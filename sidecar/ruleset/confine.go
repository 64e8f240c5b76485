package ruleset

import (
	"path"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Confine says whether the kernel confines commands.
type Confine uint8

const (
	Never    Confine = iota
	Possible         // if the machine supports it
	Always           // a command that cannot be confined does not run
)

// String returns the word of exec.yaml.
func (c Confine) String() string { return [...]string{"never", "when_possible", "always"}[c] }

func confineOf(word string) Confine {
	for _, c := range []Confine{Never, Always} {
		if c.String() == word {
			return c
		}
	}
	return Possible
}

// Confine returns the stricter setting of both folders.
func (s *Set) Confine() Confine {
	if s.locked == nil {
		return s.own.confine
	}
	return max(s.own.confine, s.locked.confine)
}

// Confined is what confined commands have in addition to the folders of their agent.
type Confined struct {
	Read        []string // files and folders, absolute
	Write       []string // folders, absolute
	Secrets     []string // names of secrets that code of the workspace may read
	Environment []string // NAME=value
	Outside     []string // programs, some with a subcommand, that may run unconfined
	Remotes     []string // git commands that reach the remotes of the workspace as the user does
	Hidden      []string // names of variables that they do not get; * is any text
}

// Confined returns the settings of both folders, for an agent with this home folder.
func (s *Set) Confined(home string) Confined {
	at := func(list []string) (out []string) {
		for _, text := range list {
			name, value, variable := strings.Cut(text, "=")
			switch {
			case variable && (value == "~" || strings.HasPrefix(value, "~/")):
				text = name + "=" + home + value[1:]
			case text == "~" || strings.HasPrefix(text, "~/"):
				text = home + text[1:]
			}
			out = append(out, text)
		}
		return out
	}
	c := s.own.confined
	if s.locked != nil {
		c = c.under(s.locked.confined)
	}
	return Confined{Read: at(c.Read), Write: at(c.Write), Secrets: c.Secrets, Environment: at(c.Environment),
		Outside: c.Outside, Remotes: c.Remotes, Hidden: c.Hidden}
}

// under applies a locked folder: only what both list remains, and both hide. A variable that both set has the
// locked value, which comes later.
func (c Confined) under(lock Confined) Confined {
	both := func(own, locked []string) []string {
		if len(locked) == 0 { // it does not say
			return own
		}
		return slices.DeleteFunc(slices.Clone(own),
			func(s string) bool { return !slices.Contains(locked, s) })
	}
	return Confined{Read: both(c.Read, lock.Read), Write: both(c.Write, lock.Write),
		Secrets: both(c.Secrets, lock.Secrets), Outside: both(c.Outside, lock.Outside),
		Remotes:     both(c.Remotes, lock.Remotes),
		Environment: slices.Concat(c.Environment, lock.Environment), Hidden: slices.Concat(c.Hidden,
			lock.Hidden)}
}

// confined checks and returns what an exec.yaml says of confined commands.
func (l *loader) confined(r confinedRule) Confined {
	c := Confined{Read: values(r.Read), Write: values(r.Write), Outside: values(r.Outside),
		Remotes: values(r.Remotes), Hidden: values(r.Hidden), Secrets: values(r.Secrets)}
	for key, list := range map[string][]rulefile.Text{"read": r.Read, "write": r.Write} {
		for _, t := range list {
			if !strings.HasPrefix(t.Value, "/") && t.Value != "~" &&
				!strings.HasPrefix(t.Value, "~/") {
				l.reject(t, t.Value+" is not an absolute path",
					"begin it with / or ~/")
			}
			if key == "write" && (t.Value == "/" || strings.Trim(t.Value, "/") == "~") {
				l.reject(t,
					t.Value+" cannot be a folder of confined commands: it holds what they must not change",
					"name a folder of their own, such as ~/.cache/gpt-oss-executor")
			}
		}
	}
	for _, t := range r.Secrets {
		if _, err := path.Match(t.Value, ""); err != nil || t.Value == "" ||
			strings.HasPrefix(t.Value, "/") || strings.Trim(t.Value, "*?/") == "" {
			l.reject(t, t.Value+" is no name of a secret",
				"write it like .env or .env.*")
		}
	}
	for _, e := range r.Environment {
		if e.Key.Value == "" || strings.ContainsAny(e.Key.Value, "=\x00 ") {
			l.reject(e.Key, "this is no name of a variable",
				"write it like GOCACHE")
		}
		c.Environment = append(c.Environment, e.Key.Value+"="+e.Value.Value)
	}
	return c
}
