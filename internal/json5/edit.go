package json5

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Set is a text with the value at a path: names of members, and indexes of items. What is not
// there is made, at the end of the object or the list that holds it. A value that is there
// already leaves the text as it is. Comments inside of a value that is replaced stay before it.
func Set(text []byte, value any, path ...string) ([]byte, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, err
	}
	v := root
	for i, step := range path {
		if v.Kind != Object && v.Kind != Array {
			line, col := Position(text, v.Start)
			return nil, &SyntaxError{v.Start, line, col, fmt.Sprintf("%s is %s, and must be an object here", strings.Join(path[:i], "."), v.Kind)}
		}
		next := v.At(step)
		if next == nil {
			return insert(text, root, v, step, Nested(value, path[i+1:]))
		}
		v = next
	}
	if Same(v, value) {
		return text, nil
	}
	indent := indentOf(text, v.Start)
	with := lookOf(text, root, v).write(value, indent)
	if kept := comments(text[v.Start:v.End], newlineOf(text)+indent); kept != "" {
		with = kept + with
	}
	return splice(text, v.Start, v.End, with), nil
}

// Remove is a text without the member at a path. The comments around it and in it stay.
func Remove(text []byte, path ...string) ([]byte, error) {
	root, err := Parse(text)
	if err != nil || len(path) == 0 {
		return text, err
	}
	for { // of members with one name, all
		in := root.At(path[:len(path)-1]...)
		m := in.member(path[len(path)-1])
		if m == nil {
			return text, nil
		}
		comma := m.Comma
		if comma < 0 && m != &in.Members[0] {
			comma = in.Members[len(in.Members)-2].Comma // strict JSON has no comma at the end
		}
		kept := strings.TrimRight(comments(text[m.Start:m.Value.End], newlineOf(text)+indentOf(text, m.Start)), " \t")
		start, end := m.Start, m.Value.End
		if line := lineStart(text, start); kept == "" && blankOnly(text[line:start]) {
			if rest, ok := restOfLine(text, end, comma); ok {
				start, end = line, rest
			}
		}
		out := splice(text, start, end, kept)
		switch {
		case comma >= end:
			comma += len(kept) + start - end
			out = splice(out, comma, comma+1, "")
		case comma >= 0 && comma < start:
			out = splice(out, comma, comma+1, "")
		}
		text = out
		if root, err = Parse(text); err != nil {
			return nil, err
		}
	}
}

// restOfLine is where the line ends on which a member ends, if it holds nothing else but its comma.
func restOfLine(text []byte, end, comma int) (int, bool) {
	next := bytes.IndexByte(text[end:], '\n')
	if next < 0 {
		return 0, false
	}
	rest := text[end : end+next]
	if comma >= end && comma < end+next {
		return end + next + 1, blankOnly(text[end:comma]) && blankOnly(text[comma+1:end+next])
	}
	return end + next + 1, blankOnly(rest)
}

// Nested is a value below the members of a path.
func Nested(value any, path []string) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = Pairs{{path[i], value}}
	}
	return value
}

// insert adds a member or an item behind the last one.
func insert(text []byte, root, in *Value, key string, value any) ([]byte, error) {
	l := lookOf(text, root, in)
	starts, last, comma := []int{}, -1, -1
	for _, m := range in.Members {
		starts, last, comma = append(starts, m.Start), m.Value.End, m.Comma
	}
	for _, i := range in.Items {
		starts, last, comma = append(starts, i.Value.Start), i.Value.End, i.Comma
	}
	indent := indentOf(text, in.Start)
	inner := indent + l.unit
	ownLine := len(starts) == 0 && !l.flat
	if n := len(starts); n > 0 {
		if start := starts[n-1]; blankOnly(text[lineStart(text, start):start]) && lineStart(text, start) > in.Start {
			inner, ownLine = indentOf(text, start), true
		}
	}
	l.flat = !ownLine
	label := ""
	if in.Kind == Object {
		label = l.key(key) + ": "
	}
	added := label + l.write(value, inner)
	if ownLine {
		added = l.newline + inner + added
	} else {
		added = " " + added
	}
	if comma >= 0 {
		added += ","
	}
	if len(starts) == 0 {
		return intoEmpty(text, in, added, l.newline+indent, ownLine), nil
	}
	at, swallows := endOfItem(text, max(last, comma+1))
	if swallows && !ownLine {
		added = l.newline + inner + added[1:]
	}
	if comma < 0 {
		return splice(splice(text, at, at, added), last, last, ","), nil
	}
	return splice(text, at, at, added), nil
}

