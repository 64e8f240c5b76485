package tools

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// checker checks text against a schema in one pass, without building values. It knows the common
// keywords; for a schema with others, the value is built and the schema itself decides.
type checker struct {
	types      kindSet
	props      map[string]property
	required   uint64   // bits of the required properties
	closed     bool     // no other properties
	additional *checker // of other properties; nil: anything
	items      *checker // nil: anything
	whole      *Schema  // decides instead; nil: the fields above do
}

// property is a property of an object, with its own bit.
type property struct {
	bit uint64
	*checker
}

// kindSet is a set of types of JSON values; empty means all.
type kindSet uint8

const (
	isNull kindSet = 1 << iota
	isBoolean
	isNumber
	isInteger
	isString
	isArray
	isObject
)

var kindNames = map[string]kindSet{
	"null": isNull, "boolean": isBoolean, "number": isNumber, "integer": isInteger,
	"string": isString, "array": isArray, "object": isObject,
}

// newChecker returns the checker of a schema.
func newChecker(s *Schema) *checker {
	const most = 64 // in a uint64
	if s == nil || s.Bool != nil && *s.Bool {
		return nil
	}
	if !s.Plain || len(s.Properties)+len(s.Required) > most {
		return &checker{whole: s}
	}
	c := &checker{props: make(map[string]property, len(s.Properties)), items: newChecker(s.Items)}
	for _, name := range s.Types {
		c.types |= kindNames[name]
	}
	bit := func() uint64 { return 1 << len(c.props) }
	for name, sub := range s.Properties {
		c.props[name] = property{bit(), newChecker(sub)}
	}
	c.closed, c.additional = s.Closed, newChecker(s.Others)
	for _, name := range s.Required {
		p, ok := c.props[name]
		if !ok && (c.closed || c.additional != nil) {
			return &checker{whole: s}
		}
		if !ok {
			p = property{bit: bit()}
			c.props[name] = p
		}
		c.required |= p.bit
	}
	return c
}

// accepts reads one value and reports whether the schema surely allows it; an escape in a key, or a
// number such as 1.0 for an integer, is uncertain. The scanner checks the syntax.
func (c *checker) accepts(s *jsontext.Scanner) bool {
	if c == nil {
		s.Skip()
		return true
	}
	if c.whole != nil {
		at := s.Skip()
		return s.Err == nil && c.whole.Accepts(string(at.Of(s.Doc)))
	}
	switch s.Peek() {
	case '{':
		return c.allows(isObject) && c.object(s)
	case '[':
		return c.allows(isArray) && c.list(s)
	}
	at := s.Skip()
	return s.Err == nil && c.allows(kindOf(at.Of(s.Doc)))
}

func (c *checker) allows(k kindSet) bool { return c.types == 0 || c.types&k != 0 }

func (c *checker) object(s *jsontext.Scanner) bool {
	var given uint64
	for ok := s.Enter('{'); ok && s.Next('}'); {
		key, at := s.Key()
		if at.To-at.From != len(key)+len(`""`) {
			return false // an escape may be another spelling of a key
		}
		p, named := c.props[string(key)]
		if !named && (c.closed || len(c.props) > 0 && suspiciousKey(string(key))) {
			return false
		}
		given |= p.bit
		sub := p.checker
		if !named {
			sub = c.additional
		}
		if !sub.accepts(s) {
			return false
		}
	}
	return s.Err == nil && given&c.required == c.required
}

func (c *checker) list(s *jsontext.Scanner) bool {
	for ok := s.Enter('['); ok && s.Next(']'); {
		if !c.items.accepts(s) {
			return false
		}
	}
	return s.Err == nil
}

// kindOf returns the kind of a scalar in a text.
func kindOf(raw []byte) kindSet {
	switch raw[0] {
	case '"':
		return isString
	case 't', 'f':
		return isBoolean
	case 'n':
		return isNull
	}
	if slices.ContainsFunc(raw, func(c byte) bool { return c == '.' || c|0x20 == 'e' }) {
		return isNumber
	}
	return isNumber | isInteger
}
