package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

// Schemas caches compiled JSON Schemas by their bytes, as callers repeat their tools in every request,
// and the table for reading arguments. It is safe for concurrent use.
type Schemas struct {
	ops    args.Table // damage that is undone
	mu     sync.RWMutex
	byText *recent.Map[*schema] // nil: does not compile
	texts  *recent.Map[json.RawMessage]
}

// NewSchemas returns a cache of at most max schemas; the oldest are evicted.
func NewSchemas(max int) *Schemas {
	return &Schemas{ops: args.Ops(), byText: recent.New[*schema](max, nil),
		texts: recent.New[json.RawMessage](max, nil)}
}

// text returns a shared copy of a schema.
func (s *Schemas) text(of json.RawMessage) json.RawMessage {
	if len(of) == 0 {
		return nil
	}
	return remembered(&s.mu, s.texts, of, func() json.RawMessage { return bytes.Clone(of) })
}

// remembered returns the cached value of a text, or makes it.
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
	if fresh { // others may read the old one
		*kept = made
	}
	return *kept
}

// schema is the compiled schema of a tool's arguments.
type schema struct {
	*Schema
	props    map[string]*Schema // by name, with those of $ref and allOf
	required []string
	checker  *checker
}

// of returns the compiled schema, or nil if there is none or it is broken: it cannot be checked, but
// must not disable the tool.
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

// maxRefs bounds how far references are followed; they may be cyclic.
const maxRefs = 16

// target follows references.
func target(s *Schema) *Schema {
	for i := 0; i < maxRefs && s.Ref != nil && s.Properties == nil; i++ {
		s = s.Ref
	}
	return s
}

// fields returns the properties of an object schema and the required ones, with those of $ref and allOf.
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

// only returns the parameter that an unnamed argument is meant for: the single required one, or the
// single one.
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

// typed reports whether s lists the type t.
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
