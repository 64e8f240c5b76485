package ruleset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

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

// Entry is a parsed command of allowed_commands or blocked_commands.
type Entry struct {
	shell.Command
	allows   bool
	programs *program.Table
}

// EntryHome is the home folder while an entry is parsed. No entry names it, so a path in it was written with
// ~.
const EntryHome = "/~"

// Single reports whether a text can be one command that needs no rule.
func Single(text string) bool {
	return strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "|&;<>$`(){}'\"\\\n") &&
		!strings.Contains(text, " #")
}

// entryOf returns the entry of a script. A wrapper such as sudo is allowed as itself, but blocked by the
// program behind it.
func entryOf(s *shell.Script, allows bool, programs *program.Table) (e Entry, ok bool) {
	for _, cmd := range s.Commands {
		if cmd.Binary == "" {
			continue
		}
		if wraps := slices.Contains(cmd.Tags, "wrapper"); !ok || !wraps {
			e, ok = Entry{cmd, allows, programs}, true
			if allows || !wraps {
				break
			}
		}
	}
	return e, ok && s.Parsed
}

// Condition returns the condition of the entry. What it blocks may be anywhere in the arguments, and wrappers
// and variables count by name. What it allows must be where it was written.
func (e *Entry) Condition() string {
	terms := []string{"cmd.binary == " + literal(e.Binary)}
	for _, name := range e.Env {
		terms = append(terms, "any(cmd.env, # == "+literal(name)+")")
	}
	for _, name := range e.Wrappers {
		terms = append(terms, "any(cmd.wrappers, # == "+literal(name)+")")
	}
	for _, flag := range e.Flags {
		terms = append(terms, "any(cmd.flags, # in "+literals(e.spellings(flag))+")")
	}
	return strings.Join(slices.Concat(terms, e.subcommand(), e.arguments()), " and ")
}

// subcommand returns the term for the subcommand. It may end in * for any.
func (e *Entry) subcommand() []string {
	words := strings.Fields(e.Sub)
	star := slices.Index(words, "*")
	if star >= 0 {
		words = words[:star]
	}
	if len(words) == 0 {
		return nil
	}
	sub := strings.Join(words, " ")
	term := "cmd.sub == " + literal(sub)
	if e.allows && star < 0 {
		return []string{term}
	}
	term += " or cmd.sub startsWith " + literal(sub+" ")
	if !e.allows {
		for i, w := range words {
			words[i] = anyArgument(w)
		}
		term += " or " + strings.Join(words, " and ")
	}
	return []string{"(" + term + ")"}
}

