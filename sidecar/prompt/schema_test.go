package prompt_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A reply under the schema is calls of the offered tools, or an answer, and nothing else.
func TestSchema(t *testing.T) {
	offered := prompt.Offered(request(t, user))
	const (
		read   = `{"reasoning":"r","tool_calls":[{"name":"read","arguments":{"path":"a"}}],"done":false}`
		both   = `{"reasoning":"r","tool_calls":[{"name":"read","arguments":{"path":"a"}},{"name":"now","arguments":{}}],"done":false}`
		answer = `{"reasoning":"r","tool_calls":[],"done":true,"answer":"a"}`
	)
	for _, row := range []struct {
		name  string
		bound prompt.Bound
		reply string
		fits  bool
	}{
		{"a call", prompt.Bound{}, read, true},
		{"an answer", prompt.Bound{}, answer, true},
		{"two calls", prompt.Bound{}, both, false},
		{"two calls, where several may come", prompt.Bound{Several: true}, both, true},
		{"an answer, where a call must come", prompt.Bound{Must: true}, answer, false},
		{"another tool than the one that must be called", prompt.Bound{Must: true, Only: "now"}, read, false},
		{"a tool that is not offered", prompt.Bound{}, `{"reasoning":"r","tool_calls":[{"name":"exec","arguments":{}}],"done":false}`, false},
		{"an argument of another type", prompt.Bound{}, `{"reasoning":"r","tool_calls":[{"name":"read","arguments":{"path":1}}],"done":false}`, false},
		{"an argument that is missing", prompt.Bound{}, `{"reasoning":"r","tool_calls":[{"name":"read","arguments":{}}],"done":false}`, false},
		{"neither a call nor an answer", prompt.Bound{}, `{"reasoning":"r","tool_calls":[],"done":false}`, false},
		{"words", prompt.Bound{}, `"hello"`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			schema, err := tools.CompileSchema(prompt.Schema(offered, row.bound))
			if err != nil {
				t.Fatal(err)
			}
			if fits := schema.Accepts(row.reply); fits != row.fits {
				t.Errorf("fits %v: %s", fits, row.reply)
			}
		})
	}
}

// What not every server knows is left out, and nothing refers to what is not there.
func TestPlainSchema(t *testing.T) {
	for given, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^x","minLength":2,"description":"d"}},"$schema":"s"}`: `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}},"additionalProperties":false}`:     `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`:                           `{"type":"object","properties":{"a":{}}}`,
		`{"$ref":"#/$defs/x"}`: `{"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`:       `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,2]}}}}`: `{"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,2]}}}}`,
		`null`: `{"type":"object","properties":{}}`,
	} {
		q, err := openai.ParseRequest([]byte(`{"messages":[` + user +
			`],"tools":[{"type":"function","function":{"name":"f","parameters":` + given + `}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		schema := string(prompt.Schema(prompt.Offered(q), prompt.Bound{Must: true}))
		_, behind, _ := strings.Cut(schema, `"arguments":`)
		if got, _, _ := strings.Cut(behind, `},"required":["name","arguments"]`); got != want {
			t.Errorf("%s\n%s, not\n%s", given, got, want)
		}
	}
}
