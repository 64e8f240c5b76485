package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
)

// shaped fits text to a schema and returns the object, or the code of the refusal.
func shaped(schema, text string) (string, string) {
	w := shaper{ops: args.Ops(), tool: "tool", schema: NewSchemas(1).of(json.RawMessage(schema)),
		rules: testRules()}
	got, refusal := w.shape(text)
	if refusal != nil {
		return string(refusal.Code), refusal.Why
	}
	return got, kinds(w.repairs)
}

func TestShape(t *testing.T) {
	const (
		ref      = `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`
		all      = `{"allOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"required":["m"],"properties":{"m":{"type":"boolean"}}}]}`
		enum     = `{"type":"object","properties":{"mode":{"enum":["Fast","slow",7]},"kind":{"const":"A"}}}`
		union    = `{"type":"object","properties":{"v":{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"string"}},{"type":"null"}]}}}`
		nested   = `{"type":"object","properties":{"edits":{"type":"array","items":{"type":"object","properties":{"old_text":{"type":"string"}},"required":["old_text"]}}}}`
		strict   = `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
		open     = `{"type":"object","additionalProperties":{"type":"integer"},"patternProperties":{"^x":{"type":"boolean"}}}`
		others   = `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":true}`
		old      = `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"integer"}}}`
		ahead    = `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"},"n":{"type":"integer"}}}`
		nullable = `{"type":"object","required":["id","a"],"properties":{"id":{"type":"integer"},"a":{"type":"string","nullable":true},"n":{"type":"integer","minimum":1,"nullable":true},"mode":{"enum":["x"],"nullable":true},"who":{"nullable":true,"$ref":"#/$defs/P"},"list":{"type":"array","items":{"type":"object","nullable":true}},"plain":{"type":"string"}},"$defs":{"P":{"type":"object","required":["name"]}}}`
		bounded  = `{"type":"object","properties":{"max":{"type":"integer","maximum":10},"min":{"type":"number","minimum":1.5},"above":{"type":"integer","exclusiveMinimum":3},"step":{"type":"integer","multipleOf":2},"date":{"type":"string","pattern":"^\\d{4}-\\d\\d$"},"short":{"type":"string","maxLength":3},"list":{"type":"array","maxItems":2,"uniqueItems":true},"map":{"type":"object","minProperties":1},"either":{"anyOf":[{"type":"string"},{"type":"object"}]}}}`
		loop     = `{"$ref":"#"}`
		remote   = `{"$ref":"file:///etc/hostname"}`
	)
	for _, row := range []struct{ schema, text, want, note string }{
		{ref, `{"N":"5"}`, `{"n":5}`, "args.rename args.coerce"},
		{all, `{"n":"5","m":"no"}`, `{"n":5,"m":false}`, "args.coerce args.coerce"},
		{enum, `{"mode":"FAST","kind":"a"}`, `{"mode":"Fast","kind":"A"}`, "args.coerce args.coerce"},
		{enum, `{"mode":"7"}`, `{"mode":7}`, "args.coerce"},
		{enum, `{"mode":"medium"}`, `bad_schema`, `"mode" must be one of "Fast", "slow", 7`},
		{union, `{"v":"5"}`, `{"v":5}`, "args.coerce"},
		{union, `{"v":null}`, `{"v":null}`, ""},
		{union, `{"v":[1]}`, `{"v":["1"]}`, "args.coerce"},
		{nested, `{"edits":{"oldText":"a"}}`, `{"edits":[{"old_text":"a"}]}`, "args.rename args.wrap"},
		{nested, `{"edits":"[{\"old_text\":\"a\"}]"}`, `{"edits":[{"old_text":"a"}]}`, "args.decode"},
		{nested, `{"edits":[{"new":"a"}]}`, `bad_schema`, `"edits.0" needs "old_text"`},
		{strict, `{"a":"x","b":1}`, `bad_schema`, `tool has no parameter "b"; it has "a"`},
		{strict, `{"a":"x","A":"y"}`, `bad_schema`, `tool has no parameter "A"; it has "a"`},
		// a schema that does not say whether others may come
		{old, `{"N":5}`, `{"n":5}`, "args.rename"},
		{old, `{"N":5,"x":1}`, `{"n":5,"x":1}`, "args.rename"},
		{old, `{"N":5,"n":6}`, `{"N":5,"n":6}`, ""},
		{others, `{"N":5}`, `{"N":5}`, ""},
		{open, `{"a":"1","xb":"true"}`, `{"a":1,"xb":true}`, "args.coerce args.coerce"},
		{nullable, `{"id":7,"a":null,"n":null,"mode":null,"who":null,"list":[null]}`,
			`{"id":7,"a":null,"n":null,"mode":null,"who":null,"list":[null]}`, ""},
		{nullable, `{"id":null,"a":null}`, `bad_schema`, `"id" must be integer, not null`},
		// no null that was not given, and none where it is not allowed
		{nullable, `{"id":7,"a":"None","plain":null}`, `{"id":7,"a":"None"}`, "args.drop_null"},
		{bounded, `{"max":50}`, `bad_schema`, `"max" must be at most 10`},
		{bounded, `{"min":0.5}`, `bad_schema`, `"min" must be at least 1.5`},
		{bounded, `{"above":3}`, `bad_schema`, `"above" must be more than 3`},
		{bounded, `{"step":3}`, `bad_schema`, `"step" must be a multiple of 2`},
		{bounded, `{"date":"tomorrow"}`, `bad_schema`,
			`"date" must match the regular expression ^\d{4}-\d\d$`},
		{bounded, `{"short":"abcd"}`, `bad_schema`, `"short" must have at most 3 characters`},
		{bounded, `{"list":[1,1,1]}`, `bad_schema`,
			`"list" must have at most 2 elements; "list" must have no element twice`},
		{bounded, `{"map":{}}`, `bad_schema`, `"map" must have at least 1 members`},
		{bounded, `{"either":[]}`, `bad_schema`, `"either" must fit one of the schemas in its anyOf`},
		{old, `{"n":5.0}`, `{"n":5.0}`, ""},
		{ahead, `{"a":"xy","n":"1"}`, `{"a":"xy","n":1}`, "args.coerce"},
		{loop, `{"a": 1}`, `bad_schema`, `"arguments" breaks the schema`},
		{remote, `{"a": 1}`, `{"a": 1}`, ""},            // broken: as good as none
		{`{"type":"objekt"}`, `{"a":1}`, `{"a":1}`, ""}, // broken, too
		{`true`, `{"a":1}`, `{"a":1}`, ""},
		{`{"type":"object","properties":{"flag":{"type":"boolean"}}}`, `{"flag":1}`, `{"flag":true}`,
			"args.coerce"},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`,
			`{ "a" : "\u00e9\/" , "b":"1"}`, `{"a":"\u00e9\/","b":1}`, "args.coerce"},
	} {
		if got, note := shaped(row.schema, row.text); got != row.want || note != row.note {
			t.Errorf("%s for %s: got %s (%s), want %s (%s)", row.text, row.schema, got, note, row.want,
				row.note)
		}
	}
}

// TestShapeTakesLinearTime: a schema that refers to itself in many ways must not
// make a short text expensive.
func TestShapeTakesLinearTime(t *testing.T) {
	tree := `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/T"}}},"required":["a"]}}}`
	text := strings.Repeat(`{"a":[`, 60) + `"x"` + strings.Repeat(`]}`, 60)
	if got, _ := shaped(tree, text); got != "bad_schema" {
		t.Errorf("got %s", got)
	}
}

func TestSchemasIsBoundedAndShared(t *testing.T) {
	s := NewSchemas(4)
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			text := fmt.Appendf(nil, `{"type":"object","title":"%d"}`, i%8)
			if got := s.of(text); got == nil || s.of([]byte(`{"type":1}`)) != nil {
				t.Errorf("schema %d: got %v", i, got)
			}
		})
	}
	wait.Wait()
	if s.byText.Len() > 4 {
		t.Errorf("it holds %d schemas", s.byText.Len())
	}
}

