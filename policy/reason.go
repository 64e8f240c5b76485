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

// Reason is why a rule asks about a call, and which other calls have the same reason. A person who allows
// more than one call allows what Covers says, for this rule and its words.
type Reason struct {
	Rule  string `json:"rule,omitempty"` // empty: the default
	Place string `json:"place,omitempty"`
	Why   string `json:"why,omitempty"`
	// calls with this reason, in words; empty: no other call has it
	Covers string `json:"covers,omitempty"`
	Call   string `json:"call,omitempty"` // where Covers is empty, what tells the call from others
}

// Is reports whether two reasons are the same one, wherever the rule stands.
func (r Reason) Is(o Reason) bool {
	r.Place = o.Place
	return r == o
}

// Covered reports whether each reason to ask is among those that a person has allowed. A call without a
// reason is not covered: it has none, or too many.
func Covered(reasons, allowed []Reason) bool {
	return len(reasons) > 0 && !slices.ContainsFunc(reasons, func(r Reason) bool {
		return !slices.ContainsFunc(allowed, r.Is)
	})
}

// maxReasons is how many reasons a person can look through. A call with more of them gives none.
const maxReasons = 16

// reasons are those of a call, each once; more than maxReasons: there are too many.
type reasons []Reason

func (list reasons) with(more ...Reason) reasons {
	for _, r := range more {
		if len(list) <= maxReasons && !slices.ContainsFunc(list, r.Is) {
			list = append(list, r)
		}
	}
	return list
}

// granted reports whether each reason is allowed for good, by the id of its rule and what it covers.
func (list reasons) granted(allowed []Reason) bool {
	return len(allowed) > 0 && len(list) <= maxReasons && !slices.ContainsFunc(list, func(r Reason) bool {
		named := Reason{Rule: cmp.Or(r.Rule, "default"), Covers: r.Covers}
		return r.Covers == "" || !slices.Contains(allowed, named)
	})
}

// sayable are words that look like nothing else in a sentence.
var sayable = regexp.MustCompile(`^[\w./+-]+$`)

// covers says which calls give a rule the same reason to ask as this operand. Facts says that the rule asks
// because of what is known of a program, whatever the words of its command are.
func (f *Facts) covers(env any, facts bool) string {
	switch e := env.(type) {
	case *Env:
		if options, code := anyCode(e.Cmd); facts && code != "" {
			words := append([]string{e.Cmd.Binary}, options...)
			if !slices.ContainsFunc(words, func(w string) bool { return !sayable.MatchString(w) }) {
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

// anyCode says what a program may be given, behind which options, where nothing but that is unknown; empty:
// its words count.
func anyCode(c *shell.Command) (options []string, code string) {
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