// intoEmpty adds to an object or a list that holds nothing but comments.
func intoEmpty(text []byte, in *Value, added, before string, ownLine bool) []byte {
	at, end, swallows := in.Start+1, in.End-1, false
	for i := at; i < end; { // behind the last comment
		if n := commentEnd(text[i:]); n > 0 {
			swallows = text[i+1] == '/'
			i += n
			at = i
		} else {
			i += max(1, blank(text[i:]))
		}
	}
	if !ownLine {
		before = " "
		if swallows {
			added = newlineOf(text) + added
		}
	}
	return splice(text, at, end, added+before)
}

// endOfItem is where a new item may stand behind one that ends at this offset: behind the
// comments on the same line, which belong to it. The last of them swallows what stands on its line.
func endOfItem(text []byte, at int) (end int, swallows bool) {
	for i := at; i < len(text) && text[i] != '\n' && text[i] != '\r'; {
		n := commentEnd(text[i:])
		switch {
		case n > 0 && bytes.ContainsAny(text[i:i+n], "\n"):
			return at, false
		case n > 0 && text[i+1] == '/':
			return i + n, true
		case n > 0:
			i += n
			at = i
		case blank(text[i:]) > 0:
			i += blank(text[i:])
		default:
			return at, false
		}
	}
	return at, false
}

// comments are those inside of a value, each with what must stand behind it.
func comments(text []byte, line string) string {
	var out strings.Builder
	for _, c := range Comments(text) {
		out.WriteString(c)
		out.WriteString(map[byte]string{'/': line, '*': " "}[c[1]])
	}
	return out.String()
}

// Comments are those of a text that can be read.
func Comments(text []byte) (list []string) {
	for i := 0; i < len(text); {
		if c := text[i]; c == '"' || c == '\'' {
			p := parser{text: text, at: i}
			_, _ = p.str() // the text has been read once, so that it ends
			i = p.at
			continue
		}
		n := max(0, commentEnd(text[i:]))
		if n > 0 {
			list = append(list, string(text[i:i+n]))
		}
		i += max(1, n)
	}
	return list
}

func splice(text []byte, start, end int, with string) []byte {
	return append(append(bytes.Clone(text[:start]), with...), text[end:]...)
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func blankOnly(text []byte) bool { return len(bytes.TrimLeft(text, " \t\r")) == 0 }

// indentOf is the blanks with which the line of an offset begins.
func indentOf(text []byte, at int) string {
	line := text[lineStart(text, at):at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// lookOf is how a text is written around a value.
func lookOf(text []byte, root, near *Value) look {
	l := look{unit: "  ", newline: newlineOf(text), flat: root != near && !bytes.Contains(text[root.Start:root.End], []byte("\n"))}
	for _, v := range []*Value{root, near} {
		if len(v.Members) > 0 {
			first := v.Members[0].Start
			l.bare = text[first] != '"' && text[first] != '\''
			if unit, ok := strings.CutPrefix(indentOf(text, first), indentOf(text, v.Start)); ok && unit != "" && lineStart(text, first) > v.Start {
				l.unit = unit
			}
		}
	}
	return l
}

// Index is the index, as a step of a path, of the item that has this text at a member; that
// behind the last one if none has.
func (v *Value) Index(key, text string) string {
	if v == nil {
		return "0"
	}
	for i := range v.Items {
		if v.Items[i].Value.Get(key).Is(String, text) {
			return strconv.Itoa(i)
		}
	}
	return strconv.Itoa(len(v.Items))
}
