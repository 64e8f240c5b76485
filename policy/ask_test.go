package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

func takesAsk(tool string) bool { return tool == "exec" }

// Everything but the argument stays byte for byte.
func TestWithAsk(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"exec", `{"command":"ls"}`, `{"ask":"always","command":"ls"}`},
		{"exec", " {\n \"command\" : \"l\\u0073\" }", " {\"ask\":\"always\",\n \"command\" : \"l\\u0073\" }"},
		{"exec", `{}`, `{"ask":"always"}`},
		{"exec", `{"command":"ls","ask":"off","n":1e999}`, `{"command":"ls","ask":"always","n":1e999}`},
		{"exec", `{"ask":null,"ask":{"a":["off"]},"command":"ls","a\u0073k":"on-miss"}`, `{"ask":"always","ask":"always","command":"ls","a\u0073k":"always"}`},
		{"exec", `{"command":"ls","env":{"ask":"off"}}`, `{"ask":"always","command":"ls","env":{"ask":"off"}}`},
		{"exec", `{"Ask":"off","command":"ls"}`, `{"ask":"always","Ask":"off","command":"ls"}`},
		{"tool_call", `{"id":"exec","args":{"command":"ls"}}`, `{"id":"exec","args":{"ask":"always","command":"ls"}}`},
		{"tool_call", `{"id":"exec","args":{"command":"pwd"},"args":{"ask":"off","command":"ls"}}`, `{"id":"exec","args":{"command":"pwd"},"args":{"ask":"always","command":"ls"}}`},
		{"tool_call", `{"toolId":" openclaw:core:exec ","args":null,"input":{"command":"ls"}}`, `{"toolId":" openclaw:core:exec ","args":null,"input":{"ask":"always","command":"ls"}}`},
		{"tool_call", `{"id":"exec","args":"{\"command\":\"ls\"}"}`, `{"id":"exec","args":"{\"ask\":\"always\",\"command\":\"ls\"}"}`},
		{"tool_call", `{"id":"exec","command":"ls","ask":"off"}`, `{"id":"exec","command":"ls","ask":"always"}`},
		{"tool_call", `{"id":"exec","args":{},"command":"ls"}`, `{"ask":"always","id":"exec","args":{},"command":"ls"}`},
		{"tool_call", `{"id":"tool_call","args":{"id":"exec","args":{"command":"ls"}}}`, `{"id":"tool_call","args":{"id":"exec","args":{"ask":"always","command":"ls"}}}`},
		{"tool_call", `{"id":"read","args":{"path":"a"}}`, ""},
		{"tool_call", `{"id":"exec","args":"rm x"}`, ""},
		{"tool_call", `{"args":{}}`, ""},
		{"write", `{"path":"a"}`, ""},
		{"exec", `[1]`, ""},
	} {
		got, ok := WithAsk(c.tool, []byte(c.args), takesAsk)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s %s:\n%s %v, want\n%s", c.tool, c.args, got, ok, c.want)
		}
	}
}

// Whoever runs the call reads the argument, and nothing else has changed for them.
func FuzzWithAsk(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls","ask":"off"}`, `{"ask":1,"a\u0073k":2}`, `{"id":"exec","args":{"ask":"off"}}`, `{"id":"exec","args":"{\"command\":\"ls\"}"}`,
		`{"id":"exec","args":{},"command":"x"}`, `{"id":"exec","args":" {} ","ask":"x"}`, `{"id":"exec","input":{"command":"ls"},"args":null}`, " {\n} ",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, args string, carried bool) {
		tool := "exec"
		if carried {
			tool = "tool_call"
		}
		before, ran := runs(tool, []byte(args))
		got, ok := WithAsk(tool, []byte(args), takesAsk)
		if !ran {
			return // it is refused before anybody is asked
		}
		after, is := runs(tool, got)
		if !ok || !is || string(after["ask"]) != `"always"` {
			t.Fatalf("%s becomes %s", args, got)
		}
		delete(before, "ask")
		delete(after, "ask")
		if a, b := encoded(before), encoded(after); a != b {
			t.Fatalf("%s becomes %s:\n%s\n%s", args, got, a, b)
		}
	})
}

// runs are the arguments with which exec runs, as JSON.parse gives them.
func runs(tool string, args []byte) (map[string]json.RawMessage, bool) {
	for inner, in, more := Carried(tool, args); more; inner, in, more = Carried(tool, args) {
		tool, args = inner, in
	}
	var out map[string]json.RawMessage
	if _, err := CallOf(tool, "exec", args); err != nil || tool != "exec" || json.Unmarshal(args, &out) != nil {
		return nil, false
	}
	return out, true
}

func encoded(m map[string]json.RawMessage) string {
	b, err := json.Marshal(m)
	if err != nil {
		return strings.Repeat("!", 3) + err.Error()
	}
	return string(b)
}
