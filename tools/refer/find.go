package refer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Result is the result of one earlier call.
type Result struct {
	Text   string
	Ranked bool     // a list with the best first
	Names  []string // named by the call itself
}

// Candidate is a possible referent.
type Candidate struct{ Text, Title string }

// Found are the possible referents, in order.
type Found struct {
	All    []Candidate
	Ranked bool // the best is the first
}

// Find returns what an argument of a kind may refer to: from the last list, else from the last result
// with something of that kind.
func Find(kind Kind, earlier []Result) (out Found) {
	for i := len(earlier) - 1; i >= 0; i-- {
		e := &earlier[i]
		if !e.Ranked && len(out.All) > 0 {
			continue
		}
		if all := e.find(kind); len(all) > 0 {
			if out = (Found{all, e.Ranked}); e.Ranked {
				break
			}
		}
	}
	return out
}

func (e *Result) find(kind Kind) (out []Candidate) {
	var named []Candidate
	for _, name := range e.Names {
		if scheme.MatchString(name) == (kind == URL) {
			named = add(named, Candidate{Text: name})
		}
	}
	if kind == Path {
		for _, c := range findFiles(e.Text) {
			named = add(named, c)
		}
		return named
	}
	if out = findURLs(e.Text); len(out) == 0 {
		return named
	}
	return out
}

// Choose returns the referent. With first, it is the best of a list if nothing else decides.
func (r *Ref) Choose(f Found, first bool) (string, bool) {
	switch {
	case r.Exact != "":
		return r.Exact, true
	case r.Vague:
		return "", false
	}
	var fit []Candidate
	for _, c := range f.All {
		text := strings.ToLower(c.Text + " " + c.Title)
		if strings.HasPrefix(c.Text, r.Start) && !slices.ContainsFunc(r.About,
			func(word string) bool { return !strings.Contains(text, word) }) {
			fit = append(fit, c)
		}
	}
	switch {
	case r.Nth > 0 && r.Nth <= len(fit) && (f.Ranked || len(f.All) == 1):
		return fit[r.Nth-1].Text, true
	case r.Nth == 0 && len(fit) == 1,
		r.Nth == 0 && len(fit) > 0 && first && f.Ranked && len(r.About) == 0 && r.Start == "":
		return fit[0].Text, true
	}
	return "", false
}

var (
	url      = regexp.MustCompile("https?://[^\\s<>\"'`|\\\\^{}\\[\\]]+")
	picture  = regexp.MustCompile(`!\[[^\]\n]*\]\([^)\s]*\)`)
	wholeURL = []string{"url", "link", "href", "uri", "source"}
	titles   = []string{"title", "name", "heading"}
	pathKeys = []string{"path", "file", "filename", "file_path"}
)

// findURLs returns the distinct URLs of a text. In JSON, each object of a list counts as one.
func findURLs(text string) (out []Candidate) {
	if doc := strings.TrimSpace(text); strings.HasPrefix(doc, "{") || strings.HasPrefix(doc, "[") {
		if gjson.Valid(doc) {
			out = members(gjson.Parse(doc), wholeURL, func(v string) bool { return scheme.MatchString(v) },
				maxDeep, nil)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, found := range url.FindAllString(picture.ReplaceAllString(text, " "), -1) {
		out = add(out, Candidate{Text: trimmed(found)})
	}
	return out
}

// trimmed returns a URL without the end of the sentence around it.
func trimmed(v string) string {
	for spare := strings.Count(v, ")") - strings.Count(v, "("); ; {
		short := strings.TrimRight(v, ".,;:!?*_…")
		if strings.HasSuffix(short, ")") && spare > 0 {
			short, spare = short[:len(short)-1], spare-1
		}
		if short == v {
			return v
		}
		v = short
	}
}

// maxDeep bounds the nesting in which names are searched: a page may consist of brackets.
const maxDeep = 32

// members returns the values of these keys, one for each object.
func members(v gjson.Result, keys []string, is func(string) bool, deep int, out []Candidate) []Candidate {
	if deep == 0 {
		return out
	}
	if v.IsObject() {
		for _, key := range keys {
			if got := v.Get(gjson.Escape(key)); got.Type == gjson.String && is(got.Str) {
				c := Candidate{Text: got.Str}
				for _, t := range titles {
					if c.Title == "" {
						c.Title = v.Get(gjson.Escape(t)).Str
					}
				}
				return add(out, c)
			}
		}
	}
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, each gjson.Result) bool { out = members(each, keys, is, deep-1, out); return true })
	}
	return out
}

var (
	file = regexp.MustCompile(`(?:~|\.{1,2})?/?[\pL\d_@+-][\pL\d_.@+-]*(?:/[\pL\d_.@+-]+)*/?`)
	end  = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,7}$`)
)

// findFiles returns the distinct files that a text names. If lines are only names, as in a list of
// files, only those count.
func findFiles(text string) (out []Candidate) {
	if doc := strings.TrimSpace(text); strings.HasPrefix(doc, "{") || strings.HasPrefix(doc, "[") {
		if gjson.Valid(doc) {
			if out = members(gjson.Parse(doc), pathKeys, isFile, maxDeep, nil); len(out) > 0 {
				return out
			}
		}
	}
	text = url.ReplaceAllString(text, " ")
	var lines []Candidate
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, name := range file.FindAllString(line, -1) {
			if name = strings.TrimRight(name, "."); !isFile(name) {
				continue
			}
			out = add(out, Candidate{Text: name})
			if name == line {
				lines = add(lines, Candidate{Text: name})
			}
		}
	}
	if len(lines) > 0 {
		return lines
	}
	return out
}

// isFile reports whether a word looks like a file name.
func isFile(name string) bool {
	return !strings.Contains(name, "://") && (end.MatchString(name) ||
		strings.Contains(strings.Trim(name, "/"), "/")) &&
		strings.ContainsFunc(name, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}

// maxFound bounds the candidates of one result.
const maxFound = 200

func add(all []Candidate, c Candidate) []Candidate {
	if len(all) >= maxFound || slices.ContainsFunc(all, func(o Candidate) bool { return o.Text == c.Text }) {
		return all
	}
	return append(all, c)
}
