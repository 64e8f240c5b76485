package ruleset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

// Entry is a command of one of the lists, taken apart.
type Entry struct {
	shell.Command
	allows   bool
	programs *program.Table
}

// Home is the home folder while an entry is taken apart. No entry names it, so a path in it was written
// with ~.
const Home = "/~"

// Single reports whether a text may be one command, and nothing that only a rule can say.
func Single(text string) bool {
	return strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "|&;<>$`(){}'\"\\\n") &&
		!strings.Contains(text, " #")
}

// entryOf is the entry that a script was made of. What is banned is the program behind wrappers such as
// sudo; what is allowed is the wrapper.
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

// Condition is what the entry stands for. What it bans may stand anywhere among the arguments, and
// wrappers and variables count by their names. What it allows stands where it was written.
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

// subcommand is the term for it. A star ends it: any will do.
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
			words[i] = among(w)
		}
		term += " or " + strings.Join(words, " and ")
	}
	return []string{"(" + term + ")"}
}

// arguments are the terms for words that are neither options nor subcommands. A star is any word.
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
				term = among(w)
			case option != "" && value != "": // else it says what the subcommand is: python -m
				term = e.value(option, value)
			}
		case before != "":
			term = e.value(before, w)
		case e.Sub == "":
			if option, value, flags = takeOption(flags, "-"+w); value != "" { // else it is xf of tar xf
				term = among(w)
			}
		}
		if term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

// operand is the term for an operand; empty: any will do.
func (e *Entry) operand(i int) string {
	switch w := e.Operands[i]; {
	case w == "*":
		return ""
	case strings.ContainsAny(w, "/~."):
		return place(w)
	case e.allows:
		return fmt.Sprintf("len(cmd.operands) > %d and cmd.operands[%[1]d] == %s", i, literal(w))
	default:
		return among(w, "./"+w, w+"/", "./"+w+"/")
	}
}

// takeOption finds the options of a word among those of its command: the last one, what is glued to it as
// its value, and the options that are left.
func takeOption(flags []string, w string) (option, value string, left []string) {
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

// value is the term for the value of an option, glued to it or not. What is banned may also stand
// behind other letters: -kj4.
func (e *Entry) value(option, value string) string {
	if strings.HasPrefix(value, Home) { // ~ stands for it only where nothing is glued to it
		return among(value)
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
	return "any(cmd.argv, " + oneOf("#", ways...) + behind + ")"
}

// common are the options that mean the same wherever they are common.
var common = [][]string{{"-r", "-R", "--recursive"}, {"-f", "--force"}, {"-v", "--verbose"}, {"-a", "--all"},
	{"-q", "--quiet"}, {"-n", "--dry-run"}}

// spellings are an option in all its spellings: those that are common, and those of its program.
func (e *Entry) spellings(option string) []string {
	all := []string{option}
	for _, group := range common {
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

// among is the term for one of these words among the arguments.
func among(words ...string) string { return "any(cmd.argv, " + oneOf("#", words...) + ")" }

// place is the term for a path: as it was written, or as what it is resolved to. A
// folder is also meant by all that is in it.
func place(path string) string {
	clean := strings.TrimSuffix(path, "/")
	if clean == "" {
		clean = "/"
	}
	words := slices.Compact([]string{path, clean, strings.TrimSuffix(clean, "/") + "/*"})
	terms := []string{among(words...)}
	for _, list := range []string{"reads", "writes", "deletes"} {
		terms = append(terms, fmt.Sprintf("any(cmd.%s, %s or %s)", list, oneOf(".resolved", words...),
			oneOf(".path", words...)))
	}
	return "(" + strings.Join(terms, " or ") + ")"
}

// oneOf is the term for a text that is one of these words. The home folder is that of the agent.
func oneOf(text string, words ...string) string {
	var plain, inHome []string
	for _, w := range words {
		if rest, in := strings.CutPrefix(w, Home); in {
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

// literals is a list of texts as conditions write it.
func literals(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = literal(w)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// literal is a text as conditions write it.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }
