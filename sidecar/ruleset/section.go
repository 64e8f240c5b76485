package ruleset

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Section is what a part of the program reads of the rule files: a file of its own, or a key of limits.yaml.
type Section struct {
	Name  string // of the file, such as runs.yaml, or of the key
	About string // a sentence for who writes it
	Holds any    // points to a struct: what holds where the files do not say it

	Conditions []ConditionKey // of a file
}

// ConditionKey is a key that holds a condition, and what it sees.
type ConditionKey struct {
	Key string // from the top of the file, without list indexes: experiments.when
	Env reflect.Type
}

// isFile tells a file from a key of limits.yaml.
func (s Section) isFile() bool { return path.Ext(s.Name) == ".yaml" }

// compiled is a section with values that go together: it checks them, and gives what Of finds. Values that
// could not be read have no place, and what is reported of them is dropped.
type compiled interface{ Compile(*Reader) any }

// Of is a section, by the type that its part gives it. It is the zero value in a program without the part.
func Of[T any](s *Set) *T {
	for _, each := range s.Sections {
		if of, ok := each.(*T); ok {
			return of
		}
	}
	return new(T)
}

// Reader lends a section, while it is compiled, the places of its file.
type Reader struct {
	l    *loader
	file string
}

// At is where a key of the file stands.
func (r *Reader) At(keys ...string) rulefile.Place { return r.l.placeOf(r.file, keys...) }

// Clean reports whether all of the file could be read.
func (r *Reader) Clean() bool { return r.l.clean(r.file) }

// Report adds a problem.
func (r *Reader) Report(at rulefile.Place, code, msg, hint string) { r.l.report(at, code, msg, hint) }

// IDs checks that these can be ids.
func (r *Reader) IDs(ids ...rulefile.Text) {
	for _, id := range ids {
		r.l.plainID(id)
	}
}

// Unique checks that no id stands there twice.
func (r *Reader) Unique(what string, ids []rulefile.Text) { r.l.unique(what, ids) }

// Pattern compiles a regular expression; nil: it is wrong, which is reported.
func (r *Reader) Pattern(t rulefile.Text) *regexp.Regexp { return r.l.pattern(t, "") }

// When compiles a condition; nil: there is none, or it is wrong, which is reported.
func When[E any](r *Reader, t *rulefile.Text) func(E) (bool, error) { return when[E](r.l, t, nil) }

// Unused warns of entries for which one in front of them in the same file leaves nothing. One of
// a layer in front may do that.
func Unused[T any](r *Reader, entries []T, at func(T) rulefile.Place, takesAll func(first, entry T) bool) {
	for i, entry := range entries {
		j := slices.IndexFunc(entries[:i], func(first T) bool {
			return at(first).Known() && at(first).File() == at(entry).File() && takesAll(first, entry)
		})
		if j >= 0 {
			r.l.warn(at(entry), codeUnreachable,
				fmt.Sprintf("this entry is never used, because that of line %d is for every tool",
					at(entries[j]).Line()), "move '*' behind it")
		}
	}
}

// sections takes the files of the parts, and compiles what else they read.
func (l *loader) sections() {
	for _, s := range l.Sections {
		in, of := limitsFile, l.keys[s.Name]
		if s.isFile() {
			holds := reflect.ValueOf(s.Holds).Elem()
			own := reflect.New(holds.Type())
			own.Elem().Set(holds)
			in, of = s.Name, own.Interface()
			l.decode(in, of, false)
		}
		if c, ok := of.(compiled); ok {
			of = c.Compile(&Reader{l, in})
		}
		l.set.Sections = append(l.set.Sections, of)
	}
}

// has reports whether a part reads a file or a key of limits.yaml.
func (r Loader) has(name string) bool {
	return slices.ContainsFunc(r.Sections, func(s Section) bool { return s.Name == name })
}

// limits is a struct of all keys of limits.yaml: those of the core, which are values, then those of the
// parts, by default, and those of parts that this program was built without.
func (r Loader) limits(core Limits) reflect.Value {
	var fields []reflect.StructField
	var holds []reflect.Value
	values := reflect.ValueOf(core)
	for _, f := range rulefile.Keys(values.Type()) {
		fields, holds = append(fields, f), append(holds, values.FieldByIndex(f.Index))
	}
	keys := slices.Clone(r.Sections)
	for _, part := range built.Parts() {
		for _, name := range built.Brings(part, built.Limit) {
			if !r.has(name) {
				keys = append(keys, Section{Name: name, About: built.Without(built.Limit, name),
					Holds: &rulefile.Obsolete{}})
			}
		}
	}
	for _, s := range keys {
		if v := reflect.ValueOf(s.Holds).Elem(); !s.isFile() {
			text := reflect.StructTag(fmt.Sprintf(`rule:%q doc:%q`, s.Name, s.About))
			fields, holds = append(fields, reflect.StructField{Type: v.Type(), Tag: text}), append(holds, v)
		}
	}
	out := reflect.New(rulefile.StructOf(fields)).Elem()
	for i, v := range holds {
		out.Field(i).Set(v)
	}
	return out
}

// coreOf are the limits of the core in such a struct.
func coreOf(all reflect.Value) (out Limits) {
	v := reflect.ValueOf(&out).Elem()
	for i, f := range rulefile.Keys(v.Type()) {
		v.FieldByIndex(f.Index).Set(all.Field(i))
	}
	return out
}
