package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// Reason is why a rule asks about a call. A person who allows more than one call allows what Covers
// describes, for this rule.
type Reason struct {
	Rule  string `json:"rule,omitempty"` // empty: the default
	Place string `json:"place,omitempty"`
	Why   string `json:"why,omitempty"`
	// the calls with this reason, in words; empty: only this call has it
	Covers string `json:"covers,omitempty"`
	Call   string `json:"call,omitempty"` // what identifies the call where Covers is empty
}

// Is reports whether two reasons are equal, wherever the rule stands.
func (r Reason) Is(o Reason) bool {
	r.Place = o.Place
	return r == o
}

// Covered reports whether a person has allowed every reason to ask. A call without reasons is not covered: it
// has none, or too many.
func Covered(reasons, allowed []Reason) bool {
	return len(reasons) > 0 && !slices.ContainsFunc(reasons, func(r Reason) bool {
		return !slices.ContainsFunc(allowed, r.Is)
	})
}

// maxReasons is how many reasons a person can review. A call with more gives none.
const maxReasons = 16

// reasons are the distinct reasons of a call, at most maxReasons+1.
type reasons []Reason

func (list reasons) add(more ...Reason) reasons {
	for _, r := range more {
		if len(list) <= maxReasons && !slices.ContainsFunc(list, r.Is) {
			list = append(list, r)
		}
	}
	return list
}

// granted reports whether every reason is allowed for good, by the id of its rule and its Covers.
func (list reasons) granted(allowed []Reason) bool {
	return len(allowed) > 0 && len(list) <= maxReasons && !slices.ContainsFunc(list, func(r Reason) bool {
		named := Reason{Rule: cmp.Or(r.Rule, "default"), Covers: r.Covers}
		return r.Covers == "" || !slices.Contains(allowed, named)
	})
}

// unquotedWord matches words that cannot be mistaken for something else in a sentence.
var unquotedWord = regexp.MustCompile(`^[\w./+-]+$`)

// covers describes the calls that give a rule the same reason to ask as this operand. facts means that the
// rule asks because of what is known of a program, whatever its words are.
func (f *Facts) covers(env any, facts bool) string {
	switch e := env.(type) {
	case *Env:
		if options, code := openEnded(e.Cmd); facts && code != "" {
			words := append([]string{e.Cmd.Binary}, options...)
			if !slices.ContainsFunc(words, func(w string) bool { return !unquotedWord.MatchString(w) }) {
				return fmt.Sprintf("%s: %s with %s, in %s", e.Tool, strings.Join(words, " "), code,
					f.Workspace)
			}
		}
	case *PathEnv:
		if e.Op == string(paths.Read) && e.Resolved != "" && !e.Dynamic && !e.Glob && len(e.Marks) == 0 {
			return fmt.Sprintf("%s: %s reads %q", e.Tool, cmp.Or(e.Program, "it"), e.Resolved)
		}
	case *URLEnv:
		if e.Class == urls.Public && !e.Dynamic && len(e.Marks) == 0 {
			return fmt.Sprintf("%s: %s sends %s to %s://%s", e.Tool, cmp.Or(e.Program, "it"), e.Method,
				e.Scheme, e.HostPort())
		}
	}
	return ""
}

// openEnded returns what a program may be given behind which options, if nothing else of it is unknown;
// otherwise code is empty and every word of the command counts.
func openEnded(c *shell.Command) (options []string, code string) {
	if len(c.ExecFlags)+len(c.Env)+len(c.Wrappers)+len(c.Stdin.From) > 0 || c.DynamicName ||
		c.Background || c.Via != "" || c.Path != "" || c.Sub != "" || c.Binary == "" {
		return nil, ""
	}
	own := func(u paths.Use) bool {
		return u.Path == c.CodeFile && u.Class == paths.Workspace && len(u.Marks) == 0
	}
	other := func(tag string) bool { return tag != "workspace-code" }
	switch at := slices.Index(c.Argv, c.CodeFile); {
	case c.CodeFile != "" && at > 0 && slices.ContainsFunc(c.Reads, own) &&
		!slices.ContainsFunc(c.Tags, other):
		return c.Argv[1:at], "any code of its folders"
	case c.CodeFile != "" || len(c.Tags) > 0:
	case c.Inline:
		return c.Flags, "any code"
	case !c.Known:
		return c.Flags, "any arguments"
	}
	return nil, ""
}
