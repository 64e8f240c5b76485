// Package refer finds arguments that stand for something which was said earlier, such as "the
// top result" or <output file>, and what they may mean. It knows no tool and no rule.
package refer

import (
	"regexp"
	"slices"
	"strings"
)

// Kind is what an argument should be.
type Kind string

// The kinds.
const (
	URL  Kind = "url"
	Path Kind = "path"
)

// Ref is an argument that stands for something else.
type Ref struct {
	Exact string   // it holds what it means, with something around it
	Nth   int      // the first is 1; 0: it does not say
	About []string // words that the meant one must have, in lower case
	Start string   // how the meant one begins
	Vague bool     // it cannot be told which one is meant
}

var (
	scheme   = regexp.MustCompile(`^(?i)https?://`)
	other    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:\S`)
	blank    = regexp.MustCompile(`<\s*[\pL_][^<>/\n]*>|\{\{[^{}\n]+\}\}|\$\{[^{}\n]+\}|%%[A-Za-z_]+%%`)
	brace    = regexp.MustCompile(`\{[\pL_ ]+\}|\[[\pL_ ]+\]`)
	elided   = regexp.MustCompile(`(?:^|/)(?:\.\.\.|…)(?:/|$)|(?:\.\.\.|…)$`)
	hostlike = regexp.MustCompile(`^(?i)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.([a-z]{2,}|xn--[a-z0-9-]+)(?::\d+)?(?:[/?#]\S*)?$`)
)

// fields are last parts of names with dots that no host ends in.
var fields = []string{"url", "uri", "href", "path", "file", "result", "results", "output"}

// Read says what an argument of a kind stands for. It is false for one that says itself what
// is meant.
func (w Words) Read(value string, kind Kind) (Ref, bool) {
	v := strings.TrimSpace(value)
	if v == "" {
		return Ref{}, false
	}
	if kind == URL {
		return w.url(v)
	}
	return w.path(v)
}

func (w Words) url(v string) (Ref, bool) {
	inner, wrapped := unwrap(v)
	start := scheme.FindString(v)
	spaced := strings.ContainsAny(inner, " \t\n")
	switch {
	case start != "":
		rest := v[len(start):]
		switch cut, _ := cutElided(v); {
		case blank.MatchString(rest), brace.MatchString(rest):
			return Ref{Vague: true}, true
		case cut != "":
			return Ref{Start: cut}, true
		}
		host := rest
		if i := strings.IndexAny(rest, "/?#:"); i >= 0 {
			host = rest[:i]
		}
		s := w.say(host)
		return s.ref(), !strings.ContainsAny(host, ".@") && s.known > 0 && len(s.about) == 0
	case wrapped || spaced || strings.HasPrefix(v, "["):
		if urls := findURLs(v); len(urls) == 1 && !blank.MatchString(urls[0].Text) &&
			!elided.MatchString(urls[0].Text) {
			return Ref{Exact: urls[0].Text}, true
		}
		return w.say(inner).ref(), true
	case elided.MatchString(v):
		cut, _ := cutElided(v)
		return Ref{Start: cut}, true
	case blank.MatchString(v):
		return Ref{Vague: true}, true
	case other.MatchString(v), strings.HasPrefix(v, "/"), isHost(v):
		return Ref{}, false
	}
	s := w.say(v)
	return s.ref(), s.known > 0 && len(s.about) == 0
}

func (w Words) path(v string) (Ref, bool) {
	inner, wrapped := unwrap(v)
	s := w.say(inner)
	plain := s.known > 0 && len(s.about) == 0
	cut, elided := cutElided(v)
	switch {
	case strings.HasPrefix(v, "./"):
		return Ref{}, false // a model that means a file of such a name writes it so
	case strings.HasPrefix(v, "<") && wrapped && s.words > 0:
		return s.ref(), true
	case wrapped && plain:
		return s.ref(), true
	case elided:
		return Ref{Start: cut}, true
	case holds(v, func(part string) bool {
		p := w.say(part)
		return part[0] == '<' || p.known > 0 && len(p.about) == 0
	}):
		return Ref{Vague: true}, true
	case strings.ContainsAny(v, `/\`) || !plain || s.words < 2:
		return Ref{}, false
	}
	shouts := strings.ToUpper(v) == v && strings.ContainsAny(v, "_ ")
	return s.ref(), s.noun && (shouts || s.index || strings.Contains(v, " ") && (s.earlier || s.glue))
}

// holds reports whether a part of v is left to be filled in.
func holds(v string, is func(part string) bool) bool {
	return slices.ContainsFunc(blank.FindAllString(v, -1), is)
}

// cutElided is what stands before the dots of a value that was not written out.
func cutElided(v string) (before string, yes bool) {
	at := elided.FindStringIndex(v)
	if at == nil {
		return "", false
	}
	if at[1] < len(v) {
		return v, true // in the middle: it begins like nothing that there is
	}
	return strings.TrimRight(v, ".…"), true
}

// isHost reports whether v can be an address without its scheme.
func isHost(v string) bool {
	m := hostlike.FindStringSubmatch(v)
	return m != nil && !slices.Contains(fields, strings.ToLower(m[1]))
}

// wrappers stand around a word that is to be replaced.
var wrappers = [][2]string{
	{"{{", "}}"}, {"${", "}"}, {"[[", "]]"}, {"<<", ">>"}, {"<", ">"}, {"{", "}"}, {"[", "]"}, {"(", ")"}, {"%%", "%%"}, {"%", "%"}, {"__", "__"}, {"«", "»"},
	{"***", "***"}, {"**", "**"}, {"*", "*"},
}

// unwrap takes off what stands around a whole value. Quotes alone say nothing.
func unwrap(v string) (inner string, wrapped bool) {
	for {
		before := v
		for _, q := range []string{`"`, "'", "`", "“", "”"} {
			v = strings.Trim(v, q)
		}
		for _, w := range wrappers {
			if len(v) > len(w[0])+len(w[1]) && strings.HasPrefix(v, w[0]) && strings.HasSuffix(v, w[1]) {
				v, wrapped = strings.TrimSpace(v[len(w[0]):len(v)-len(w[1])]), true
				break
			}
		}
		if v == before {
			return v, wrapped
		}
	}
}

// AddScheme gives an address that lacks it https://. It is false where v is none: a name with
// one of these endings is a file.
func AddScheme(v string, files []string) (string, bool) {
	v = strings.TrimSpace(v)
	if rest, ok := strings.CutPrefix(v, "//"); ok && isHost(rest) {
		return "https://" + rest, true
	}
	m := hostlike.FindStringSubmatch(v)
	if m == nil || !isHost(v) || strings.HasSuffix(v, m[1]) &&
		slices.Contains(files, strings.ToLower(m[1])) && !strings.ContainsAny(v, "/?#") {
		return v, false
	}
	return "https://" + v, true
}
