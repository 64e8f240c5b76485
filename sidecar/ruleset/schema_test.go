package ruleset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// configText is a config file with every key.
const configText = `listen: 127.0.0.1:8001
upstream: http://gpu.lan:8000/v1
upstream_key: a key
server: vllm
rules: /etc/gpt-oss-executor/rules
token: a token
log_level: info
log_format: text
`

// FreshSchemas checks that what is committed is what the types say.
func FreshSchemas(t *testing.T, parts ...any) {
	t.Helper()
	const folder = "../../schemas"
	all, err := Schemas(parts...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		if *update {
			if err := os.WriteFile(filepath.Join(folder, name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != string(want) {
			t.Errorf("schemas/%s is stale; run: make schemas (%v)", name, err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(all) {
		t.Errorf("%d files in schemas, want %d (%v)", len(entries), len(all), err)
	}
}

// TestShippedFilesFitTheirSchemas: the first line of each tells an editor which one
// that is.
func TestShippedFilesFitTheirSchemas(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for file, s := range compiledSchemas(t) {
		schemas[schemaName(file)] = s
	}
	if err := schemas[schemaName(configFile)].Validate(rulefile.JSON(configText)); err != nil {
		t.Error(err)
	}
	for name, doc := range builtin(t) {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		line, _, _ := strings.Cut(doc, "\n")
		schema, ok := strings.CutPrefix(line, "# yaml-language-server: $schema="+strings.Repeat("../",
			1+strings.Count(name, "/"))+"schemas/")
		if !ok || schemas[schema] == nil {
			t.Errorf("%s begins with %q, which names no schema", name, line)
		} else if err := schemas[schema].Validate(rulefile.JSON(doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if filepath.Dir(name) == "." && schema != schemaName(name) {
			t.Errorf("%s has the schema %s", name, schema)
		}
	}
}

// TestEveryKeyIsDescribed: each key has a sentence, and an example that can be
// read; each condition says what it sees.
func TestEveryKeyIsDescribed(t *testing.T) {
	conditionsSeen := 0
	var walk func(t reflect.Type, file, path string)
	walk = func(typ reflect.Type, file, path string) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if rulefile.IsPair(typ) {
			walk(typ.Field(1).Type, file, path+".*")
			return
		}
		if typ.Kind() != reflect.Struct || strings.Count(path, ".*.") > 3 { // a row holds rows
			return
		}
		for _, f := range rulefile.Keys(typ) {
			key, _ := rulefile.KeyOf(f)
			at := strings.TrimPrefix(path+"."+key, ".")
			if doc := f.Tag.Get("doc"); !strings.HasSuffix(doc, ".") && !strings.HasSuffix(doc, "?") {
				t.Errorf("%s: %s is not described: %q", file, at, doc)
			}
			if eg := f.Tag.Get("eg"); eg != "" {
				tryExample(t, f, eg)
			}
			if isCondition := key == "when" || key == "formula"; isCondition != (sees(file, at) != "") {
				t.Errorf("%s: %s is a condition, or not: see the table in vocabulary.go", file, at)
			}
			if key == "when" || key == "formula" {
				conditionsSeen++
			}
			walk(f.Type, file, at)
		}
	}
	for _, d := range described() {
		walk(d.holds, d.file, "")
	}
	if n := len(Full.Vars().Conditions); conditionsSeen != n {
		t.Errorf("%d conditions in the files, %d in the vocabulary", conditionsSeen, n)
	}
}

// tryExample decodes an example as the value of its field.
func tryExample(t *testing.T, f reflect.StructField, eg string) {
	key, _ := rulefile.KeyOf(f)
	holder := reflect.New(reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}}))
	example := rulefile.ReadTree(rulefile.Files{"example": key + ": " + eg}, "example", Full.shape())
	if problems := example.Decode(holder.Interface(), false); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestPatterns: an editor takes the durations and sizes that the decoder takes.
func TestPatterns(t *testing.T) {
	var holder struct {
		D time.Duration `rule:"d"`
		S rulefile.Size `rule:"s"`
	}
	w := schemaWriter{definitions: map[string]*schema{}}
	typ := reflect.TypeOf(holder)
	root := &schema{Draft: schemaDraft, Type: "object", Definitions: w.definitions, Properties: properties{
		{"d", w.value(typ.Field(0).Type, "", "", false)}, {"s", w.value(typ.Field(1).Type, "", "", false)},
	}}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	s := compileSchema(t, string(text))
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.StringMatching(`[-+]?([0-9.]{0,3}(n|u|µ|m)?[smhd]?){1,3}`).Draw(t, "duration")
		parsed, err := time.ParseDuration(d)
		// overflow, which a schema does not know
		if long := regexp.MustCompile(`\d{7}`).MatchString(d); long {
			return
		}
		if takes := err == nil && parsed >= 0; takes != (s.Validate(map[string]any{"d": d}) == nil) &&
			!strings.HasPrefix(d, "-") {
			t.Errorf("duration %q: %v", d, err)
		}
		b := rapid.StringMatching(`-?[0-9.]{0,3}[ kKMGT]?i?B?`).Draw(t, "size")
		_, problems := rulefile.Decode[struct {
			S rulefile.Size `rule:"s"`
		}]("sizes", `s: "`+b+`"`)
		if takes := len(problems) == 0; takes != (s.Validate(map[string]any{"s": b}) == nil) {
			t.Errorf("size %q: %v", b, takes)
		}
	})
}

// compiledSchemas are the schemas by the file that they are for.
func compiledSchemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	all, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for _, d := range described() {
		out[d.file] = compileSchema(t, string(all[schemaName(d.file)]))
	}
	return out
}

func compileSchema(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///a.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///a.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
