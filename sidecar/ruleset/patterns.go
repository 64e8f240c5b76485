package ruleset

import (
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// allowed_commands and blocked_commands hold commands as people write them. Each becomes
// a rule over what a command does, never a search in its text: the program with these
// options in any order and spelling, and these operands once they are resolved.

// Expansion is an entry of allowed_commands or blocked_commands and its condition.
type Expansion struct {
	Text   string        `json:"text"`
	Place  string        `json:"place"`
	Effect policy.Effect `json:"effect"`
	When   string        `json:"when"`
}

// Expansions returns the expansions of exec.yaml, then of the locked folder.
func (s *Set) Expansions() []Expansion {
	if s.locked == nil {
		return s.own.expanded
	}
	return slices.Concat(s.own.expanded, s.locked.expanded)
}

// patterns returns the rules of allowed_commands and blocked_commands: conditions over what a command does,
// never a search in its text. They match the program with the options in any order and spelling, and the
// operands as resolved. Each entry is an example of its own rule, so that it cannot be without effect.
func (c *ruleCompiler) patterns(f execFile) (out []policyRule) {
	rule := func(entry rulefile.Text, key string, effect policy.Effect, when string) policyRule {
		c.author.expanded = append(c.author.expanded, Expansion{entry.Value, entry.At.String(), effect, when})
		return policyRule{
			At: entry.At, ID: rulefile.Text{Value: key, At: entry.At}, When: &rulefile.Text{Value: when,
				At: entry.At}, Hit: []rulefile.Text{entry},
		}
	}
	for _, entry := range f.Blocked {
		if e, ok := c.entry(entry, false); ok {
			r := rule(entry, "blocked_commands", policy.Deny, e.Condition())
			r.Deny = &rulefile.Text{Value: "This command is blocked here.", At: entry.At}
			out = append(out, r)
		}
	}
	for _, entry := range f.Allowed {
		if e, ok := c.entry(entry, true); ok {
			c.checkKnown(entry, e.Binary)
			r := rule(entry, "allowed_commands", policy.Allow,
				e.Condition()+" and cmd.path_class in ['', 'system', 'readable'] and not cmd.dynamic_args")
			r.Allow = &rulefile.Text{Value: "It is one of allowed_commands.", At: entry.At}
			out = append(out, r)
		}
	}
	return out
}

// entry parses an entry as commands are parsed, and reports one that is not a single command.
func (c *ruleCompiler) entry(t rulefile.Text, allows bool) (e Entry, ok bool) {
	roots := c.roots
	roots.Home = EntryHome
	if Single(t.Value) {
		e, ok = entryOf(c.facts(t.Value, roots).Script, allows, c.set.Programs)
	}
	if !ok {
		c.reject(t, strconv.Quote(t.Value)+" is not a single command",
			"write a program with its options and operands, such as rm -rf /; for more, write a rule")
	}
	return e, ok
}
