package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

// Schemas remembers compiled JSON Schemas by their bytes, because callers send the
// same tools with every request, and the table by which arguments are read. It is safe for concurrent use.
type Schemas struct {
	ops    args.Table // what is undone in arguments
	mu     sync.RWMutex
	byText *recent.Map[*schema] // nil for a schema that does not compile
	texts  *recent.Map[json.RawMessage]
}

// NewSchemas returns an empty memo for at most max schemas. Of a full one the oldest make room.
func NewSchemas(max int) *Schemas {
	return &Schemas{ops: args.Ops(), byText: recent.New[*schema](max, nil),
		texts: recent.New[json.RawMessage](max, nil)}
}

// text is a schema as others have it who hold the same.
func (s *Schemas) text(of json.RawMessage) json.RawMessage {
	if len(of) == 0 {
		return nil
	}
	return remembered(&s.mu, s.texts, of, func() json.RawMessage { return bytes.Clone(of) })
}

// remembered is what a map has for a text, or else what is made of it now.
func remembered[V any](mu *sync.RWMutex, in *recent.Map[V], text []byte, make func() V) V {
	mu.RLock()
	if known := in.GetBytes(text); known != nil {
		defer mu.RUnlock()
		return *known
	}
	mu.RUnlock()
	made := make()
	mu.Lock()
	defer mu.Unlock()
	kept, fresh := in.Use(string(text))
	if fresh { // others may read what is there
		*kept = made
	}
	return *kept
}

// schema is the JSON Schema of a tool's arguments, compiled.
type schema struct {
	*Schema
	props    map[string]*Schema // by name, with those of $ref and allOf
	required []string
	checker  *checker
}

// of returns the schema of text, or nil where there is none or it is broken: what
// cannot be read cannot be checked, and must not make a tool unusable.
func (s *Schemas) of(text json.RawMessage) *schema {
	if len(text) == 0 {
		return nil
	}
	return remembered(&s.mu, s.byText, text, func() *schema {
		made, err := compile(text)
		if err != nil {
			return nil
		}
		return made
	})
}

func compile(text []byte) (*schema, error) {
	root, err := CompileSchema(text)
	if err != nil {
		return nil, err
	}
	props, required := fields(root)
	return &schema{root, props, required, newChecker(root)}, nil
}

// maxRefs bounds how far references are followed; schemas may refer in circles.
const maxRefs = 16

// target is what s refers to.
func target(s *Schema) *Schema {
	for i := 0; i < maxRefs && s.Ref != nil && s.Properties == nil; i++ {
		s = s.Ref
	}
	return s
}

// fields returns the properties of an object schema and the required ones, with
// those that $ref and allOf add.
func fields(s *Schema) (props map[string]*Schema, required []string) {
	if s.Ref == nil && len(s.AllOf) == 0 {
		return s.Properties, s.Required
	}
	props = make(map[string]*Schema)
	var add func(s *Schema, depth int)
	add = func(s *Schema, depth int) {
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
func typed(s *Schema, t string) bool { return slices.Contains(s.Types, t) }

// takesText reports whether a schema may allow a text.
func takesText(s *Schema, depth int) bool {
	if s == nil || depth > maxRefs {
		return true
	}
	s = target(s)
	branches := slices.Concat(s.AnyOf, s.OneOf)
	if len(s.Types) > 0 || len(branches) == 0 {
		return len(s.Types) == 0 || typed(s, "string")
	}
	return slices.ContainsFunc(branches, func(b *Schema) bool { return takesText(b, depth+1) })
}
