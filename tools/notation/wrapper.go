package notation

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// wrapper is a function of a program that takes an object, and what becomes of it. None is run.
type wrapper int

const (
	itself  wrapper = iota + 1 // the object, as it was
	encodes                    // its text
	decodes                    // the object that its text is
	pairs                      // the object that a list of pairs is, or an object again
)

// wrapperOf is what a function does; 0: unknown.
func wrapperOf(name string) wrapper {
	switch name {
	case "Object.freeze", "Object.seal", "Object.preventExtensions", "structuredClone", "deepcopy",
		"copy.deepcopy", "OrderedDict", "collections.OrderedDict", "MappingProxyType":
		return itself
	case "JSON.stringify", "json.dumps", "json_encode", "JSON5.stringify", "ujson.dumps", "orjson.dumps",
		"JSON.generate":
		return encodes
	case "JSON.parse", "json.loads", "json_decode", "JSON5.parse", "ujson.loads", "orjson.loads",
		"json.RawMessage":
		return decodes
	case "Map", "Object.fromEntries", "Object.entries":
		return pairs
	}
	return 0
}

// wrapped reads what stands in the parentheses of a function: its first argument. Those behind it say
// how it is done, as in JSON.stringify(object, null, 2).
func (p *literal) wrapped(by wrapper) (json string, ok bool) {
	if p.depth++; p.depth > mostWrappers || !p.take("(") {
		return "", false
	}
	defer func() { p.depth-- }()
	if json, ok = p.value(); !ok {
		return "", false
	}
	for p.take(",") && p.peek() != ')' {
		p.key()
		if _, ok = p.value(); !ok {
			return "", false
		}
	}
	ok = p.take(")")
	switch {
	case by == encodes && p.depth > 1:
		return jsontext.Quote(json), ok
	case by == decodes:
		if !strings.HasPrefix(json, `"`) || !valid(json, 1) {
			return "", false
		}
		json = jsontext.Unquote([]byte(json[1 : len(json)-1]))
		return json, ok && valid(json, jsontext.MaxDepth)
	case by == pairs && strings.HasPrefix(json, "["):
		object, are := ofPairs(json)
		return object, ok && are
	}
	return json, ok && strings.HasPrefix(json, "{")
}

// Wraps reports whether a text is a call that puts something into a wrapper of objects.
func Wraps(text string) bool {
	p := literal{s: strings.TrimRight(text, "; \n")}
	p.take("await ")
	name := p.name()
	return (wrapperOf(name) != 0 || isType(name)) && p.peek() == '(' && strings.HasSuffix(p.s, ")")
}

// mostWrappers bounds how deep wrappers stand in each other: each quotes again what stands in it, and so
// doubles it.
const mostWrappers = 4

// ofPairs is the object of a list of pairs, each a key and a value.
func ofPairs(list string) (object string, ok bool) {
	var b strings.Builder
	s := jsontext.Scanner{Doc: []byte(list), Depth: jsontext.MaxDepth}
	for ok := s.Enter('['); ok && s.Next(']'); {
		if !s.Enter('[') || !s.Next(']') || s.Peek() != '"' {
			return "", false
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(s.Skip().Of(s.Doc))
		if !s.Next(']') {
			return "", false
		}
		b.WriteByte(':')
		b.Write(s.Skip().Of(s.Doc))
		if s.Next(']') {
			return "", false
		}
	}
	return "{" + b.String() + "}", s.End() == nil
}