// arguments returns the terms for words other than options and subcommands. * is any word.
func (e *Entry) arguments() (terms []string) {
	flags := slices.Clone(e.Flags) // not met so far
	seen, option := 0, ""          // operands so far, and the option that the word before ends with
	for _, w := range e.Argv[1:] {
		before, value, term := option, "", ""
		option = ""
		switch {
		case w == "":
		case seen < len(e.Operands) && w == e.Operands[seen]:
			term = e.operand(seen)
			seen++
		case w == "*" || w == "--":
		case w[0] == '-':
			option, value, flags = takeOption(flags, w)
			switch {
			case option == "" && e.Sub == "":
				term = anyArgument(w)
			case option != "" && value != "": // else it says what the subcommand is: python -m
				term = e.value(option, value)
			}
		case before != "":
			term = e.value(before, w)
		case e.Sub == "":
			if option, value, flags = takeOption(flags, "-"+w); value != "" { // else it is xf of tar xf
				term = anyArgument(w)
			}
		}
		if term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

// operand returns the term for an operand; empty: any.
func (e *Entry) operand(i int) string {
	switch w := e.Operands[i]; {
	case w == "*":
		return ""
	case strings.ContainsAny(w, "/~."):
		return pathTerm(w)
	case e.allows:
		return fmt.Sprintf("len(cmd.operands) > %d and cmd.operands[%[1]d] == %s", i, literal(w))
	default:
		return anyArgument(w, "./"+w, w+"/", "./"+w+"/")
	}
}

// takeOption finds the options in a word: the last one, its glued value, and the remaining flags.
func takeOption(flags []string, w string) (option, value string, rest []string) {
	name, value, _ := strings.Cut(w, "=")
	if i := slices.IndexFunc(flags, func(f string) bool {
		return f == name || strings.HasPrefix(name, "--") && strings.HasPrefix(strings.TrimLeft(f, "-"),
			strings.TrimLeft(name, "-"))
	}); i >= 0 {
		option = flags[i]
		return option, value, slices.Delete(flags, i, i+1)
	}
	for value = w[1:]; value != ""; value = value[1:] {
		i := slices.Index(flags, "-"+value[:1])
		if i < 0 {
			break
		}
		option = flags[i]
		flags = slices.Delete(flags, i, i+1)
	}
	return option, value, flags
}

// value returns the term for the value of an option, glued to it or not. What is blocked may also be behind
// other letters: -kj4.
func (e *Entry) value(option, value string) string {
	if strings.HasPrefix(value, EntryHome) { // ~ stands for it only where nothing is glued to it
		return anyArgument(value)
	}
	ways, behind := []string{value}, ""
	for _, o := range e.spellings(option) {
		ways = append(ways, o+"="+value)
		switch {
		case len(o) > 2:
		case e.allows:
			ways = append(ways, o+value)
		default:
			behind += " or # startsWith '-' and # endsWith " + literal(o[1:]+value)
		}
	}
	return "any(cmd.argv, " + inTerm("#", ways...) + behind + ")"
}

// commonOptions are options with common synonyms.
var commonOptions = [][]string{{"-r", "-R", "--recursive"}, {"-f", "--force"}, {"-v", "--verbose"},
	{"-a", "--all"}, {"-q", "--quiet"}, {"-n", "--dry-run"}}

// spellings returns all spellings of an option: common synonyms, and those of its program.
func (e *Entry) spellings(option string) []string {
	all := []string{option}
	for _, group := range commonOptions {
		if slices.Contains(group, option) {
			all = slices.Clone(group)
		}
	}
	for _, s := range e.programs.Spellings(e.Binary, e.Sub, option) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// anyArgument returns the term for one of these words in the arguments.
func anyArgument(words ...string) string { return "any(cmd.argv, " + inTerm("#", words...) + ")" }

// pathTerm returns the term for a path: as written, or as resolved. A folder also matches everything in it.
func pathTerm(path string) string {
	clean := strings.TrimSuffix(path, "/")
	if clean == "" {
		clean = "/"
	}
	words := slices.Compact([]string{path, clean, strings.TrimSuffix(clean, "/") + "/*"})
	terms := []string{anyArgument(words...)}
	for _, list := range []string{"reads", "writes", "deletes"} {
		terms = append(terms, fmt.Sprintf("any(cmd.%s, %s or %s)", list, inTerm(".resolved", words...),
			inTerm(".path", words...)))
	}
	return "(" + strings.Join(terms, " or ") + ")"
}

// inTerm returns the term for a text that is one of these words, in the agent's home folder.
func inTerm(text string, words ...string) string {
	var plain, inHome []string
	for _, w := range words {
		if rest, in := strings.CutPrefix(w, EntryHome); in {
			inHome = append(inHome, rest)
		} else {
			plain = append(plain, w)
		}
	}
	home := text + " startsWith home and " + text + "[len(home):] in " + literals(inHome)
	switch {
	case inHome == nil:
		return text + " in " + literals(plain)
	case plain == nil:
		return home
	}
	return text + " in " + literals(plain) + " or " + home
}

// literals returns a list of texts in the syntax of conditions.
func literals(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = literal(w)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// literal returns a text in the syntax of conditions.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }
