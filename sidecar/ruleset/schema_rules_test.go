package ruleset

import (
	"reflect"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What the loader checks beyond single fields, as far as a schema can say it: an
// editor shows it while somebody types.

// when is a schema for what has one of these values under key.
func (s *schema) when(key string, then *schema, values ...any) {
	s.AllOf = append(s.AllOf, &schema{
		If:   &schema{Properties: properties{{key, &schema{Enum: values}}}, Required: []string{key}},
		Then: then,
	})
}

// with is a schema for what has the key.
func (s *schema) with(key string, then *schema) {
	if s.Dependencies == nil {
		s.Dependencies = map[string]*schema{}
	}
	s.Dependencies[key] = then
}

// only lists the keys of a mapping, where the operator cannot choose them.
func (s *schema) only(keys []string) {
	value, _ := s.Additional.(*schema)
	for _, key := range keys {
		s.Properties = append(s.Properties, property{key, value})
	}
	s.Additional = false
}

// refine: the part of a kind has its name, goes with it alone, and must be there
// if something in it must.
func (r strategyRule) refine(s *schema, partial bool) {
	for f := range reflect.TypeOf(r).Fields() {
		kind, _ := rulefile.KeyOf(f)
		if !slices.Contains(s.Properties.get("kind").Enum, any(kind)) {
			continue
		}
		s.with(kind, &schema{Properties: properties{{"kind", &schema{Const: kind}}}})
		if f.Type == reflect.TypeFor[rulefile.Obsolete]() {
			continue
		}
		needed := slices.ContainsFunc(reflect.VisibleFields(f.Type.Elem()), func(f reflect.StructField) bool {
			_, required := rulefile.KeyOf(f)
			return required
		})
		if needed && !partial {
			s.when("kind", &schema{Required: []string{kind}}, kind)
		}
	}
}

// refine: a class is one of three.
func (argumentFile) refine(s *schema, _ bool) { s.Properties.get("classes").only(wordNames) }

// refine: as in argumentFile.
func (lockedArguments) refine(s *schema, _ bool) { s.Properties.get("classes").only(wordNames) }

// refine: every fault has a remedy, but for those that older files do not know.
func (recoveryDoc) refine(s *schema, partial bool) {
	faults := s.Properties.get("faults")
	faults.only(faultNames())
	if !partial {
		faults.Required = slices.DeleteFunc(faultNames(), func(name string) bool {
			_, young := optionalFaults[Fault(name)]
			return young
		})
	}
}

// refine: what goes with which action, and with a status.
func (Remedy) refine(s *schema, partial bool) {
	if partial {
		return
	}
	none, once := 0.0, 1.0
	s.when("action", &schema{Properties: properties{{"attempts", &schema{Maximum: &none}}}}, string(GiveUp))
	s.when("action", &schema{Properties: properties{{"attempts", &schema{Minimum: &once}}},
		Required: []string{"attempts"}},
		string(Resample), string(Correct))
	s.when("action", &schema{Required: []string{"text"}}, string(Correct))
	s.with("text", &schema{Properties: properties{{"action",
		&schema{Enum: []any{string(Resample), string(Correct)}}}}})
	s.with("status", &schema{
		Properties: properties{{"type", &schema{MinLength: 1}}, {"message", &schema{MinLength: 1}}},
		Required:   []string{"type", "message"},
	})
}

// refine: so many characters, or a formula.
func (resultRule) refine(s *schema, partial bool) {
	if !partial {
		s.OneOf = []*schema{{Required: []string{"chars"}}, {Required: []string{"formula"}}}
	}
}

// refine: generated text is found by one or the other.
func (CallPattern) refine(s *schema, _ bool) {
	s.AnyOf = []*schema{
		{Required: []string{"find"}},
		{Required: []string{"field"}, Properties: properties{{"field", &schema{MinLength: 1}}}},
	}
}

// refine: the effect is the key, and there is one.
func (policyRule) refine(s *schema, partial bool) {
	for _, effect := range effects {
		if !partial {
			s.OneOf = append(s.OneOf, &schema{Required: []string{effect}})
		}
	}
}
