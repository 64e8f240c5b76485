package tools

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// cleanText returns text without the debris around it, and why the parameter cannot take it, or "".
func (w *shaper) cleanText(param, text string) (plain, why string) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if w.open {
		return text, ""
	}
	rule := w.rules.kindOf(w.tool, param)
	if rule.Kind == Text && w.rules.Class(w.tool) == Exec {
		rule.Kind = Code // executed text is code
	}
	plain = rule.Kind.Clean(text)
	if plain != text {
		w.note("args.unglue", text, plain, rule.Place)
	}
	if why = rule.Kind.Doubt(plain); why == "" && w.schema != nil {
		why = w.labelFault(plain)
	}
	switch {
	case why != "":
	case args.Begins(plain):
		why = "begins as markup does"
	case w.schema != nil && holdsMember(plain, param):
		why = "holds an object that names the argument"
	case args.MakesObject(plain):
		why = "makes an object"
	case args.Carried(plain) != plain:
		why = "holds what its transport left in it"
	}
	return plain, why
}

// holdsMember reports whether text contains an object that begins with name in quotes, maybe behind a
// token.
func holdsMember(text, name string) bool {
	const token = 16
	text = strings.ReplaceAll(text, `\`, "")
	for name != "" {
		before, rest, found := strings.Cut(text, name)
		if !found {
			break
		}
		quoted := strings.TrimRight(before, "\"'") != before && strings.TrimLeft(rest, "\"'") != rest
		if quoted && strings.Contains(before[max(0, len(before)-token):], "{") {
			return true
		}
		text = rest
	}
	return false
}

// kindOf returns the kind of a parameter by the rules, else by its name.
func (r *Rules) kindOf(tool, param string) KindRule {
	for _, k := range r.Kinds {
		if hasKey(k.Param, key(param)) && r.about(k.Tool, tool) {
			return k
		}
	}
	return KindRule{Kind: TextKindOf(param)}
}

// refuseGuess refuses a guessed value unless the tool reads: asking again costs a turn, an unintended
// command costs more.
func (w *shaper) refuseGuess(r args.Reading) *Refusal {
	if r.Unsure && w.holdsArgument(r.Text) {
		return w.refuse(BadJSON, "a text in it holds another argument")
	}
	if w.harmless() {
		return nil
	}
	if w.holdsKeepAlive(r.Text) {
		return w.refuse(BadJSON, "a text in it holds a line that a server sends to keep a stream open")
	}
	if !r.Unsure && r.Cut != jsonrepair.Unquoted {
		return nil
	}
	return w.refuse(BadJSON,
		`it is not certain where a text in it begins or ends; send valid JSON, with \" and \\ inside of texts`)
}

// holdsKeepAlive reports whether a text with unescaped line ends contains a line by which a server keeps
// a stream open: it may have come between, or be the text's own.
func (w *shaper) holdsKeepAlive(object string) bool {
	raw := slices.ContainsFunc(w.repairs, func(r Repair) bool {
		return slices.Contains([]string{jsonrepair.KindEscape, "args.wrap", "args.signs", "args.literal",
			"args.keywords"},
			r.Kind)
	})
	return raw && slices.ContainsFunc(membersOf(object),
		func(m member) bool { return args.Beats(gjson.Parse(m.val).String()) })
}

// holdsArgument reports whether a text of object continues with another argument: its end is then
// uncertain.
func (w *shaper) holdsArgument(object string) bool {
	return w.schema != nil && slices.ContainsFunc(membersOf(object), func(m member) bool {
		text := gjson.Parse(m.val)
		return text.Type == gjson.String && (w.schema.labelsParam(text.String(), m.name) ||
			holdsMember(text.String(), m.name))
	})
}

// labelsParam reports whether text gives a value to a parameter other than but: limit=5, "limit": 5.
func (s *schema) labelsParam(text, but string) bool {
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

// labelFault returns why a text begins with the name of a parameter: "limit=5", "<path>a".
func (w *shaper) labelFault(text string) string {
	text = strings.TrimLeft(text, "<-")
	n := strings.IndexFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if n <= 0 || !w.known(w.paramOf(text[:n])) {
		return ""
	}
	if rest := strings.TrimLeft(text[n:], " "); rest != "" && strings.IndexByte("=:>", rest[0]) >= 0 {
		return "gives the name of " + text[:n] + ", too"
	}
	return ""
}
