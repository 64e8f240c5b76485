package ruleset

import (
	"reflect"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
)

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
