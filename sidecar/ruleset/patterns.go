package ruleset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// allowed_commands and blocked_commands hold commands as people write them. Each becomes
// a rule over what a command does, never a search in its text: the program with these
// options in any order and spelling, and these operands once they are resolved.

// Expansion is an entry of allowed_commands or blocked_commands and what becomes of it.
type Expansion struct {
	Text   string        `json:"text"`
	Place  string        `json:"place"`
	Effect policy.Effect `json:"effect"`
	When   string        `json:"when"`
}

// Expansions are those of exec.yaml, then those of the locked folder.
func (s *Set) Expansions() []Expansion {
	if s.locked == nil {
		return s.own.expanded
	}
	return slices.Concat(s.own.expanded, s.locked.expanded)
}

// patterns are the rules that the two lists of commands stand for.
func (c *ruleCompiler) patterns(f execFile) (out []policyRule) {
	rule := func(entry rulefile.Text, key string, effect policy.Effect, when string) policyRule {
		c.author.expanded = append(c.author.expanded, Expansion{entry.Value, entry.At.String(), effect, when})
		return policyRule{At: entry.At, ID: rulefile.Text{Value: key, At: entry.At}, When: &rulefile.Text{Value: when, At: entry.At}}
	}
	for _, entry := range f.Blocked {
		if when, ok := c.pattern(entry, policy.Deny); ok {
			r := rule(entry, "blocked_commands", policy.Deny, when)
			r.Deny = &rulefile.Text{Value: "This command is blocked here.", At: entry.At}
			out = append(out, r)
		}
	}
	for _, entry := range f.Allowed {
		if when, ok := c.pattern(entry, policy.Allow); ok {
			c.listed(entry, strings.Fields(entry.Value)[0])
			r := rule(entry, "allowed_commands", policy.Allow, when+" and cmd.path_class in ['', 'system', 'readable'] and not cmd.dynamic_args")
			r.Allow = &rulefile.Text{Value: "It is one of allowed_commands.", At: entry.At}
			out = append(out, r)
		}
	}
	return out
}

// pattern is the condition that an entry stands for. What it bans may stand anywhere among
// the arguments; what it allows stands where it was written.
func (c *ruleCompiler) pattern(entry rulefile.Text, effect policy.Effect) (when string, ok bool) {
	words := strings.Fields(entry.Value)
	if len(words) == 0 || strings.ContainsAny(entry.Value, "|&;<>$`(){}'\"\\\n") {
		c.report(entry.All(), rulefile.CodeValue, strconv.Quote(entry.Value)+" is not a single command", "write a program with its options and operands, such as rm -rf /; for more, write a rule")
		return "", false
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	terms := []string{"cmd.binary == " + literal(name)}
	var first []string
	for _, w := range words[1:] {
		switch {
		case w == "*":
		case strings.HasPrefix(w, "--"), strings.HasPrefix(w, "-") && len(w) == 2:
			terms = append(terms, option(w))
		case strings.HasPrefix(w, "-") && len(w) > 1:
			for _, letter := range w[1:] {
				terms = append(terms, option("-"+string(letter)))
			}
		case strings.ContainsAny(w, "/~."):
			terms = append(terms, operand(w))
		case effect == policy.Allow:
			first = append(first, w)
		default:
			terms = append(terms, word(w))
		}
	}
	if len(first) > 0 {
		terms = append(terms, behind(first))
	}
	return strings.Join(terms, " and "), true
}

// behind is the term for the words behind a program: its subcommand, and then its first
// operands.
func behind(words []string) string {
	var ways []string
	for n := range len(words) + 1 {
		terms := []string{"cmd.sub == " + literal(strings.Join(words[:n], " "))}
		rest := words[n:]
		if len(rest) > 0 {
			terms = append(terms, fmt.Sprintf("len(cmd.operands) >= %d", len(rest)))
		}
		for i, w := range rest {
			terms = append(terms, fmt.Sprintf("cmd.operands[%d] == %s", i, literal(w)))
		}
		ways = append(ways, strings.Join(terms, " and "))
	}
	return "(" + strings.Join(ways, " or ") + ")"
}

// spellings are the options that mean the same wherever they are common.
var spellings = [][]string{{"-r", "-R", "--recursive"}, {"-f", "--force"}, {"-v", "--verbose"}, {"-a", "--all"}, {"-q", "--quiet"}, {"-n", "--dry-run"}}

// option is the term for an option in any of its spellings.
func option(flag string) string {
	all := []string{flag}
	for _, group := range spellings {
		if slices.Contains(group, flag) {
			all = group
		}
	}
	return "any(cmd.flags, # in [" + strings.Join(collect(all, literal), ", ") + "])"
}

// word is the term for a subcommand, or a name in the folder where the program runs.
func word(w string) string {
	return fmt.Sprintf("(cmd.sub == %s or any(cmd.argv, # in [%s, %s, %s, %s]))",
		literal(w), literal(w), literal("./"+w), literal(w+"/"), literal("./"+w+"/"))
}

// operand is the term for a path: as it was written, or as what it is resolved to. A
// folder is also meant by all that is in it.
func operand(path string) string {
	clean := strings.TrimSuffix(path, "/")
	if clean == "" {
		clean = "/"
	}
	within := strings.TrimSuffix(clean, "/") + "/*"
	spelt := fmt.Sprintf("[%s, %s]", literal(clean), literal(within))
	terms := []string{fmt.Sprintf("any(cmd.argv, # in %s)", spelt)}
	for _, list := range []string{"reads", "writes", "deletes"} {
		terms = append(terms, fmt.Sprintf("any(cmd.%s, .resolved in %[2]s or .path in %[2]s)", list, spelt))
	}
	return "(" + strings.Join(terms, " or ") + ")"
}

// literal is a text as conditions write it.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }
