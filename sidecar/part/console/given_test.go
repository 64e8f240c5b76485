package console

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Whatever a person has at hand becomes a reply.
func TestGiven(t *testing.T) {
	rules, _ := inForce(t)
	for _, row := range []struct {
		name  string
		given Given
		call  string
		text  string
	}{
		{"text", Given{Text: "Hello."}, "", "Hello."},
		{"a completion", Given{Text: `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"finish_reason":"tool_calls"}]}`}, `read {"path":"a"}`, ""},
		{"a stream", Given{Text: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo.\"}}]}\n\ndata: [DONE]\n"}, "", "Hello."},
		{"calls alone", Given{Calls: `[{"name":"read","arguments":{"path":"a"}}]`}, `read {"path":"a"}`, ""},
		{"one call", Given{Calls: `{"name":"read","arguments":"{\"path\":\"a\"}"}`}, `read {"path":"a"}`, ""},
		{"a message with calls", Given{Calls: `{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}`}, `read {"path":"a"}`, ""},
		{"thoughts", Given{Reasoning: "Hm.", Text: "Hello."}, "", "Hello."},
		{"plain", Given{Text: `{"content":"inner"}`, Plain: true, Reasoning: "x"}, "", `{"content":"inner"}`},
	} {
		s := read(t, rules.Set(), row.given)
		var got string
		if len(s.Tree.Calls) > 0 {
			got = words(s.Tree.Calls[0])
		}
		if got != row.call || s.Made.Content != row.text {
			t.Errorf("%s: %q and %q", row.name, got, s.Made.Content)
		}
	}
	for _, bad := range []string{`[{"name":`, `"x"`, `[1]`, `{"tool_calls":5}`} {
		if _, err := (&Given{Calls: bad}).Record(); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if !(&Given{Text: " \n"}).Empty() || (&Given{Calls: "[]"}).Empty() {
		t.Error("what is empty is not")
	}
}

func TestTools(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", "exec, read\nwrite": `["exec","read","write"]`,
		`["exec",{"name":"read"}]`: `["exec",{"name":"read"}]`, `a"b`: `["a\"b"]`,
	} {
		list, err := Tools(text)
		ruletest.Must(t, err)
		if got, _ := json.Marshal(list); string(got) != want {
			t.Errorf("%q gives %s", text, got)
		}
	}
	for _, bad := range []string{`[x`, `{"name":"exec"}`} {
		if _, err := Tools(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestAlias(t *testing.T) {
	for _, row := range []struct{ text, tool, name, want string }{
		{"tools:\n  read: [cat]\n", "read", "x", "tools:\n  read: [x, cat]\n"},
		{"tools:\n  read: []\n", "read", "x", "tools:\n  read: [x]\n"},
		{"tools:\n    read: [cat]", "exec", "x y", "tools:\n    read: [cat]\n    exec: [x y]"},
		{"tools:\n  # none yet\nhit: []\n", "exec", "no", "tools:\n  exec: [\"no\"]\n  # none yet\nhit: []\n"},
		{"tools:\n  \"read\": [cat] # hm\nmiss:\n  read: [x]\n", "read", "z", "tools:\n  \"read\": [z, cat] # hm\nmiss:\n  read: [x]\n"},
		{"version: 1\n", "read", "x", "version: 1\n"},
		{"tools: {}\n", "read", "x", "tools: {read: [x]}\n"},
		{"tools: {exec: [bash]}\n", "exec", "x", "tools: {exec: [x, bash]}\n"},
		{"tools: {exec: [bash]}\n", "read", "x", "tools: {exec: [bash], read: [x]}\n"},
		{"tools:\n  read:\n    # usual\n    - cat # hm\n  exec: [sh]\n", "read", "x", "tools:\n  read:\n    # usual\n    - cat # hm\n    - x\n  exec: [sh]\n"},
		{"tools: # names\n  read: [cat]\n", "read", "x", "tools: # names\n  read: [x, cat]\n"},
		{"tools: # names\n\n# more\nmiss: []\n", "read", "x", "tools: # names\n  read: [x]\n\n# more\nmiss: []\n"},
		{"tools:\n  read:\n  - cat\n\n# more\nmiss: []\n", "exec", "x", "tools:\n  read:\n  - cat\n  exec: [x]\n\n# more\nmiss: []\n"},
		{"tools:\n  read: [\n    cat,\n  ]\n", "read", "x", "tools:\n  read: [\n    x, cat,\n  ]\n"},
		{"tools:\n  read: &a [cat]\n", "read", "x", "tools:\n  read: &a [x, cat]\n"},
		{"tools:\n  read: # why\n    [cat]\n", "read", "x", "tools:\n  read: # why\n    [x, cat]\n"},
		{"tools:\n  exec: &a [sh]\n  read: *a\n", "read", "x", "tools:\n  exec: &a [sh]\n  read: *a\n"},
		{"tools:\n  read: cat\n", "read", "x", "tools:\n  read: cat\n"},
		{"tools: [\n", "read", "x", "tools: [\n"},
	} {
		if got, line := Alias(row.text, row.tool, row.name); got != row.want ||
			(line == 0) != (row.text == row.want) {
			t.Errorf("%q: %q, line %d", row.text, got, line)
		}
	}
}

// Whatever name a model has made up and whatever a tool is called, the shipped file stays YAML
// that means what it says.
func FuzzAlias(f *testing.F) {
	rules, _ := inForce(f)
	own := rules.Merged(nil)
	f.Add("read", "send_fax")
	f.Add("new tool", "a: [b]\n- c #")
	f.Add("true", "\u2028\u0085\x00\xff")
	f.Fuzz(func(t *testing.T, tool, name string) {
		text, line := Alias(own[aliasFile], tool, name)
		if line == 0 {
			t.Fatalf("%q is put nowhere", name)
		}
		if lines := strings.Split(text, "\n"); line > len(lines) {
			t.Fatalf("line %d of %d", line, len(lines))
		}
		files := rulefile.Files{aliasFile: text}
		if _, problems := ruletest.Loader().Load(files); problems.Fatal() {
			for _, p := range problems {
				if p.File == aliasFile && p.Code == rulefile.CodeYAML && strings.ToValidUTF8(tool+name,
					"") == tool+name {
					t.Errorf("%q for %q: %v", name, tool, p)
				}
			}
		}
	})
}

// Nothing that is pasted is more than an error.
func FuzzGiven(f *testing.F) {
	f.Add("Hello.", "", `[{"name":"read","arguments":{}}]`, "exec read")
	f.Add(`{"choices":[{}]}`, "x", `{"tool_calls":null}`, `[{"name":"x"}]`)
	f.Add("data: x", "", "", "{")
	f.Fuzz(func(t *testing.T, text, thought, calls, list string) {
		g := Given{Text: text, Reasoning: thought, Calls: calls}
		if rec, err := g.Record(); err == nil && rec == nil {
			t.Fatal("neither a record nor an error")
		}
		offered, err := Tools(list)
		if err == nil && offered == nil {
			t.Fatal("no list means that nobody knows")
		}
	})
}
