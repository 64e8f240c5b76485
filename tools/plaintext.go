package tools

import (
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/wording"
)

// decoded is the object that body is an encoding of, or body itself.
func (w *shaper) decoded(body string) string {
	object, ok := wording.Object(body)
	if !ok || object == body {
		return body
	}
	if end, whole := jsonrepair.End(object); whole && strings.TrimSpace(object[end:]) != "" {
		return body // a text with an object in it
	}
	w.note("args.decode", body, object, "")
	return object
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
	return plain, why
}

// labelled says of which parameter a text gives the name, and not just its value: "limit=5", "<path>a".
func (s *schema) labelled(text string) string {
	text = strings.TrimLeft(text, "<-")
	n := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
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
		if k.Param == param && r.about(k.Tool, tool) {
			return k
		}
	}
	return KindRule{Kind: wording.KindOf(param)}
}

// guess refuses a value that was guessed, unless the tool only reads: to ask again costs a
// turn, a command that nobody meant costs more.
func (w *shaper) guess(r reading) *Refusal {
	if w.harmless() || !r.unsure && r.cut != jsonrepair.Unquoted {
		return nil
	}
	return w.refuse(BadJSON, `it is not certain where a text in it begins or ends; send valid JSON, with \" and \\ inside of texts`)
}
