package noise

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Frame is how the models of a family write a call: the literals and templates of its strategy, as in
// rules/families.
type Frame struct {
	Model          string // a name that belongs to the family
	Open, Close    string
	Call, Argument string // templates
	Quote          string // in place of the quotes of JSON
}

// part is a piece of a call in a frame, by its role: the slot that it fills, or one of the roles below.
type part struct{ role, text string }

// The roles of literals.
const (
	opening = "open"
	closing = "close"
	literal = "literal"
	ending  = "end" // closes a value
)

// Writable reports whether the noise can write calls in the frame.
func (f *Frame) Writable() bool {
	return !strings.Contains(f.Open+f.Call, "{tool}") && !strings.Contains(f.Call, "{tags}") &&
		!strings.Contains(f.Call, "{pairs}")
}

// marks returns the literals around a call that no text holds.
func (f *Frame) marks() (list []string) {
	for _, mark := range []string{strings.TrimSpace(f.Open), strings.TrimSpace(f.Close)} {
		if strings.ContainsAny(mark[:min(1, len(mark))], "<[") && len(mark) > 1 {
			list = append(list, mark)
		}
	}
	return list
}

// parts returns a call in pieces.
func (f *Frame) parts(m *message) (parts []part) {
	if !strings.HasPrefix(f.Call, f.Open) {
		parts = append(parts, part{opening, f.Open})
	}
	for role, text := range slotsOf(f.Call) {
		switch role {
		case literal:
			parts = append(parts, part{role, text})
		case "name":
			parts = append(parts, part{role, m.name})
		case "any": // an index, or the recipient
			text := "0"
			if strings.HasPrefix(f.Call, "to=") && len(parts) == 1 {
				text = m.name
			}
			parts = append(parts, part{role, text})
		case "object":
			object := `{"name": ` + quote(m.name) + `, "arguments": ` + m.body + "}"
			parts = append(parts, part{role, object})
		case "code":
			var args []string
			for _, a := range m.fields {
				args = append(args, a.key+"="+code(a.value))
			}
			parts = append(parts, part{role, "[" + m.name + "(" + strings.Join(args, ", ") + ")]"})
		case "arguments":
			parts = append(parts, f.arguments(m)...)
		}
	}
	if f.Close != "" {
		parts = append(parts, part{closing, f.Close})
	}
	return parts
}

// Text returns a call as the models of the family write it. Arguments are a JSON object.
func (f *Frame) Text(name, arguments string) string {
	m := message{name: name, body: arguments}
	gjson.Parse(arguments).ForEach(func(key, value gjson.Result) bool {
		var v any = raw(value.Raw)
		if !value.IsObject() && !value.IsArray() && value.Type != gjson.Number {
			v = value.Value()
		}
		m.fields = append(m.fields, field{key.Str, v})
		return true
	})
	var text strings.Builder
	for _, p := range f.parts(&m) {
		text.WriteString(p.text)
	}
	return text.String()
}

// slot matches a slot of a template.
var slot = regexp.MustCompile(`\{(?:name|arguments|key|value|type|any|object|tags|code|pairs)\}`)

// slotsOf yields the slots and literals of a template.
func slotsOf(template string) iter.Seq2[string, string] {
	return func(yield func(role, text string) bool) {
		from := 0
		for _, at := range slot.FindAllStringIndex(template, -1) {
			if from < at[0] && !yield(literal, template[from:at[0]]) {
				return
			}
			if !yield(template[at[0]+1:at[1]-1], "") {
				return
			}
			from = at[1]
		}
		if from < len(template) {
			yield(literal, template[from:])
		}
	}
}

// arguments writes them as JSON, or one by one.
func (f *Frame) arguments(m *message) (parts []part) {
	switch {
	case f.Quote != "":
		var args []string
		for _, a := range m.fields {
			text, is := a.value.(string)
			if is {
				text = f.Quote + text + f.Quote
			} else {
				text = quote(a.value)
			}
			args = append(args, a.key+":"+text)
		}
		return []part{{"quoted", "{" + strings.Join(args, ",") + "}"}}
	case f.Argument == "":
		return []part{{"arguments", m.body}}
	}
	for _, a := range m.fields {
		text, is := a.value.(string)
		if !is {
			text = quote(a.value)
		}
		ends := false // what closes the value
		for role, lit := range slotsOf(f.Argument) {
			switch role {
			case "key":
				lit = a.key
			case "value":
				lit = text
			case "type":
				lit = fmt.Sprint(is)
			}
			if ends {
				role = ending
			}
			parts, ends = append(parts, part{role, lit}), ends || role == "value"
		}
	}
	return parts
}

// code writes a value as Python does.
func code(v any) string {
	switch v {
	case true:
		return "True"
	case false:
		return "False"
	}
	return quote(v)
}

// framePrefix begins the ids of damages of frames.
const framePrefix = "frame."

// framed is a damage of a frame: do returns the parts that remain, and whether the call is still owed.
func framed(id, about string, server bool,
	do func(d *draft, parts []part) (rest []part, owed bool)) Operator {
	return Operator{ID: framePrefix + id, About: about, Server: server, do: func(d *draft) {
		d.frames = append(d.frames, func(m *message, parts []part) []part {
			rest, owed := do(d, slices.Clone(parts))
			if !owed && !slices.Equal(rest, parts) {
				d.lower(m.call, May)
			}
			return rest
		})
	}}
}

