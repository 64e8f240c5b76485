package ruleset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/programs"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// schema is a JSON Schema of draft-07, as far as rule files need it.
type schema struct {
	Draft       string   `json:"$schema,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Ref         string   `json:"$ref,omitempty"` // what stands beside it is for people
	Type        any      `json:"type,omitempty"` // a word or a list of words
	Const       string   `json:"const,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	PatternHint string   `json:"patternErrorMessage,omitempty"` // what yaml-language-server says
	MinLength   int      `json:"minLength,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Examples    []any    `json:"examples,omitempty"`
	Deprecated  bool     `json:"deprecated,omitempty"`

	Items        *schema            `json:"items,omitempty"`
	Properties   properties         `json:"properties,omitempty"`
	Additional   any                `json:"additionalProperties,omitempty"` // false or a *schema
	Required     []string           `json:"required,omitempty"`
	Dependencies map[string]*schema `json:"dependencies,omitempty"`
	AllOf        []*schema          `json:"allOf,omitempty"`
	AnyOf        []*schema          `json:"anyOf,omitempty"`
	OneOf        []*schema          `json:"oneOf,omitempty"`
	If           *schema            `json:"if,omitempty"`
	Then         *schema            `json:"then,omitempty"`
	Else         *schema            `json:"else,omitempty"`
	Definitions  map[string]*schema `json:"definitions,omitempty"`
}

const (
	schemaDraft = "http://json-schema.org/draft-07/schema#"
	definitions = "#/definitions/"
	// the file of serve --config, whatever its name is
	configFile     = "config.yaml"
	anyTestFile    = rulefile.TestFolder + "/replies.yaml"  // stands for all of its folder
	anyAgentFile   = rulefile.AgentFolder + "/generic.yaml" // stands for all of its folder
	anyProgramFile = rulefile.ProgramFolder + "/files.yaml" // stands for all of its folder
	includeAbout   = "Files whose rules come first: packs/NAME.yaml of this folder, or builtin/NAME.yaml, the one the program ships."
	durationMatch  = `^\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$`
	sizeMatch      = `^\d+(KiB|MiB|GiB)?$`
)

// description is a file that has a schema, and what it is for.
type description struct {
	file, about string
	holds       reflect.Type
}

// described are those of the core and of all parts.
func described() []description {
	out, limits := slices.Clone(coreFiles), Full.limits(Limits{}).Type()
	for _, s := range Full.Sections {
		if s.isFile() {
			out = append(out, description{s.Name, s.About, reflect.TypeOf(s.Holds).Elem()})
		}
	}
	for i := range out {
		if path.Base(out[i].file) == limitsFile {
			out[i].holds = limits
		}
	}
	return out
}

var coreFiles = []description{
	{strategiesFile, "How a reply of the model becomes tool calls and text.", reflect.TypeFor[strategyFile]()},
	{aliasesFile, "The names that models use for tools, and the tool that is meant.", reflect.TypeFor[aliasFile]()},
	{argumentsFile, "What tools do, the names of their arguments, and the prose that asks for them.", reflect.TypeFor[argumentFile]()},
	{limitsFile, "How much, how long and how often.", nil},
	{serversFile, "The dialects of gpt-oss servers, and what their errors mean.", reflect.TypeFor[serverFile]()},
	{modelsFile, "The model ids that callers see.", reflect.TypeFor[modelFile]()},
	{recoveryFile, "What is done when the model slips or the model server fails.", reflect.TypeFor[recoveryDoc]()},
	{resultsFile, "How much of a tool's result the model reads.", reflect.TypeFor[resultsDoc]()},
	{editsFile, "What the model reads of requests and results.", reflect.TypeFor[prompt.EditsFile]()},
	{evidenceFile, "Whether a text that looks like a call is meant as one.", reflect.TypeFor[evidenceDoc]()},
	{referencesFile, "Arguments that stand for something said earlier in a run.", reflect.TypeFor[referencesDoc]()},
	{execFilename, "Which calls may leave, and which commands may run.", reflect.TypeFor[execFile]()},
	{pathsFilename, "Which files and folders calls and commands may touch.", reflect.TypeFor[pathsFile]()},
	{urlsFilename, "Which URLs calls and commands may fetch.", reflect.TypeFor[urlsFile]()},
	{anyProgramFile, "What programs do with their arguments.", reflect.TypeFor[programs.File]()},
	{anyAgentFile, "A program that sends requests and runs the calls: how it is known, where it works, who asks.", reflect.TypeFor[agentFile]()},
	{anyFamilyFile, "A family of models: how its models are known, and how they write calls and thoughts.", reflect.TypeFor[familyFile]()},
	{anyTestFile, "Replies, and what all rules together make of them. They run at every load.", reflect.TypeFor[testFile]()},
	{lockedName(strategiesFile), "Locked folder: which strategies may be enabled, whatever strategies.yaml says.", reflect.TypeFor[lockedStrategies]()},
	{lockedName(argumentsFile), "Locked folder: what tools do at least, whatever arguments.yaml says.", reflect.TypeFor[lockedArguments]()},
	{lockedName(limitsFile), "Locked folder: ceilings of limits.yaml. Write down those that matter.", nil},
	{configFile, "The settings of gpt-oss-executor serve --config FILE. In a text, ${NAME} is an environment variable.", reflect.TypeFor[config.Settings]()},
}

// Schemas gives the JSON Schemas (draft-07) of all rule files and of the config
// file, as text: "strategies.schema.json" → {…}. They are written from the types
// that the files are decoded into, and are the same in every run.
// Parts have settings in the config file, too: each is a pointer to a struct.
func Schemas(parts ...any) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, d := range described() {
		if d.file == configFile {
			d.holds = settingsType(parts)
		}
		var doc bytes.Buffer
		enc := json.NewEncoder(&doc)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(fileSchema(d.file, d.about, d.holds)); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", d.file, err)
		}
		out[schemaName(d.file)] = doc.Bytes()
	}
	return out, nil
}

// settingsType holds the settings of core and parts.
func settingsType(parts []any) reflect.Type {
	var keys []reflect.StructField
	for _, of := range append([]any{&config.Settings{}}, parts...) {
		keys = append(keys, rulefile.Keys(reflect.TypeOf(of).Elem())...)
	}
	return rulefile.StructOf(keys)
}

// schemaName names the schema of a file, or of all files of a folder.
func schemaName(file string) string {
	if name, isLocked := strings.CutPrefix(file, rulefile.PolicyFolder+"/"); isLocked {
		return rulefile.PolicyFolder + "-" + schemaName(name)
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "/")
	return name + ".schema.json"
}

// fileSchema is the schema of one file. A rule file that includes others says
// only what is different, so almost nothing is required of it.
func fileSchema(file, about string, holds reflect.Type) *schema {
	w := schemaWriter{file: file, definitions: map[string]*schema{}}
	root := &schema{If: &schema{Required: []string{rulefile.IncludeKey}}}
	switch file {
	case configFile:
		root = w.object(holds, "", false)
	case lockedName(limitsFile):
		root = w.root(holds, true)
	default:
		root.Then, root.Else = w.root(holds, true), w.root(holds, false)
	}
	root.Draft, root.Title, root.Description, root.Definitions = schemaDraft, file, about, w.definitions
	return root
}

// root is the schema of a rule file, with the key that the decoder takes out
// before it looks at the rest.
func (w *schemaWriter) root(holds reflect.Type, partial bool) *schema {
	ref := w.defined(holds, "", partial)
	s := w.definitions[strings.TrimPrefix(ref.Ref, definitions)]
	s.Properties = append(s.Properties, property{rulefile.IncludeKey, &schema{
		Description: includeAbout, Type: "array",
		Items: &schema{Type: "string", Examples: []any{rulefile.BuiltinFolder + "/" + w.file}},
	}})
	return ref
}

// properties are the keys of a mapping, in the order in which editors offer them.
type properties []property

type property struct {
	key string
	*schema
}

// get gives what is said about a key; nil for nothing.
func (p properties) get(key string) *schema {
	for _, one := range p {
		if one.key == key {
			return one.schema
		}
	}
	return nil
}

// MarshalJSON writes an object, and keeps the order.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, one := range p {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(one.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(one.schema); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
