package refer

import (
	"strconv"
	"strings"
	"unicode"
)

// Role is the meaning of a word in such an argument.
type Role int

// The roles.
const (
	Strange Role = iota // unknown
	Noun                // the thing: link, file, result
	Earlier             // its place: above, previous
	Blank               // to be filled in: insert, todo
	Order               // its number: first, second
	Many                // several, or an unclear one: all, next, latest
	Step                // the number counts calls: step, turn
	Glue                // the, of, from
)

// Word is one word.
type Word struct {
	Role Role
	Nth  int // of Order
}

// Words are the words of such arguments, in lower case.
type Words map[string]Word

// phrase is the meaning of an argument's words.
type phrase struct {
	words, known               int // number of words, and of those that mark a reference
	nth                        []int
	about                      []string
	noun, earlier, glue, index bool
	many                       bool
}

func (p phrase) ref() Ref {
	r := Ref{About: p.about, Vague: p.many}
	for _, n := range p.nth {
		if r.Nth != 0 && r.Nth != n {
			r.Vague = true
		}
		r.Nth = n
	}
	for _, word := range p.about {
		r.Vague = r.Vague || len(word) < 3
	}
	return r
}

// token is a word, or a number.
type token struct {
	text    string
	number  bool
	counted bool // counted from 0: in brackets, or between dots
}

// say reads the words of an argument.
func (w Words) say(text string) (p phrase) {
	all := tokens(text)
	for i := 0; i < len(all); i++ {
		t := all[i]
		if t.number {
			p.number(t, w.steps(all, i-1) || w.steps(all, i+1))
			continue
		}
		p.words++
		word := w[strings.ToLower(t.text)]
		switch word.Role {
		case Strange:
			p.about = append(p.about, strings.ToLower(t.text))
			continue
		case Glue:
			p.glue = true
			continue
		case Order:
			if !w.steps(all, i+1) {
				p.nth = append(p.nth, word.Nth)
			}
		case Noun:
			p.noun = true
		case Earlier:
			p.earlier = true
		case Many:
			p.many = true
		case Step:
			p.earlier = true
		}
		p.known++
	}
	return p
}

// steps reports whether the word at i counts calls.
func (w Words) steps(all []token, i int) bool {
	return i >= 0 && i < len(all) && w[strings.ToLower(all[i].text)].Role == Step
}

func (p *phrase) number(t token, ofStep bool) {
	n, err := strconv.Atoi(t.text)
	switch {
	case ofStep:
		return
	case err != nil:
		p.many = true
	case t.counted || n == 0:
		p.index = true
		p.nth = append(p.nth, n+1)
	default:
		p.nth = append(p.nth, n)
	}
}

// tokens splits a text into words and numbers; firstResultUrl and RESULT_URL are several words.
func tokens(text string) (out []token) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		from := i
		switch {
		case isDigit(runes[i]):
			for i < len(runes) && isDigit(runes[i]) {
				i++
			}
			before, after := at(runes, from-1), at(runes, i)
			out = append(out, token{string(runes[from:i]), true, before == '[' && after == ']' ||
				before == '.' && (after == '.' || after == 0) || before == '/' && after == '/'})
		case unicode.IsLetter(runes[i]):
			for i++; i < len(runes) && unicode.IsLetter(runes[i]) && !hump(runes, i); i++ {
			}
			word := string(runes[from:i])
			// not of page's
			if one := word == "s" || word == "S"; !one || !strings.ContainsRune("'’", at(runes, from-1)) {
				out = append(out, token{text: word})
			}
		default:
			i++
		}
	}
	return out
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// hump reports whether a new word begins at i, as in firstResult and URLFrom.
func hump(r []rune, i int) bool {
	return unicode.IsUpper(r[i]) && (unicode.IsLower(r[i-1]) || unicode.IsLower(at(r, i+1)))
}

func at(r []rune, i int) rune {
	if i < 0 || i >= len(r) {
		return 0
	}
	return r[i]
}