// FrameOps returns every kind of damage of frames.
func FrameOps() []Operator {
	// at applies a damage to the last part of a role
	at := func(role string, do func(parts []part, i int) []part) func(*draft, []part) ([]part, bool) {
		return func(_ *draft, parts []part) ([]part, bool) {
			for i := len(parts) - 1; i >= 0; i-- {
				if parts[i].role == role {
					return do(parts, i), true
				}
			}
			return parts, true
		}
	}
	twice := func(parts []part, i int) []part {
		if parts[i].text == "```" { // it opens a code fence
			return parts
		}
		return slices.Insert(parts, i, parts[i])
	}
	write := func(text func(s string) string) func([]part, int) []part {
		return func(parts []part, i int) []part {
			parts[i].text = text(parts[i].text)
			return parts
		}
	}
	// behindName applies one to the literal between the name and the arguments
	behindName := func(text func(s string) string) func(*draft, []part) ([]part, bool) {
		return at("name", func(parts []part, i int) []part {
			if i+2 < len(parts) && parts[i+1].role == literal && strings.TrimSpace(parts[i+1].text) != "" &&
				parts[i+2].role != "any" {
				parts[i+1].text = text(parts[i+1].text)
			}
			return parts
		})
	}
	keyed := func(parts []part) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.role == "value" })
	}
	return []Operator{
		framed("close", "the literal that closes the frame is lost", true,
			func(_ *draft, parts []part) ([]part, bool) {
				if n := len(parts) - 1; parts[n].role == closing {
					return parts[:n], !keyed(parts)
				}
				return parts, true
			}),
		framed("open", "the literal that opens the frame is lost", true,
			func(_ *draft, parts []part) ([]part, bool) {
				marked := parts[1].role == literal && strings.ContainsAny(parts[1].text[:1], "<[]")
				if parts[0].role == opening && marked {
					return parts[1:], true
				}
				return parts, true
			}),
		framed("open-twice", "the literal that opens the frame is written twice", false, at(opening, twice)),
		framed("close-twice", "the literal that closes the frame is written twice", false, at(closing, twice)),
		framed("reopen", "the literal that opens the frame stands at its end", false,
			func(_ *draft, parts []part) ([]part, bool) {
				if n := len(parts) - 1; parts[n].role == closing && parts[0].role == opening {
					parts[n].text = parts[0].text
				}
				return parts, true
			}),
		framed("end", "the literal that ends the call is lost", false,
			func(_ *draft, parts []part) ([]part, bool) {
				n := len(parts) - 1
				closed := parts[n].role == closing
				if closed {
					n--
				}
				p := parts[n]
				if p.role == literal && strings.ContainsAny(p.text, "<>[]|`") &&
					!strings.Contains(p.text, "}") {
					whole := closed || !keyed(parts)
					return slices.Delete(parts, n, n+1), whole
				}
				return parts, true
			}),
		framed("sign", "the literal behind the name lacks its last sign", false, behindName(func(s string) string {
			text := strings.TrimRight(s, " \n")
			_, n := utf8.DecodeLastRuneInString(text)
			return text[:len(text)-n] + s[len(text):]
		})),
		framed("equals", "an equals sign stands behind the name, and nothing else", false,
			behindName(func(string) string { return "=" })),
		framed("quotes", "the name stands in quotes", false,
			at("name", write(func(s string) string { return `"` + s + `"` }))),
		framed("namespace", "the name stands in the namespace of functions", false,
			at("name", write(func(s string) string { return "functions." + s }))),
		framed("lines", "the name stands in a line of its own", false,
			at("name", write(func(s string) string { return "\n" + s + "\n" }))),
		framed("text", "the arguments are a text of JSON", false,
			at("arguments", write(func(s string) string { return quote(s) }))),
		framed("brace", "a brace too many follows the arguments", false,
			at("arguments", write(func(s string) string { return s + "}" }))),
		framed("value", "the literal that closes a value is lost, and another value follows", false,
			func(_ *draft, parts []part) ([]part, bool) {
				i := slices.IndexFunc(parts, func(p part) bool { return p.role == "value" })
				end := i + 1
				for i >= 0 && end < len(parts) && parts[end].role == ending {
					end++
				}
				if i >= 0 && keyed(parts[end:]) {
					return slices.Delete(parts, i+1, end), !strings.Contains(parts[i].text, "\n")
				}
				return parts, true
			}),
	}
}

// framed returns the turn without its thoughts, as the models of the family write it; "" without a family.
func (d *draft) framed() string {
	if d.frame == nil {
		return ""
	}
	var lines []string
	for i := range d.msgs {
		switch m := &d.msgs[i]; m.kind {
		case call:
			parts, text := d.frame.parts(m), ""
			for _, damage := range d.frames {
				parts = damage(m, parts)
			}
			for _, p := range parts {
				text += p.text
			}
			lines = append(lines, text)
		case preamble, answer:
			lines = append(lines, m.body)
		}
	}
	return strings.Join(lines, "\n")
}
