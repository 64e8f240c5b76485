// Package refer finds arguments that refer to something earlier, such as "the top result" or <output
// file>, and what they may refer to. It knows no tools and no rules.
package refer

import (
	"regexp"
	"slices"
	"strings"
)

// Kind is the kind of an argument.
type Kind string

// The kinds.
const (
	URL  Kind = "url"
	Path Kind = "path"
)

// Ref is an argument that refers to something else.
type Ref struct {
	Exact string   // the value itself, without the text around it
	Nth   int      // from 1; 0: unspecified
	About []string // words of the referent, in lower case
	Start string   // its beginning
	Vague bool     // the referent is unclear
}

var (
	scheme   = regexp.MustCompile(`^(?i)https?://`)
	other    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:\S`)
	blank    = regexp.MustCompile(`<\s*[\pL_][^<>/\n]*>|\{\{[^{}\n]+\}\}|\$\{[^{}\n]+\}|%%[A-Za-z_]+%%`)
	brace    = regexp.MustCompile(`\{[\pL_ ]+\}|\[[\pL_ ]+\]`)
	elided   = regexp.MustCompile(`(?:^|/)(?:\.\.\.|…)(?:/|$)|(?:\.\.\.|…)$`)
	hostlike = regexp.MustCompile(`^(?i)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.([a-z]{2,}|xn--[a-z0-9-]+)(?::\d+)?(?:[/?#]\S*)?$`)
)

// fields are last parts of dotted names that no host has.
var fields = []string{"url", "uri", "href", "path", "file", "result", "results", "output"}

// Read returns what an argument of a kind refers to; false if it is a value itself.
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
		return Ref{}, false // a real file of such a name is written so
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

// holds reports whether v has a part to be filled in.
func holds(v string, is func(part string) bool) bool {
	return slices.ContainsFunc(blank.FindAllString(v, -1), is)
}

// cutElided returns the text before the dots of an abbreviated value.
func cutElided(v string) (before string, yes bool) {
	at := elided.FindStringIndex(v)
	if at == nil {
		return "", false
	}
	if at[1] < len(v) {
		return v, true // in the middle: no beginning is known
	}
	return strings.TrimRight(v, ".…"), true
}

// isHost reports whether v can be an address without its scheme.
func isHost(v string) bool {
	m := hostlike.FindStringSubmatch(v)
	return m != nil && !slices.Contains(fields, strings.ToLower(m[1]))
}

// wrappers surround a word to be replaced.
var wrappers = [][2]string{
	{"{{", "}}"}, {"${", "}"}, {"[[", "]]"}, {"<<", ">>"}, {"<", ">"}, {"{", "}"}, {"[", "]"}, {"(", ")"}, {"%%", "%%"}, {"%", "%"}, {"__", "__"}, {"«", "»"},
	{"***", "***"}, {"**", "**"}, {"*", "*"},
}

// unwrap removes what surrounds a whole value. Quotes alone mean nothing.
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

// AddScheme adds https:// to an address without a scheme; false if v is none: a name with one of these
// endings is a file.
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
