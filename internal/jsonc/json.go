package jsonc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

const (
	maxDepth  = 500     // nesting of values
	maxNested = 100_000 // objects and lists: a bound for the stack of hujson

	byteOrderMark = "\ufeff"
)

// document is a text with its syntax tree.
type document struct {
	text []byte // with blanks in place of a byte order mark, and one more line break
	root hujson.Value
	tree Value
}

// Parse reads a text that is one value.
func Parse(text []byte) (*Value, error) {
	d, err := open(text)
	if err != nil {
		return nil, err
	}
	return &d.tree, nil
}

func open(text []byte) (*document, error) {
	d := &document{text: append(bytes.Clone(text), '\n')}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		copy(d.text, strings.Repeat(" ", len(byteOrderMark)))
	}
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxNested {
		return nil, d.wrong(0, "there are more than %d objects and lists", maxNested)
	}
	returns := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n\n"))
	if at := bytes.IndexByte(returns, '\r'); at >= 0 { // ends a comment in JSON5, but not in hujson
		return nil, d.wrong(at, "a carriage return stands here without a line feed; end lines with a line feed")
	}
	var err error
	if d.root, err = hujson.Parse(d.text); err != nil {
		return nil, d.syntaxError(err)
	}
	d.tree, err = d.value(&d.root, 0)
	return d, err
}

func (d *document) wrong(at int, format string, args ...any) error {
	line, column := Position(d.text, at)
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
}

// syntaxError adds the place and a remedy to an error of hujson. It quotes no value, which may be
// secret.
func (d *document) syntaxError(err error) error {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return d.wrong(0, "%v", err)
	}
	at := column - 1
	for range line - 1 {
		at += bytes.IndexByte(d.text[at-column+1:], '\n') + 1
	}
	at = min(at, len(d.text)-1)
	_, msg, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
	rest := d.text[at:]
	word := string(rest[:len(rest)-len(bytes.TrimLeftFunc(rest, inName))])
	named := bytes.HasPrefix(bytes.TrimLeft(rest[len(word):], " \t\r\n"), []byte(":"))
	switch c := rest[0]; {
	case !strings.HasPrefix(msg, "invalid literal") && !strings.Contains(msg, "at start of"):
	case word != "" && named:
		msg = fmt.Sprintf("the name %.60s stands without quotes, as JSON5 alone has it; write %.60q", word,
			word)
	case c == '\'':
		msg = "a string stands in single quotes, as JSON5 alone has it; write it in double quotes"
	case c == '"':
		msg = "this string has a line break, a tab or an escape that JSON does not have; write \\n, \\t or \\u0000"
	case word != "" || c == '+' || c == '-' || c == '.':
		msg = "this is no value of JSON: a text stands in double quotes, a number has decimal digits without +"
	}
	return d.wrong(at, "%s", msg)
}