// FuzzShape: what comes out is one valid JSON object that the schema accepts, and
// what the schema accepts already comes out byte for byte, but for a sign stuck to a name.
func FuzzShape(f *testing.F) {
	schemas := []string{
		string(schemaOf("command:string! limit:integer flag:boolean tags:[]string when:object")),
		string(schemaOf("text:string!")),
		`{"type":"object","properties":{"v":{"anyOf":[{"type":"integer"},{"enum":["a","B"]},{"type":"null"}]}},"additionalProperties":false}`,
	}
	for i, text := range []string{
		`{"command":"ls"}`, `{"cmd":"ls","limit":"5"}`, `"ls"`, `ls -la`, `[{"command":"x","tags":{}}]`,
		`{"v":"A"}`, `{"v":"1,000"}`,
		`{"command":"x","flag":null,"when":"{a:1}"}`, `{"text":["a"]}`, `{"limit=5","command":"x"}`,
		`{"text":"` + "\x80" + `"}`, `{"a":1,"a":2}`, `{"command":"x","limit?":1}`,
	} {
		f.Add(text, i%len(schemas))
	}
	f.Fuzz(func(t *testing.T, text string, which int) {
		s := NewSchemas(1).of([]byte(schemas[uint(which)%uint(len(schemas))]))
		w := shaper{ops: args.Ops(), tool: "tool", schema: s, rules: testRules()}
		got, refusal := w.shape(text)
		trimmed := strings.TrimSpace(text)
		whole := json.Valid([]byte(trimmed)) && strings.HasPrefix(trimmed, "{") &&
			s.Accepts(trimmed) && w.keysExact(trimmed, s)
		switch {
		case refusal != nil && !whole:
			return
		case refusal != nil || whole && got != trimmed:
			t.Errorf("valid %q became %q (%v)", trimmed, got, refusal)
		case !json.Valid([]byte(got)) || got[0] != '{' || !s.Accepts(got):
			t.Errorf("%q became %q, which the schema refuses", text, got)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	c := catalogOf(execTool, readTool, noteTool)
	for _, row := range []struct{ name, tool, args string }{
		{"clean", "exec", `{"command":"ls -la /tmp && cat notes.txt","workdir":"/home/user","timeout":60}`},
		{"clean-64KB", "note", `{"text":"` + strings.Repeat("0123456789abcde ", 4096) + `"}`},
		{"renamed", "functions.exec", `{"cmd":"ls -la","timeout":"60"}`},
		{"refused", "exec", `{"cmdline":"ls -la"}`},
		{"comma", "exec", `{"command":"ls -la","timeout":60,}`},
		{"quotes", "exec", `{'command':'ls -la','timeout':60}`},
		{"fence", "exec", "```json\n{\"command\":\"ls -la\"}\n```"},
		{"prose", "exec", `Sorry, I cannot list the files in this folder, since nobody told me where it is.`},
		{"guess", "note", `{"text":"` + strings.Repeat(`say "hi" to them, `, 200) + `}`},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(row.args)))
			for b.Loop() {
				c.Call(row.tool, []byte(row.args), closed)
			}
		})
	}
}
