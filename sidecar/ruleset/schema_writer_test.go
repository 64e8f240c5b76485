package ruleset

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// schemaWriter writes the schemas of the types of one file. It goes through them as
// rulefile.Decode does, and must know the same types.
type schemaWriter struct {
	file        string
	definitions map[string]*schema
}

// refiner is a rule type that says more than its fields can: how they go
// together. In a partial one, some of them may stand in another file.
type refiner interface {
	refine(s *schema, partial bool)
}

// value is the schema of a value of type t. path is its key, from the top of the
// file: strategies.when. partial means that the rest of it may stand in another
// file.
func (w *schemaWriter) value(t reflect.Type, tag reflect.StructTag, path string, partial bool) *schema {
	switch t {
	case reflect.TypeFor[rulefile.Text]():
		return &schema{Type: "string", Enum: allowed(tag)}
	case reflect.TypeFor[rulefile.Obsolete]():
		return &schema{Deprecated: true}
	case reflect.TypeFor[bool]():
		return &schema{Type: "boolean"}
	case reflect.TypeFor[int](), reflect.TypeFor[rulefile.Number]():
		return &schema{Type: "integer", Enum: allowed(tag), Minimum: limit(tag, "min"),
			Maximum: limit(tag, "max")}
	case reflect.TypeFor[float64]():
		return &schema{Type: "number", Minimum: limit(tag, "min"), Maximum: limit(tag, "max")}
	case reflect.TypeFor[time.Duration]():
		return w.define("duration", schema{Type: "string", Pattern: durationMatch,
			PatternHint: "write 500ms, 30s or 2m"})
	case reflect.TypeFor[rulefile.Size]():
		least, most := 0.0, float64(1<<31-1)
		return w.define("size", schema{Type: []string{"string", "integer"}, Minimum: &least, Maximum: &most,
			Pattern: sizeMatch, PatternHint: "write 512, 64KiB, 16MiB or 1GiB"})
	case reflect.TypeFor[any]():
		return &schema{}
	case reflect.TypeFor[rulefile.Values]():
		return &schema{Type: "object"}
	}
	switch {
	case t.Kind() == reflect.String:
		return &schema{Type: "string", Enum: allowed(tag)}
	case t.Kind() == reflect.Map:
		return &schema{Type: "object", Additional: w.orNothing(w.value(t.Elem(), tag, path+".*", partial),
			partial)}
	case t.Kind() == reflect.Pointer:
		return w.value(t.Elem(), tag, path, partial)
	case t.Kind() == reflect.Slice && rulefile.IsPair(t.Elem()):
		return &schema{Type: "object", Additional: w.orNothing(w.value(t.Elem().Field(1).Type, tag, path+".*",
			partial), partial)}
	case t.Kind() == reflect.Slice: // an entry is found again by its name, and not inside others
		return &schema{Type: "array", Items: w.value(t.Elem(), tag, path, partial &&
			len(naming(t.Elem(), path)) > 0)}
	case t.Name() == "":
		return w.object(t, path, partial)
	}
	return w.defined(t, path, partial)
}

// define puts a schema among the definitions, and gives a reference to it.
func (w *schemaWriter) define(name string, s schema) *schema {
	w.definitions[name] = &s
	return &schema{Ref: definitions + name}
}

// defined refers to the schema of a struct with a name, and writes it once.
func (w *schemaWriter) defined(t reflect.Type, path string, partial bool) *schema {
	stem := strings.TrimSuffix(filepath.Base(w.file), ".yaml")
	name := cmp.Or(strings.TrimSuffix(t.Name(), "Rule"), stem) // editors show it
	name = strings.ToLower(name[:1]) + name[1:]
	if partial {
		name += "Part"
	}
	if w.definitions[name] == nil {
		w.definitions[name] = &schema{} // a type may hold itself
		*w.definitions[name] = *w.object(t, path, partial)
	}
	return &schema{Ref: definitions + name}
}

// object is the schema of a struct.
func (w *schemaWriter) object(t reflect.Type, path string, partial bool) *schema {
	s, named := &schema{Type: "object", Additional: false}, naming(t, path)
	for _, f := range rulefile.Keys(t) {
		key, required := rulefile.KeyOf(f)
		at := strings.TrimPrefix(path+"."+key, ".")
		p := w.value(f.Type, f.Tag, at, partial)
		p.Description = f.Tag.Get("doc")
		if more := sees(w.file, at); more != "" {
			p.Description += "\n\n" + more
		}
		if eg := f.Tag.Get("eg"); eg != "" {
			p.Examples = []any{rulefile.JSON(eg)}
		}
		s.Properties = append(s.Properties, property{key, p})
		if required && (!partial || key == "version" || slices.Contains(named, key)) {
			s.Required = append(s.Required, key)
		}
	}
	if partial && len(named) > 0 {
		s.Properties = append(s.Properties,
			property{"delete", &schema{Enum: []any{true}, Description: "Beside " + strings.Join(named,
				" and ") + " alone: takes an included item away."}})
	}
	if r, ok := reflect.Zero(t).Interface().(refiner); ok {
		r.refine(s, partial)
	}
	for _, p := range s.Properties {
		if p.key != "version" && p.key != "delete" && p.key != "when" && !slices.Contains(named, p.key) {
			w.orNothing(p.schema, partial)
		}
	}
	return s
}

// orNothing lets a schema in a partial file also take null: what is included is taken away. The
// locked limits are partial by themselves, and seldom include anything.
func (w *schemaWriter) orNothing(s *schema, partial bool) *schema {
	partial = partial && w.file != lockedName(limitsFile)
	switch t := s.Type.(type) {
	case string:
		if partial {
			s.Type = []string{t, "null"}
		}
	case []string:
		if partial {
			s.Type = append(slices.Clone(t), "null")
		}
	}
	if partial && s.Ref != "" {
		s.AnyOf, s.Ref = []*schema{{Ref: s.Ref}, {Type: "null"}}, ""
	}
	if partial && len(s.Enum) > 0 {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	return s
}

// naming are the keys that name an item of a list at the top of a file.
func naming(t reflect.Type, path string) []string {
	if t.Kind() != reflect.Struct || strings.Contains(path, ".") {
		return nil
	}
	return rulefile.NameKeys(func(name string) bool {
		return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
			key, _ := rulefile.KeyOf(f)
			return key == name
		})
	})
}

// allowed are the words or numbers of the tag one.
func allowed(tag reflect.StructTag) (out []any) {
	for _, word := range strings.Fields(tag.Get("one")) {
		out = append(out, rulefile.JSON(word))
	}
	return out
}

// limit is the number of the tag min or max; nil without one.
func limit(tag reflect.StructTag, name string) *float64 {
	x, err := strconv.ParseFloat(tag.Get(name), 64)
	if err != nil {
		return nil
	}
	return &x
}

// sees says in one text what the condition under a key sees; empty for a key
// that is no condition.
func sees(file, key string) string {
	for _, c := range Full.Vars().Conditions {
		if c.File != file || c.Key != key {
			continue
		}
		var b strings.Builder
		b.WriteString("It sees:\n\n")
		for _, v := range c.Variables {
			fmt.Fprintf(&b, "- %s (%s): %s\n", v.Name, v.Type, v.About)
		}
		var names []string
		for _, f := range cond.Functions() {
			names = append(names, f.Name)
		}
		return b.String() + "\nIt can call " + strings.Join(names, ", ") + "."
	}
	return ""
}