func inName(r rune) bool { return r == '$' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// value converts a value of hujson to a tree.
func (d *document) value(node *hujson.Value, depth int) (v Value, err error) {
	v = Value{Start: node.StartOffset, End: node.EndOffset, node: node}
	if depth > maxDepth {
		return v, d.wrong(v.Start, "values nest more than %d deep", maxDepth)
	}
	switch is := node.Value.(type) {
	case hujson.Literal:
		kinds := map[hujson.Kind]Kind{'n': Null, 't': Bool, 'f': Bool, '0': Number, '"': String}
		v.Kind, v.Text = kinds[is.Kind()], is.String()
	case *hujson.Object:
		v.Kind, v.Members = Object, make([]Member, len(is.Members))
		for i := range is.Members {
			v.Members[i].Key = is.Members[i].Name.Value.(hujson.Literal).String()
			if v.Members[i].Value, err = d.value(&is.Members[i].Value, depth+1); err != nil {
				return v, err
			}
		}
	case *hujson.Array:
		v.Kind, v.Items = Array, make([]Value, len(is.Elements))
		for i := range is.Elements {
			if v.Items[i], err = d.value(&is.Elements[i], depth+1); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// pack returns the text of a document.
func (d *document) pack(was []byte) []byte {
	text := bytes.TrimSuffix(d.root.Pack(), []byte("\n"))
	if bytes.HasPrefix(was, []byte(byteOrderMark)) {
		copy(text, byteOrderMark)
	}
	return text
}

// Set returns a text with the value at a path of member names and item indexes. Missing members are
// added at the end of their object or list. An equal value leaves the text as it is. Comments within a
// replaced value are moved before it.
func Set(text []byte, value any, path ...string) ([]byte, error) {
	d, err := open(text)
	if err != nil {
		return nil, err
	}
	v := &d.tree
	for i, step := range path {
		if v.Kind != Object && v.Kind != Array {
			return nil, d.wrong(v.Start, "%s is %s, and must be an object here", strings.Join(path[:i], "."),
				v.Kind)
		}
		next := v.At(step)
		if next == nil {
			d.add(v, step, Nested(value, path[i+1:]))
			return d.pack(text), nil
		}
		v = next
	}
	if Same(v, value) {
		return text, nil
	}
	indent := d.indent(v.Start)
	kept := d.comments(v.Start, v.End, indent)
	v.node.BeforeExtra = append(v.node.BeforeExtra, kept...)
	v.node.Value = hujson.Literal(d.look(v).write(value, indent))
	return d.pack(text), nil
}

// add adds a member or an item behind the last one, and behind the comments on its line.
func (d *document) add(in *Value, key string, value any) {
	var starts, ends []*hujson.Value
	var after *hujson.Extra // before the closing bracket
	object, _ := in.node.Value.(*hujson.Object)
	list, _ := in.node.Value.(*hujson.Array)
	if object != nil {
		after = &object.AfterExtra
		for i := range object.Members {
			starts, ends = append(starts, &object.Members[i].Name), append(ends, &object.Members[i].Value)
		}
	} else {
		after = &list.AfterExtra
		for i := range list.Elements {
			starts, ends = append(starts, &list.Elements[i]), append(ends, &list.Elements[i])
		}
	}
	l, n := d.look(in), len(starts)
	inner, ownLine := d.indent(in.Start)+l.unit, n == 0 && !l.flat
	if n > 0 {
		if _, line, found := cutLast(starts[n-1].BeforeExtra); found {
			inner, ownLine = blanks(line), true
		}
	}
	behind, ofLine := 0, false // the end of the last comment, and whether it ends its line
	for start, end := range comments(*after) {
		if n > 0 && bytes.IndexByte((*after)[behind:start], '\n') >= 0 {
			break
		}
		behind, ofLine = end, (*after)[start+1] == '/'
	}
	before := (*after)[:behind:behind]
	if ownLine || ofLine {
		before = append(before, l.newline+inner...)
	} else {
		before = append(before, ' ')
	}
	*after = (*after)[behind:]
	switch {
	case n == 0 && ownLine:
		*after = hujson.Extra(l.newline + d.indent(in.Start))
	case n == 0:
		*after = hujson.Extra(" ")
	}
	l.flat = !ownLine
	added := hujson.Value{BeforeExtra: before, Value: hujson.Literal(l.write(value, inner))}
	if n > 0 && ends[n-1].AfterExtra != nil {
		added.AfterExtra = hujson.Extra{} // a comma follows the last one
	}
	if object == nil {
		list.Elements = append(list.Elements, added)
		return
	}
	name := hujson.Value{BeforeExtra: before, Value: hujson.String(key)}
	added.BeforeExtra = hujson.Extra(" ")
	object.Members = append(object.Members, hujson.ObjectMember{Name: name, Value: added})
}

// Remove returns a text without the member at a path. The comments around and within it stay.
func Remove(text []byte, path ...string) ([]byte, error) {
	d, err := open(text)
	if err != nil || len(path) == 0 {
		return text, err
	}
	in, key := d.tree.At(path[:len(path)-1]...), path[len(path)-1]
	if in.Get(key) == nil {
		return text, nil
	}
	for i := len(in.Members) - 1; i >= 0; i-- { // all members of this name
		if in.Members[i].Key == key {
			d.remove(in.node.Value.(*hujson.Object), i)
		}
	}
	return d.pack(text), nil
}

func (d *document) remove(from *hujson.Object, i int) {
	m, last := from.Members[i], len(from.Members)-1
	comma := from.Members[last].Value.AfterExtra != nil // behind the last one
	next := &from.AfterExtra
	if i < last {
		next = &from.Members[i+1].Name.BeforeExtra
	}
	end := m.Value.EndOffset + len(m.Value.AfterExtra)
	before := append(m.Name.BeforeExtra, d.comments(m.Name.EndOffset, end, d.indent(m.Name.StartOffset))...)
	after := bytes.TrimLeft(*next, " \t\r")
	if bytes.HasPrefix(after, []byte("\n")) { // nothing else stands on the line
		after, before = *next, bytes.TrimRight(before, " \t")
		before = bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))
	}
	*next = slices.Concat(before, after)
	from.Members = slices.Delete(from.Members, i, i+1)
	if i < last || i == 0 {
		return
	}
	switch end := &from.Members[i-1].Value.AfterExtra; {
	case !comma:
		from.AfterExtra, *end = slices.Concat(*end, from.AfterExtra), nil
	case *end == nil:
		*end = hujson.Extra{}
	}
}

// comments are those of a part of the text, each with what must stand behind it.
func (d *document) comments(from, to int, indent string) (kept []byte) {
	part := d.text[from:to]
	for start, end := range comments(part) {
		kept = append(kept, part[start:end]...)
		if part[start+1] == '/' {
			kept = append(kept, d.newline()+indent...)
		} else {
			kept = append(kept, ' ')
		}
	}
	return kept
}

// comments returns the places of the comments of a valid text. The line break behind a line comment is
// excluded.
func comments(text []byte) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(text); i++ {
			switch start := i; {
			case text[i] == '"':
				for i++; text[i] != '"'; i++ {
					if text[i] == '\\' {
						i++
					}
				}
			case bytes.HasPrefix(text[i:], []byte("//")):
				i += bytes.IndexByte(text[i:], '\n')
				if !yield(start, start+len(bytes.TrimSuffix(text[start:i], []byte("\r")))) {
					return
				}
			case bytes.HasPrefix(text[i:], []byte("/*")):
				i += bytes.Index(text[i+2:], []byte("*/")) + len("*/") + 1
				if !yield(start, i+1) {
					return
				}
			}
		}
	}
}

func cutLast(text []byte) (before, line []byte, found bool) {
	at := bytes.LastIndexByte(text, '\n')
	return text[:max(0, at)], text[at+1:], at >= 0
}

func blanks(line []byte) string { return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) }

// indent returns the blanks at the start of the line of an offset.
func (d *document) indent(at int) string {
	_, line, _ := cutLast(d.text[:at])
	return blanks(line)
}

func (d *document) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// look returns how the text is written in a value.
func (d *document) look(in *Value) look {
	l := look{unit: "  ", newline: d.newline(), flat: in != &d.tree &&
		!bytes.Contains(d.text[d.tree.Start:d.tree.End], []byte("\n"))}
	if object, is := d.root.Value.(*hujson.Object); is && len(object.Members) > 0 {
		if _, line, found := cutLast(object.Members[0].Name.BeforeExtra); found && blanks(line) != "" {
			l.unit = blanks(line)
		}
	}
	return l
}
