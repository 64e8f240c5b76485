package args

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// syntaxOps are mistakes in JSON syntax, a row for each kind of change in package jsonrepair, which
// repairs them together.
func syntaxOps() []Op {
	row := func(id, about string, damage func(*rand.Rand, string) (string, bool)) Op {
		return Op{ID: id, About: about, Damage: damage, Undo: mended(id), Cost: repair, Keeps: true}
	}
	streamed := func(o Op) Op { o.Stream = true; return o }
	worded := func(o Op) Op { o.Words = true; return o }
	unsure := func(o Op) Op { o.Keeps = false; return o }
	return []Op{
		row(jsonrepair.KindQuote, "quotes of another kind, or keys without any", quotes),
		row(jsonrepair.KindEscape, "line ends and tabs as they are, and escapes that JSON does not know",
			written(func(r *rand.Rand, text string) string {
				if r.IntN(2) == 0 {
					return strings.ReplaceAll(text, "'", `\'`)
				}
				return strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\t`, "\t").Replace(text)
			})),
		row(jsonrepair.KindComma, "commas too many, or none", func(r *rand.Rand, text string) (string, bool) {
			if r.IntN(3) == 0 {
				return strings.TrimSuffix(text, "}") + ",}", strings.Count(text, ":") > 0
			}
			return layout{"{", ": ", pick(r, "\n", ",, "), "}", nil, nil}.write(text)
		}),
		row(jsonrepair.KindColon, "another sign in place of the colon", func(r *rand.Rand,
			text string) (string, bool) {
			return layout{"{", pick(r, "=", " => ", " = "), ", ", "}", nil, nil}.write(text)
		}),
		row(jsonrepair.KindCloser, "a bracket or brace too many, or too few", func(r *rand.Rand,
			text string) (string, bool) {
			return strings.TrimSuffix(text, "}") + pick(r, "", "}}", "]"), gjson.Get(text, "@this").IsObject()
		}),
		row(jsonrepair.KindLiteral, "truths and null as other languages have them",
			valued(func(r *rand.Rand, v gjson.Result) string {
				switch v.Type {
				case gjson.True:
					return pick(r, "True", "TRUE")
				case gjson.False:
					return pick(r, "False", "FALSE")
				case gjson.Null:
					return pick(r, "None", "nil")
				}
				return v.Raw
			})),
		row(jsonrepair.KindNumber, "numbers as programs write them, and one that lacks a digit",
			valued(func(r *rand.Rand, v gjson.Result) string {
				if n := v.Int(); v.Type == gjson.Number && v.Raw == fmt.Sprint(n) && n >= 0 {
					return fmt.Sprintf(pick(r, "%#x", "%O"), n)
				}
				return v.Raw
			})),
		row(jsonrepair.KindValue, "no value", nil),
		unsure(row(jsonrepair.KindConcat, "texts in several parts", valued(func(r *rand.Rand,
			v gjson.Result) string {
			all := []rune(v.String())
			if v.Type != gjson.String || len(all) < 2 || strings.ContainsAny(v.Raw, `\'`) {
				return v.Raw
			}
			at := 1 + r.IntN(len(all)-1)
			return jsontext.Quote(string(all[:at])) + " + " + jsontext.Quote(string(all[at:]))
		}))),
		row(jsonrepair.KindComment, "a comment", func(r *rand.Rand, text string) (string, bool) {
			note := pick(r, "// arguments\n", "/* arguments */", "# the arguments\n")
			if r.IntN(2) == 0 {
				return "{ " + text[1:len(text)-1] + " " + note + "}", true
			}
			return "{ " + note + text[1:], true
		}),
		unsure(row(jsonrepair.KindEllipsis, "dots in place of members", nil)),
		row(jsonrepair.KindSpace, "blanks that JSON does not know", func(r *rand.Rand, text string) (string,
			bool) {
			return layout{"{", ":" + pick(r, "\u00a0", "\u200b", "\u3000"), ", ", "}", nil, nil}.write(text)
		}),
		row(jsonrepair.KindFence, "a code fence", between([2]string{"```\n", "\n```"},
			[2]string{"```json\n", ""})),
		worded(row(jsonrepair.KindWrapper, "a call around the object", between([2]string{"callback(", ")"}))),
		worded(row(jsonrepair.KindProse, "words around the object", between([2]string{"",
			"\n\nThis should work."}))),
		streamed(row(jsonrepair.KindRepeat,
			"beginnings of the object before it: its stream was taken up again",
			func(r *rand.Rand, text string) (string, bool) {
				return text[:1+r.IntN(max(len(text)-1, 1))] + text, len(text) > 2
			})),
		row(jsonrepair.KindSequence, "several values", nil),
	}
}

