package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Class says what a tool does to the world.
type Class string

// The classes, from harmless to harmful. What no rule knows is Write: a tool that
// is not known to be harmless is not.
const (
	Read  Class = "read"
	Write Class = "write"
	Exec  Class = "exec"

	// Agent is a class of words, and of no tool: what works by itself, such as a subagent. A tool that
	// runs one runs no command, and writes.
	Agent Class = "agent"
)

// Class returns the class of a tool by its name. A whole name that a rule lists
// decides; otherwise the most harmful of its words does, and where no word says anything,
// the other names of its group do. No class is below the floor.
func (r *Rules) Class(name string) Class {
	class := r.class(name)
	if class == "" || class == Read && r.goesOn(name) {
		class = Write
	}
	return class.AtLeast(classBy(r.Floors, name))
}

// goesOn reports whether a name says two things, and the second is none that a rule knows:
// fetch_and_frob.
func (r *Rules) goesOn(name string) bool {
	all := words(name)
	i := slices.IndexFunc(all, func(w string) bool { return w == "and" || w == "then" || w == "or" })
	return i > 0 && classBy(r.Classes, strings.Join(all[i+1:], " ")) == ""
}

// AtLeast is the more harmful of two classes.
func (c Class) AtLeast(floor Class) Class {
	if harm(floor) > harm(c) {
		return floor
	}
	return c
}

// classBy is what the words of a name say; empty where they say nothing. A whole name may stand behind that
// of its namespace: repo_browser.print_tree.
func classBy(rules []ClassRule, name string) Class {
	whole, last := key(name), key(name[strings.LastIndexByte(name, '.')+1:])
	for _, rule := range rules {
		for _, w := range rule.Words {
			switch {
			case !strings.Contains(w, "_") || key(w) != whole && key(w) != last:
			case rule.Class == Agent:
				return Write
			default:
				return rule.Class
			}
		}
	}
	var found, noun, verb Class
	agent := false
	for _, word := range words(name) {
		for _, rule := range rules {
			held, sign := rule.holds(word)
			switch {
			case !held:
			case rule.Class == Agent:
				agent, noun = true, noun.AtLeast(Write)
			case sign == '(':
				noun = noun.AtLeast(rule.Class)
			case sign == '+':
				verb = verb.AtLeast(rule.Class)
			default:
				found = found.AtLeast(rule.Class)
			}
		}
	}
	if agent && verb != "" && found != Exec && noun != Exec { // what is run is an agent
		verb = Write
	}
	return cmp.Or(found.AtLeast(verb), noun)
}

// harmful reports whether a rule says of a name that it writes or executes. A name that no
// rule knows is not harmful by this measure.
func (r *Rules) harmful(name string) bool {
	return harm(r.class(name).AtLeast(classBy(r.Floors, name))) > harm(Read)
}

// holds says that a word of the rule is this one, and with which sign: "(" if it counts only where no
// other word of the name does, "+" if it acts on what the other words name.
func (c ClassRule) holds(word string) (held bool, sign byte) {
	for _, w := range c.Words {
		sign = 0
		if strings.HasPrefix(w, "(") {
			sign, w = '(', strings.Trim(w, "()")
		} else if verb, acts := strings.CutSuffix(w, "+"); acts {
			sign, w = '+', verb
		}
		if stem, wild := strings.CutSuffix(w, "*"); w == word || wild && strings.HasPrefix(word, stem) {
			return true, sign
		}
	}
	return false, 0
}

func harm(c Class) int {
	switch c {
	case "":
		return 0
	case Read:
		return 1
	case Exec:
		return 3
	}
	return 2
}

// words splits a name at everything that is neither letter nor digit, and where
// camelCase begins a new word, and lower-cases the parts: "ReadFile_tool" is read,
// file, tool; "HTTPGet" is http, get.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			afterLower := !unicode.IsUpper(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				flush()
			}
		}
		word = append(word, r)
	}
	flush()
	return out
}
