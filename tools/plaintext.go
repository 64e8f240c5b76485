package tools

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/notation"
	"github.com/jgavinray/gpt-oss-executor/tools/wording"
)

// body is text without the blanks around it, and without the content type that
// servers leave glued in front of an object: json{"path": "."}.
func (w *shaper) body(text string) string {
	body := strings.TrimSpace(text)
	if bare := notation.Bare(body); bare != body && holdsObject(bare) {
		w.note("args.tokens", body, bare, "")
		body = bare
	}
	for _, g := range w.rules.Glued {
		rest, ok := strings.CutPrefix(body, g.Text)
		if rest = strings.TrimSpace(rest); ok && g.Text != "" && strings.HasPrefix(rest, "{") {
			w.note("args.unglue", g.Text, "", g.Place)
			return rest
		}
	}
	return body
}

// holdsObject reports whether text begins and ends as an object does, or a code fence.
func holdsObject(text string) bool {
	return text != "" && strings.IndexByte("{`", text[0]) >= 0 &&
		strings.IndexByte("}`", text[len(text)-1]) >= 0
}

// decoded is the object that body is an encoding of, or body itself.
func (w *shaper) decoded(body string) string {
	object, ok := wording.Object(body)
	if !ok || object == body || w.remark(leading(body)) != "" {
		return body
	}
	if end, whole := jsonrepair.End(object); whole && strings.TrimSpace(object[end:]) != "" {
		return body // a text with an object in it
	}
	w.note("args.decode", body, object, "")
	return object
}

// leading is the word in front of a bracket that text begins with.
func leading(text string) string {
	n := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) && r != '_' })
	if n <= 0 || strings.IndexByte("([", text[n]) < 0 {
		return ""
	}
	return text[:n]
}

// wording returns text without the debris around it, and says why it cannot be what the
// parameter takes; why is empty where it can.
func (w *shaper) wording(param, text string) (plain, why string) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if w.open {
		return text, ""
	}
	rule := w.rules.kindOf(w.tool, param)
	if rule.Kind == wording.Text && w.rules.Class(w.tool) == Exec {
		rule.Kind = wording.Code // what is executed is no mere text
	}
	plain = rule.Kind.Clean(text)
	if plain != text {
		w.note("args.unglue", text, plain, rule.Place)
	}
	if why = rule.Kind.Doubt(plain); why == "" && w.schema != nil {
		why = w.schema.labelled(plain)
	}
	switch {
	case why != "":
	case notation.Begins(plain):
		why = "begins as markup does"
	case w.schema != nil && holdsMember(plain, param):
		why = "holds an object that names the argument"
	case notation.Wraps(plain):
		why = "puts an object into a function"
	case notation.Carried(plain) != plain:
		why = "holds what its transport left in it"
	case w.schema != nil && notation.Tagged(plain,
		func(name string) bool { return w.schema.props[name] != nil }):
		why = "holds a tag that names an argument"
	}
	return plain, why
}

// holdsMember reports whether an object stands in a text that begins with a member of this name, or
// with a token and it.
func holdsMember(text, name string) bool {
	const token = 16
	text = strings.ReplaceAll(text, `\`, "")
	for quoted := `"` + name + `"`; ; {
		before, rest, found := strings.Cut(text, quoted)
		if !found {
			return false
		}
		if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), ":") &&
			strings.Contains(before[max(0, len(before)-token):], "{") {
			return true
		}
		text = rest
	}
}

// labelled says of which parameter a text gives the name, and not just its value: "limit=5", "<path>a".
func (s *schema) labelled(text string) string {
	text = strings.TrimLeft(text, "<-")
	n := strings.IndexFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if n <= 0 || s.props[text[:n]] == nil {
		return ""
	}
	if rest := strings.TrimLeft(text[n:], " "); rest != "" && strings.IndexByte("=:>", rest[0]) >= 0 {
		return "gives the name of " + text[:n] + ", too"
	}
	return ""
}

// kindOf is what the rules say about a parameter; what they do not, its name does.
func (r *Rules) kindOf(tool, param string) KindRule {
	for _, k := range r.Kinds {
		if hasKey(k.Param, key(param)) && r.about(k.Tool, tool) {
			return k
		}
	}
	return KindRule{Kind: wording.KindOf(param)}
}

// guess refuses a value that was guessed, unless the tool only reads: to ask again costs a
// turn, a command that was not meant costs more.
func (w *shaper) guess(r reading) *Refusal {
	if r.unsure && w.swallows(r.object) {
		return w.refuse(BadJSON, "a text in it holds another argument")
	}
	if w.harmless() {
		return nil
	}
	if w.beats(r.object) {
		return w.refuse(BadJSON, "a text in it holds a line that a server sends to keep a stream open")
	}
	if !r.unsure && r.cut != jsonrepair.Unquoted {
		return nil
	}
	return w.refuse(BadJSON,
		`it is not certain where a text in it begins or ends; send valid JSON, with \" and \\ inside of texts`)
}

// beats reports whether a line by which a server keeps a stream open stands in a text whose line ends
// were not escaped: it may have come between, or be the text's own.
func (w *shaper) beats(object string) bool {
	raw := slices.ContainsFunc(w.repairs, func(r Repair) bool {
		return slices.Contains([]string{jsonrepair.KindEscape, "args.wrap", "args.signs", notation.Program},
			r.Kind)
	})
	return raw && slices.ContainsFunc(membersOf(object),
		func(m member) bool { return notation.Beats(gjson.Parse(m.val).String()) })
}

// swallows reports whether a text of object goes on with another argument: then it does not end
// where it seems to.
func (w *shaper) swallows(object string) bool {
	return w.schema != nil && slices.ContainsFunc(membersOf(object), func(m member) bool {
		text := gjson.Parse(m.val)
		return text.Type == gjson.String && (w.schema.labels(text.String(), m.name) ||
			holdsMember(text.String(), m.name))
	})
}

// labels reports whether text names a parameter, other than one, and gives it a value: limit=5,
// "limit": 5.
func (s *schema) labels(text, but string) bool {
	for i := 0; i < len(text); {
		n := strings.IndexFunc(text[i:], func(r rune) bool { return !isWordRune(r) && r != '_' && r != '-' })
		if n < 0 {
			return false
		}
		if word := text[i : i+n]; word != but && s.props[word] != nil {
			rest := strings.TrimLeft(text[i+n:], `"' `)
			if strings.HasPrefix(rest, "：") || rest != "" && strings.IndexByte(":=", rest[0]) >= 0 &&
				!strings.HasPrefix(rest, "://") && !strings.HasPrefix(rest, "==") {
				return true
			}
		}
		_, size := utf8.DecodeRuneInString(text[i+n:])
		i += n + size
	}
	return false
}

// fencesCode says that a code fence at the start of text names a language that is not JSON.
func fencesCode(text string) bool {
	info, _, lines := strings.Cut(strings.TrimLeft(text, "`"), "\n")
	info = strings.ToLower(strings.TrimSpace(info))
	return lines && info != "" && !strings.HasPrefix(info, "json")
}
