package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class is the effect of a tool on the world.
type Class string

// The classes, from harmless to harmful. A tool that no rule knows is Write.
const (
	Read  Class = "read"
	Write Class = "write"
	Exec  Class = "exec"

	// Agent is a class of words only: what works by itself, such as a subagent. A tool that runs one
	// writes.
	Agent Class = "agent"
)

// Class returns the class of a tool by its name. A whole name in a rule decides; else the most harmful
// of its words does, else the other names of its group. No class is below the floor.
func (r *Rules) Class(name string) Class {
	class := r.class(name)
	if class == "" || class == Read && r.saysMore(name) {
		class = Write
	}
	return class.AtLeast(r.Floors.of(name))
}

// saysMore reports whether a name joins two actions, and no rule knows the second: fetch_and_frob.
func (r *Rules) saysMore(name string) bool {
	all := words(name)
	i := slices.IndexFunc(all, func(w string) bool { return w == "and" || w == "then" || w == "or" })
	return i > 0 && r.Classes.of(strings.Join(all[i+1:], " ")) == ""
}

// AtLeast returns the more harmful of two classes.
func (c Class) AtLeast(floor Class) Class {
	if harm(floor) > harm(c) {
		return floor
	}
	return c
}

// Classes are compiled class rules. The zero Classes have none.
type Classes struct {
	whole map[string]ranked // by key of a whole name
	words map[string]sense
	stems []stem
}

// ranked is the class of a whole name, with the number of names before it.
type ranked struct {
	rank  int
	class Class
}

// sense is the meaning of one word in all rules.
type sense struct {
	found, noun, verb Class // alone; if no other word decides; of what the other words name
	agent             bool
}

// stem is a word of a rule that ends in "*".
type stem struct {
	begin string
	sense sense
}

// NewClasses compiles rules. The first that lists a whole name decides.
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
				c.words[w] = c.words[w].merge(s)
			}
		}
	}
	return c
}

// merge returns the meaning of two rules.
func (s sense) merge(o sense) sense {
	return sense{s.found.AtLeast(o.found), s.noun.AtLeast(o.noun), s.verb.AtLeast(o.verb), s.agent || o.agent}
}

// of returns the class of a name, or "". A whole name may follow that of its namespace:
// repo_browser.print_tree.
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
		s = s.merge(c.words[word])
		for _, stem := range c.stems {
			if strings.HasPrefix(word, stem.begin) {
				s = s.merge(stem.sense)
			}
		}
	}
	if s.agent && s.verb != "" && s.found != Exec && s.noun != Exec { // an agent is run
		s.verb = Write
	}
	return cmp.Or(s.found.AtLeast(s.verb), s.noun)
}

// harmful reports whether a rule classes a name as Write or Exec.
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

// words splits a name at everything but letters and digits, and where camelCase begins a new word, and
// lower-cases the parts: "ReadFile_tool" is read, file, tool; "HTTPGet" is http, get.
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
