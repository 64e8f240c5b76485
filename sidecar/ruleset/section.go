package ruleset

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Section is what a part of the program reads of the rule files: its own file, or a key of limits.yaml.
type Section struct {
	Name  string // of the file, such as runs.yaml, or of the key
	About string // a sentence for operators
	Holds any    // pointer to a struct with the defaults

	Conditions []ConditionKey // of a file
}

// ConditionKey is a key with a condition, and what it sees.
type ConditionKey struct {
	Key string // from the top of the file, without list indexes: experiments.when
	Env reflect.Type
}

func (s Section) isFile() bool { return path.Ext(s.Name) == ".yaml" }

// compiled is a section whose values depend on each other: Compile checks them, and returns what Of finds.
// Problems without a place are dropped, since the value could not be read.
type compiled interface{ Compile(*Reader) any }

// Of returns a section by its type; the zero value if the program lacks the part.
func Of[T any](s *Set) *T {
	for _, each := range s.Sections {
		if of, ok := each.(*T); ok {
			return of
		}
	}
	return new(T)
}

// Reader gives a section access to its file while it is compiled.
type Reader struct {
	l    *loader
	file string
}

// At returns the place of a key of the file.
func (r *Reader) At(keys ...string) rulefile.Place { return r.l.placeOf(r.file, keys...) }

// Clean reports whether the whole file could be read.
func (r *Reader) Clean() bool { return r.l.clean(r.file) }

// Report adds a problem.
func (r *Reader) Report(at rulefile.Place, code, msg, hint string) { r.l.report(at, code, msg, hint) }

// IDs checks ids.
func (r *Reader) IDs(ids ...rulefile.Text) {
	for _, id := range ids {
		r.l.checkID(id)
	}
}

// Unique reports duplicate ids.
func (r *Reader) Unique(what string, ids []rulefile.Text) { r.l.checkUnique(what, ids) }

// Pattern compiles a regular expression; nil: it is invalid and reported.
func (r *Reader) Pattern(t rulefile.Text) *regexp.Regexp { return r.l.pattern(t, "") }

// When compiles a condition; nil: there is none, or it is invalid and reported.
func When[E any](r *Reader, t *rulefile.Text) func(E) (bool, error) { return when[E](r.l, t, nil) }

// Unused warns of entries that an earlier one in the same file makes useless. In another layer that is
// intended.
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

// sections reads the files of the parts, and compiles all sections.
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

// limits returns a struct of all keys of limits.yaml: the values of the core, then defaults of the parts, and
// keys of parts that this program was built without.
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

// coreOf returns the limits of the core in such a struct.
func coreOf(all reflect.Value) (out Limits) {
	v := reflect.ValueOf(&out).Elem()
	for i, f := range rulefile.Keys(v.Type()) {
		v.FieldByIndex(f.Index).Set(all.Field(i))
	}
	return out
}

// Vocabulary is everything that conditions may use.
type Vocabulary struct {
	Conditions []Condition `json:"conditions"`
	Functions  []cond.Word `json:"functions"`
	Operators  []cond.Word `json:"operators"`
	Limits     []string    `json:"limits"` // a sentence each
}

// Condition is a key of a rule file with a condition, and what it sees.
type Condition struct {
	File      string          `json:"file"` // strategies.yaml
	Key       string          `json:"key"`  // from the top of the file, without list indexes: strategies.when
	Variables []cond.Variable `json:"variables"`
}

// nouns name types that conditions see.
var nouns = map[reflect.Type]string{reflect.TypeFor[paths.Use](): "path", reflect.TypeFor[urls.Use](): "URL"}

var namedLists = []cond.Variable{{Name: "NAME", Type: "list of texts",
	About: "Each of the lists under lists, by its own name."}}

// conditions lists the types that conditions see, by key. Other conditions belong to sections.
var conditions = []struct {
	file, key string
	env       reflect.Type
	more      []cond.Variable
}{
	{strategiesFile, "strategies.when", reflect.TypeFor[parse.Env](), nil},
	{strategiesFile, "choose.when", reflect.TypeFor[StyleEnv](), nil},
	{anyFamilyFile, "strategies.when", reflect.TypeFor[parse.Env](), nil},
	{resultsFile, "results.formula", reflect.TypeFor[ResultEnv](), nil},
	{editsFile, "requests.when", reflect.TypeFor[prompt.RequestFacts](), nil},
	{editsFile, "results.when", reflect.TypeFor[prompt.ResultFacts](), nil},
	{execFilename, "rules.when", reflect.TypeFor[policy.Env](), namedLists},
	{pathsFilename, "rules.when", reflect.TypeFor[policy.PathEnv](), namedLists},
	{urlsFilename, "rules.when", reflect.TypeFor[policy.URLEnv](), namedLists},
}

// Vars returns the vocabulary of all conditions, in the order of the files.
func (r Loader) Vars() Vocabulary {
	v := Vocabulary{Functions: cond.Functions(), Operators: cond.Operators(),
		Limits: append(cond.Limits(),
			"A condition that fails while it runs does not hold; but in a rule that denies, it denies.")}
	for _, c := range conditions {
		v.Conditions = append(v.Conditions, Condition{c.file, c.key, append(cond.Variables(c.env, nouns),
			c.more...)})
	}
	for _, s := range r.Sections {
		for _, c := range s.Conditions {
			v.Conditions = append(v.Conditions, Condition{s.Name, c.Key, cond.Variables(c.Env, nouns)})
		}
	}
	return v
}
