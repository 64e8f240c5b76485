package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	return class.AtLeast(r.Floors.of(name))
}

// goesOn reports whether a name says two things, and the second is none that a rule knows:
// fetch_and_frob.
func (r *Rules) goesOn(name string) bool {
	all := words(name)
	i := slices.IndexFunc(all, func(w string) bool { return w == "and" || w == "then" || w == "or" })
	return i > 0 && r.Classes.of(strings.Join(all[i+1:], " ")) == ""
}

// AtLeast is the more harmful of two classes.
func (c Class) AtLeast(floor Class) Class {
	if harm(floor) > harm(c) {
		return floor
	}
	return c
}

// Classes are what the words of names say, ready to be asked. The zero Classes say nothing.
type Classes struct {
	whole map[string]ranked // by key of a whole name
	words map[string]sense
	stems []stem
}

// ranked is a class that the rules give to a whole name, and how many names stand before it.
type ranked struct {
	rank  int
	class Class
}

// sense is what all rules say about one word.
type sense struct {
	found, noun, verb Class // by itself, where no other word says anything, about what the others name
	agent             bool
}

// stem is a word of the rules that ends in "*".
type stem struct {
	begin string
	sense sense
}

// NewClasses compiles rules, of which the first that lists a whole name decides.
func NewClasses(rules ...ClassRule) Classes {
	c := Classes{whole: map[string]ranked{}, words: map[string]sense{}}
	for _, rule := range rules {
		for _, w := range rule.Words {
			class := rule.Class
			if class == Agent {
				class = Write
			}
			if k := key(w); strings.Contains(w, "_") {
				if _, before := c.whole[k]; !before {
					c.whole[k] = ranked{len(c.whole), class}
				}
			}
			s := sense{found: class}
			if strings.HasPrefix(w, "(") {
				w, s = strings.Trim(w, "()"), sense{noun: class}
			} else if verb, acts := strings.CutSuffix(w, "+"); acts {
				w, s = verb, sense{verb: class}
			}
			if rule.Class == Agent {
				s = sense{noun: Write, agent: true}
			}
			if begin, wild := strings.CutSuffix(w, "*"); wild {
				c.stems = append(c.stems, stem{begin, s})
			} else {
				c.words[w] = c.words[w].and(s)
			}
		}
	}
	return c
}

// and is what two rules say.
func (s sense) and(o sense) sense {
	return sense{s.found.AtLeast(o.found), s.noun.AtLeast(o.noun), s.verb.AtLeast(o.verb), s.agent || o.agent}
}

// of is what the words of a name say; empty where they say nothing. A whole name may stand behind that
// of its namespace: repo_browser.print_tree.
func (c Classes) of(name string) Class {
	whole, is := c.whole[key(name)]
	if last, behind := c.whole[key(name[strings.LastIndexByte(name, '.')+1:])]; behind &&
		(!is || last.rank < whole.rank) {
		whole, is = last, true
	}
	if is || len(c.words)+len(c.stems) == 0 {
		return whole.class
	}
	var s sense
	for _, word := range words(name) {
		s = s.and(c.words[word])
		for _, stem := range c.stems {
			if strings.HasPrefix(word, stem.begin) {
				s = s.and(stem.sense)
			}
		}
	}
	if s.agent && s.verb != "" && s.found != Exec && s.noun != Exec { // what is run is an agent
		s.verb = Write
	}
	return cmp.Or(s.found.AtLeast(s.verb), s.noun)
}

// harmful reports whether a rule says of a name that it writes or executes. A name that no
// rule knows is not harmful by this measure.
func (r *Rules) harmful(name string) bool {
	return harm(r.class(name).AtLeast(r.Floors.of(name))) > harm(Read)
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
func words(name string) (out []string) {
	from, before := 0, rune(0)
	end := func(to int) {
		if from < to {
			out = append(out, strings.ToLower(name[from:to]))
		}
	}
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		next, _ := utf8.DecodeRuneInString(name[i+n:])
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end(i)
			from = i + n
		case unicode.IsUpper(r) && (!unicode.IsUpper(before) || unicode.IsLower(next)):
			end(i)
			from = i
		}
		before, i = r, i+n
	}
	end(len(name))
	return out
}
