// Package jsonschema reads JSON Schemas of drafts 4 to 2020-12, and says what is wrong with a
// value. It does no work at the start of the program, reads no file and no address, and is pure.
// It asks no network for what a schema refers to.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
)

// Schema is a schema, or a part of one, ready to check values. What is absent is zero.
type Schema struct {
	Draft int   // 4, 6, 7, 2019 or 2020
	Bool  *bool // a schema that accepts everything, or nothing

	Nullable bool // null is right, whatever else is said, as OpenAPI 3.0 has it

	Ref    *Schema
	RefDyn *Schema // of $dynamicRef and $recursiveRef

	Types              []string // in the order of typeNames
	Enum               []any
	Const              *any
	AllOf, AnyOf       []*Schema
	OneOf              []*Schema
	Not                *Schema
	If, Then, Else     *Schema
	Format             string // as far as it is checked
	format             func(string) bool
	Pattern            *regexp.Regexp
	MinLength          *int
	MaxLength          *int
	Minimum, Maximum   *big.Rat
	Above, Below       *big.Rat // exclusiveMinimum and exclusiveMaximum
	MultipleOf         *big.Rat
	MinItems, MaxItems *int
	UniqueItems        bool
	PrefixItems        []*Schema
	Items              *Schema // of the elements behind PrefixItems
	NoMoreItems        bool    // additionalItems: false
	Contains           *Schema
	MinContains        *int
	MaxContains        *int
	UnevaluatedItems   *Schema

	MinProperties         *int
	MaxProperties         *int
	Required              []string
	Properties            map[string]*Schema
	PatternProperties     []Pattern // in the order of the alphabet
	Others                *Schema   // additionalProperties, unless they are false
	Closed                bool      // additionalProperties: false
	PropertyNames         *Schema
	Dependencies          []Dependency
	UnevaluatedProperties *Schema
}

// Pattern is the schema of the properties whose names match.
type Pattern struct {
	Name *regexp.Regexp
	*Schema
}

// Dependency is what an object with a property must have, or be.
type Dependency struct {
	Keyword, Property string
	Names             []string
	*Schema           // nil: the names
}

// typeNames are the types of JSON values.
var typeNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// errUnreadable is about schemas that say what this package does not know: references to other
// documents, meta-schemas of one's own, parts in another draft, and dynamic references
// across parts that have an $id.
var errUnreadable = errors.New("the schema says what is not supported")

// place is the address of a schema that has no $id.
const place = "tool:///arguments"

// Compile reads a schema, draft 2020-12 unless it says otherwise.
func Compile(text []byte) (*Schema, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // so that none loses digits
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read a JSON Schema: there is text behind it")
	}
	s, err := compile(doc)
	if err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	return s, nil
}

// drafts are the drafts by the address of their meta-schema, without scheme and fragment.
var drafts = map[string]int{
	"json-schema.org/draft-04/schema": 4, "json-schema.org/draft-06/schema": 6,
	"json-schema.org/draft-07/schema":      7,
	"json-schema.org/draft/2019-09/schema": 2019, "json-schema.org/draft/2020-12/schema": 2020,
	"json-schema.org/schema": 2020,
}