// mended repairs the syntax of a text whose first mistake is of one kind, if the table has all of them.
func mended(kind string) func(*Text) []Reading {
	return func(x *Text) []Reading {
		fixed, err := x.repaired()
		if err != nil || len(fixed.Changes) == 0 || fixed.Changes[0].Kind != kind {
			return nil
		}
		r := Reading{Text: string(fixed.JSON), Cut: fixed.Cut, Around: fixed.Around,
			MadeUp: fixed.Has(jsonrepair.KindValue)}
		for _, c := range fixed.Changes {
			if !x.table.has(c.Kind) {
				return nil
			}
			r.Steps = append(r.Steps, Step{c.Kind, c.From, c.To, c.At})
		}
		if r.Text[0] == '{' && r.MadeUp {
			r.Text = withValues(r.Text)
		}
		r.Unsure = x.Unsure(fixed, r.Text)
		switch {
		case x.isWords(fixed) && x.reads:
			r.cost = words - repair
		case x.isWords(fixed) && r.Text[0] != '{' && r.Text[0] != '[':
			return nil
		case x.isWords(fixed):
			r.cost = lone - repair
		case r.Unsure:
			r.cost = guess - repair
		}
		return []Reading{r}
	}
}

// isWords reports whether a text, such as a script, happens to contain JSON, rather than being damaged
// JSON.
func (x *Text) isWords(found jsonrepair.Result) bool {
	text := x.string
	switch found.JSON[0] {
	case '{':
		if found.Only(jsonrepair.KindComment, jsonrepair.KindWrapper) {
			return false
		}
		return strings.IndexByte("{[\"`", text[0]) < 0 || text[0] == '`' && fencesCode(text)
	case '[':
		list := gjson.ParseBytes(found.JSON)
		return list.Get("#").Int() != 1 || !list.Get("0").IsObject()
	case '"':
		return !strings.ContainsAny(text[:1], "\"'`\\") || strings.Count(text, `"`)%2 == 0 &&
			!strings.HasPrefix(text, `"{`)
	}
	return true
}

// fencesCode reports whether a code fence at the start names a language other than JSON.
func fencesCode(text string) bool {
	info, _, lines := strings.Cut(strings.TrimLeft(text, "`"), "\n")
	info = strings.ToLower(strings.TrimSpace(info))
	return lines && info != "" && !strings.HasPrefix(info, "json")
}

// withValues removes members with neither a name nor a value.
func withValues(object string) string {
	var kept []string
	gjson.Parse(object).ForEach(func(k, v gjson.Result) bool {
		if k.String() != "" || v.Type != gjson.Null {
			kept = append(kept, k.Raw+":"+v.Raw)
		}
		return true
	})
	return "{" + strings.Join(kept, ",") + "}"
}

// layout is a way to write an object: its signs, and other keys and values than in JSON.
type layout struct {
	open, colon, comma, shut string
	key, value               func(v gjson.Result) string
}

// write rewrites an object; false if text is none, or has no member.
func (l layout) write(text string) (string, bool) {
	if members(text) == 0 {
		return "", false
	}
	var b strings.Builder
	put := func(v gjson.Result, form func(gjson.Result) string, end string) {
		raw := v.Raw
		if form != nil {
			raw = form(v)
		}
		b.WriteString(raw + end)
	}
	sign := l.open
	gjson.Parse(text).ForEach(func(k, v gjson.Result) bool {
		b.WriteString(sign)
		put(k, l.key, l.colon)
		put(v, l.value, "")
		sign = l.comma
		return true
	})
	return b.String() + l.shut, true
}

// as returns the damage that writes objects in this layout.
func (l layout) as(_ *rand.Rand, text string) (string, bool) { return l.write(text) }

// plain returns a key or a value without quotes.
func plain(v gjson.Result) string { return v.String() }

// members counts the members of an object.
func members(object string) (n int) {
	if !valid(object, jsontext.MaxDepth) {
		return 0
	}
	gjson.Parse(object).ForEach(func(_, _ gjson.Result) bool { n++; return true })
	return n
}

// valued returns a damage of the values of an object.
func valued(damage func(r *rand.Rand, v gjson.Result) string) func(*rand.Rand, string) (string, bool) {
	return func(r *rand.Rand, text string) (string, bool) {
		changed := false
		after, ok := layout{"{", ":", ", ", "}", nil, func(v gjson.Result) string {
			out := damage(r, v)
			changed = changed || out != v.Raw
			return out
		}}.write(text)
		return after, ok && changed
	}
}

// quotes writes an object with other quotes, unless its texts contain them.
func quotes(r *rand.Rand, text string) (string, bool) {
	marks := pick(r, [2]string{}, [2]string{"'", "'"}, [2]string{"“", "”"})
	if marks[0] == "" {
		return layout{"{", ": ", ", ", "}", plain, nil}.write(text)
	}
	quoted := func(v gjson.Result) string {
		if v.Type != gjson.String {
			return v.Raw
		}
		return marks[0] + v.String() + marks[1]
	}
	out, ok := layout{"{", ": ", ", ", "}", quoted, quoted}.write(text)
	return out, ok && !holds(text, "'“”`\"\\\n\t")
}

// flat reports whether no value of an object has members.
func flat(object string) bool {
	ok := true
	gjson.Parse(object).ForEach(func(_, v gjson.Result) bool {
		ok = !v.IsObject() && !v.IsArray()
		return ok
	})
	return ok
}

// holds reports whether a text of an object contains one of some signs.
func holds(object, signs string) (found bool) {
	gjson.Parse(object).ForEach(func(k, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			found = found || strings.ContainsAny(strings.ReplaceAll(v.Raw, `"`, ""), signs)
		}
		found = found || v.Type == gjson.String && strings.ContainsAny(v.String(), signs)
		return !found
	})
	return found
}
