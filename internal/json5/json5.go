// Package json5 reads JSON5, the format of OpenClaw's settings, as a tree that knows where each
// value stands, and changes single values of a text. All other bytes stay as they are, comments
// too. It accepts what the JSON5 library of Node.js accepts. It knows no setting.
package json5

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// Value is a value and its place in the text.
type Value struct {
	Kind       Kind
	Start, End int
	Text       string   // of a string: what it means; of a number, true or false: as it is written
	Members    []Member // of an object
	Items      []Item   // of a list
}

// Member is a member of an object. Of two with one name the last one counts.
type Member struct {
	Key   string
	Start int // of the key
	Value Value
	Comma int // offset of the comma behind it; -1: there is none
}

// Item is an item of a list.
type Item struct {
	Value Value
	Comma int
}

// SyntaxError says where a text is no JSON5.
type SyntaxError struct {
	Offset, Line, Column int
	Msg                  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// Position is the line and the column of an offset, both from 1. A column counts characters.
func Position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// Get is the member of an object with this name, or nil. A nil value has no members.
func (v *Value) Get(key string) *Value {
	if m := v.member(key); m != nil {
		return &m.Value
	}
	return nil
}

func (v *Value) member(key string) *Member {
	if v == nil {
		return nil
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Key == key {
			return &v.Members[i]
		}
	}
	return nil
}

// At is the value at a path of names and, in lists, of indexes; nil: there is none.
func (v *Value) At(path ...string) *Value {
	for _, step := range path {
		if v != nil && v.Kind == Array {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = &v.Items[i].Value
			continue
		}
		v = v.Get(step)
	}
	return v
}

// Is reports whether a value is a string, or true, false or a number written so.
func (v *Value) Is(kind Kind, text string) bool {
	return v != nil && v.Kind == kind && v.Text == text
}

// Float is the number that a value is.
func (v *Value) Float() (n float64, ok bool) {
	if v == nil || v.Kind != Number {
		return 0, false
	}
	text := strings.TrimLeft(v.Text, "+-")
	if hex, cut := strings.CutPrefix(strings.ToLower(text), "0x"); cut {
		for _, c := range hex {
			digit, _ := strconv.ParseUint(string(c), 16, 8)
			n = n*16 + float64(digit)
		}
	} else {
		n, _ = strconv.ParseFloat(text, 64) // out of range: an infinity, as in JavaScript
	}
	if v.Text[0] == '-' {
		n = -n
	}
	return n, true
}

// maxDepth is how deep values may nest: a bound for the stack.
const maxDepth = 500

// Parse reads a text that is one value.
func Parse(text []byte) (*Value, error) {
	p := parser{text: text}
	v, err := p.value(0)
	if err == nil {
		err = p.space()
	}
	if err == nil && p.at < len(text) {
		err = p.wrong("nothing may stand behind the value, but there is %s", p.seen())
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}

type parser struct {
	text []byte
	at   int
}

func (p *parser) wrong(format string, args ...any) error { return p.wrongAt(p.at, format, args...) }

func (p *parser) wrongAt(at int, format string, args ...any) error {
	line, column := Position(p.text, at)
	return &SyntaxError{at, line, column, fmt.Sprintf(format, args...)}
}

// seen is what stands here, in words.
func (p *parser) seen() string {
	if p.at >= len(p.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return strconv.QuoteRune(r)
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// value reads a value, with what may stand before it.
func (p *parser) value(depth int) (v Value, err error) {
	if err = p.space(); err != nil {
		return v, err
	}
	v.Start = p.at
	switch c := p.peek(); {
	case depth > maxDepth:
		return v, p.wrong("values nest more than %d deep", maxDepth)
	case c == '{':
		v.Kind = Object
		err = p.object(&v, depth)
	case c == '[':
		v.Kind = Array
		err = p.array(&v, depth)
	case c == '"' || c == '\'':
		v.Kind = String
		v.Text, err = p.str()
	default:
		err = p.word(&v)
	}
	v.End = p.at
	return v, err
}

// word reads null, true, false or a number.
func (p *parser) word(v *Value) error {
	for name, kind := range map[string]Kind{"null": Null, "true": Bool, "false": Bool} {
		if bytes.HasPrefix(p.text[p.at:], []byte(name)) {
			p.at += len(name)
			v.Kind, v.Text = kind, name
			return nil
		}
	}
	v.Kind = Number
	n := numberEnd(p.text[p.at:])
	if n == 0 {
		return p.wrong("a value must stand here, not %s", p.seen())
	}
	v.Text = string(p.text[p.at : p.at+n])
	p.at += n
	return nil
}

func (p *parser) object(v *Value, depth int) error {
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == '}' {
			p.at++
			return nil
		}
		m := Member{Start: p.at, Comma: -1}
		var err error
		if m.Key, err = p.key(); err == nil {
			err = p.space()
		}
		if err == nil && p.peek() != ':' {
			err = p.wrong("a colon must stand behind the name %q, not %s", m.Key, p.seen())
		}
		if err != nil {
			return err
		}
		p.at++
		if m.Value, err = p.value(depth + 1); err == nil {
			m.Comma, err = p.comma('}')
		}
		v.Members = append(v.Members, m)
		if err != nil {
			return err
		}
	}
}

func (p *parser) array(v *Value, depth int) error {
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == ']' {
			p.at++
			return nil
		}
		i := Item{Comma: -1}
		var err error
		if i.Value, err = p.value(depth + 1); err == nil {
			i.Comma, err = p.comma(']')
		}
		v.Items = append(v.Items, i)
		if err != nil {
			return err
		}
	}
}

// comma reads what stands behind a member or an item: a comma, or the end, which stays.
func (p *parser) comma(end byte) (at int, err error) {
	if err := p.space(); err != nil {
		return -1, err
	}
	switch {
	case p.at < len(p.text) && p.text[p.at] == ',':
		p.at++
		return p.at - 1, nil
	case p.at < len(p.text) && p.text[p.at] == end:
		return -1, nil
	}
	return -1, p.wrong("a comma or %q must stand here, not %s", end, p.seen())
}

// AllMembers are the members of an object; those of a nil value are none.
func (v *Value) AllMembers() []Member {
	if v == nil {
		return nil
	}
	return v.Members
}
