package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonschema"
)

// Schemas remembers compiled JSON Schemas by their bytes, because callers send the
// same tools with every request, and the table by which arguments are read. It is safe for concurrent use.
type Schemas struct {
	max    int
	ops    args.Table // what is undone in arguments
	mu     sync.RWMutex
	byText map[string]*schema // a nil entry is a schema that does not compile
	texts  map[string]json.RawMessage
}

// NewSchemas returns an empty memo for at most max schemas. A full one starts
// again from nothing, which costs one compilation for each tool still in use.
func NewSchemas(max int) *Schemas {
	return &Schemas{max: max, ops: args.Ops(), byText: make(map[string]*schema),
		texts: make(map[string]json.RawMessage)}
}

// text is a schema as others have it who hold the same.
func (s *Schemas) text(of json.RawMessage) json.RawMessage {
	if len(of) == 0 {
		return nil
	}
	s.mu.RLock()
	known, ok := s.texts[string(of)]
	s.mu.RUnlock()
	if ok {
		return known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) >= s.max {
		clear(s.texts)
	}
	own := bytes.Clone(of)
	s.texts[string(own)] = own
	return own
}

// schema is the JSON Schema of a tool's arguments, compiled.
type schema struct {
	*jsonschema.Schema
	props    map[string]*jsonschema.Schema // by name, with those of $ref and allOf
	required []string
	checker  *checker
}

// of returns the schema of text, or nil where there is none or it is broken: what
// cannot be read cannot be checked, and must not make a tool unusable.
func (s *Schemas) of(text json.RawMessage) *schema {
	if len(text) == 0 {
		return nil
	}
	s.mu.RLock()
	known, ok := s.byText[string(text)]
	s.mu.RUnlock()
	if ok {
		return known
	}
	made, err := compile(text)
	if err != nil {
		made = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byText) >= s.max {
		clear(s.byText)
	}
	s.byText[string(text)] = made
	return made
}

func compile(text []byte) (*schema, error) {
	root, err := jsonschema.Compile(text)
	if err != nil {
		return nil, err
	}
	props, required := fields(root)
	return &schema{root, props, required, newChecker(root)}, nil
}

// maxRefs bounds how far references are followed; schemas may refer in circles.
const maxRefs = 16

// target is what s refers to.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for i := 0; i < maxRefs && s.Ref != nil && s.Properties == nil; i++ {
		s = s.Ref
	}
	return s
}

// fields returns the properties of an object schema and the required ones, with
// those that $ref and allOf add.
func fields(s *jsonschema.Schema) (props map[string]*jsonschema.Schema, required []string) {
	if s.Ref == nil && len(s.AllOf) == 0 {
		return s.Properties, s.Required
	}
	props = make(map[string]*jsonschema.Schema)
	var add func(s *jsonschema.Schema, depth int)
	add = func(s *jsonschema.Schema, depth int) {
		if s == nil || depth > maxRefs {
			return
		}
		for name, sub := range s.Properties {
			if props[name] == nil {
				props[name] = sub
			}
		}
		required = append(required, s.Required...)
		add(s.Ref, depth+1)
		for _, sub := range s.AllOf {
			add(sub, depth+1)
		}
	}
	add(s, 0)
	return props, required
}

// only returns the one parameter that an argument without a name can be meant for:
// the single required one, or the single one there is.
func (s *schema) only() (name string, ok bool) {
	if len(s.required) == 1 && s.props[s.required[0]] != nil {
		return s.required[0], true
	}
	if len(s.required) > 0 || len(s.props) != 1 {
		return "", false
	}
	for name = range s.props {
	}
	return name, true
}

// typed reports whether one of the types that s lists is t. A schema without
// "type" lists none.
func typed(s *jsonschema.Schema, t string) bool { return slices.Contains(s.Types, t) }

// takesText reports whether a schema may allow a text.
func takesText(s *jsonschema.Schema, depth int) bool {
	if s == nil || depth > maxRefs {
		return true
	}
	s = target(s)
	branches := slices.Concat(s.AnyOf, s.OneOf)
	if len(s.Types) > 0 || len(branches) == 0 {
		return len(s.Types) == 0 || typed(s, "string")
	}
	return slices.ContainsFunc(branches, func(b *jsonschema.Schema) bool { return takesText(b, depth+1) })
}
