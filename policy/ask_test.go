package policy

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
)

func takesAsk(tool string) bool { return tool == "exec" }

// Everything but the argument and the comment stays byte for byte, and can be taken back.
func TestWithAsk(t *testing.T) {
	const c = `  # gpt-oss-executor asks: It's \"new\". (rule x)`
	for _, row := range []struct{ tool, args, want, back string }{
		{"exec", `{"command":"ls"}`, `{"ask":"always","command":"ls` + c + `"}`, ``},
		{"exec", " {\n \"command\" : \"l\\u0073\" }", " {\"ask\":\"always\",\n \"command\" : \"l\\u0073" + c + "\" }", " {\n \"command\" : \"l\\u0073\" }"},
		{"exec", `{"command":"ls","ask":"off","n":1e999}`, `{"command":"ls` + c + `","ask":"always","n":1e999}`, `{"command":"ls","n":1e999}`},
		{"exec", `{"ask":null,"command":"pwd","command":"ls"}`, `{"ask":"always","command":"pwd","command":"ls` + c + `"}`, `{"command":"pwd","command":"ls"}`},
		{"exec", `{"command":"ls","env":{"ask":"off"}}`, `{"ask":"always","command":"ls` + c + `","env":{"ask":"off"}}`, ``},
		{"exec", `{"Ask":"off","command":"ls"}`, `{"ask":"always","Ask":"off","command":"ls` + c + `"}`, ``},
		{"exec", `{"command":"ls  # gpt-oss-executor asks: me"}`, `{"ask":"always","command":"ls  # gpt-oss-executor asks: me` + c + `"}`, ``},
		{"tool_call", `{"id":"exec","args":{"command":"ls"}}`, `{"id":"exec","args":{"ask":"always","command":"ls` + c + `"}}`, ``},
		{"tool_call", `{"toolId":" openclaw:core:exec ","args":null,"input":{"command":"ls"}}`, `{"toolId":" openclaw:core:exec ","args":null,"input":{"ask":"always","command":"ls` + c + `"}}`, ``},
		{"tool_call", `{"id":"exec","args":"{\"command\":\"ls\"}"}`, `{"id":"exec","args":"{\"ask\":\"always\",\"command\":\"ls  # gpt-oss-executor asks: It's \\\"new\\\". (rule x)\"}"}`, ``},
		{"tool_call", `{"id":"exec","command":"ls","ask":"off"}`, `{"id":"exec","command":"ls` + c + `","ask":"always"}`, `{"id":"exec","command":"ls"}`},
		{"tool_call", `{"id":"exec","args":{},"command":"ls"}`, `{"ask":"always","id":"exec","args":{},"command":"ls` + c + `"}`, ``},
		{"tool_call", `{"id":"tool_call","args":{"id":"exec","args":{"command":"ls"}}}`, `{"id":"tool_call","args":{"id":"exec","args":{"ask":"always","command":"ls` + c + `"}}}`, ``},
	} {
		got, err := WithAsk(row.tool, []byte(row.args), " It's \"new\". \n (rule\u202e x)\r", takesAsk)
		if err != nil || string(got) != row.want {
			t.Errorf("%s %s:\n%s %v, want\n%s", row.tool, row.args, got, err, row.want)
			continue
		}
		back, why := WithoutAsk(row.tool, string(got))
		if back != cmp.Or(row.back, row.args) || why != `It's "new". (rule x)` {
			t.Errorf("%s: taken back it is\n%s, because %q", got, back, why)
		}
	}
}

func TestWithAskWhereNobodyCanBeAsked(t *testing.T) {
	for _, row := range []struct{ tool, args, want string }{
		{"exec", `{"command":"cd a && ls"}`, "it changes the folder first"},
		{"tool_call", `{"id":"exec","args":{"command":"ls > x"}}`, "it redirects input or output"},
		{"exec", `{"command":""}`, "it cannot be taken apart"},
		{"exec", `{}`, errNoAsk.Error()},
		{"exec", `{"command":["ls"]}`, errNoAsk.Error()},
		{"exec", `{"command":"ls","command":null}`, errNoAsk.Error()},
		{"exec", `{"command":"ls"`, errNoAsk.Error()},
		{"exec", `[1]`, errNoAsk.Error()},
		{"tool_call", `{"id":"read","args":{"path":"a"}}`, errNoAsk.Error()},
		{"tool_call", `{"id":"exec","args":"rm x"}`, errNoAsk.Error()},
		{"tool_call", `{"args":{}}`, errNoAsk.Error()},
		{"bash", `{"command":"ls"}`, errNoAsk.Error()},
	} {
		if got, err := WithAsk(row.tool, []byte(row.args), "why", takesAsk); got != nil || err == nil ||
			err.Error() != row.want {
			t.Errorf("%s %s: %s %v", row.tool, row.args, got, err)
		}
	}
}

// What nobody has asked about stays as it is.
func TestWithoutAskOfOthers(t *testing.T) {
	for _, args := range []string{`{"ask":"always","command":"ls"}`,
		`{"command":"ls # gpt-oss-executor asks: x"}`, `{"path":"  # gpt-oss-executor asks: x"}`,
		`  # gpt-oss-executor asks: x`, `{"command":"  # gpt-oss-executor asks: `, ``} {
		if got, why := WithoutAsk("exec", args); got != args || why != "" {
			t.Errorf("%s becomes %s, because %q", args, got, why)
		}
	}
}

// Whoever runs the call reads the argument and the comment, and nothing else has changed for
// them. Taken back, nothing has changed at all.
func FuzzWithAsk(f *testing.F) {
	for _, seed := range []string{
		`{"command":"ls","ask":"off"}`, `{"command":"ls","ask":1,"a\u0073k":2}`,
		`{"id":"exec","args":{"command":"ls","ask":"off"}}`, `{"id":"exec","args":"{\"command\":\"ls\"}"}`,
		`{"id":"exec","args":{},"command":"x"}`,
		`{"id":"exec","args":" {} ","ask":"x","command":"\u00e9 # \ud800"}`,
		`{"id":"exec","input":{"command":"ls"},"args":null}`, " {\n} ", `{"command":"a\\"}`,
	} {
		f.Add(seed, "because", true)
		f.Add(seed, "a  # gpt-oss-executor asks: \n\"b\" \\", false)
	}
	f.Fuzz(func(t *testing.T, args, why string, carried bool) {
		tool := "exec"
		if carried {
			tool = "tool_call"
		}
		before, ran := runs(tool, []byte(args))
		got, err := WithAsk(tool, []byte(args), why, takesAsk)
		if !ran || err != nil {
			return // it is refused, or they are not asked like this
		}
		after, is := runs(tool, got)
		if !is || string(after["ask"]) != `"always"` {
			t.Fatalf("%s becomes %s", args, got)
		}
		var was, now string
		if json.Unmarshal(before["command"], &was) != nil || json.Unmarshal(after["command"], &now) != nil ||
			now != was+askComment+oneLine(why) {
			t.Fatalf("%q becomes %q", was, now)
		}
		back, said := WithoutAsk(tool, string(got))
		again, is := runs(tool, []byte(back))
		if !is || said != oneLine(why) {
			t.Fatalf("%s is taken back as %s, because %q", got, back, said)
		}
		delete(before, "ask")
		delete(again, "ask") // of several, one is taken back
		if a, b := encoded(before), encoded(again); a != b {
			t.Fatalf("%s becomes %s and then %s:\n%s\n%s", args, got, back, a, b)
		}
	})
}

// runs are the arguments with which exec runs, as JSON.parse gives them.
func runs(tool string, args []byte) (map[string]json.RawMessage, bool) {
	for inner, in, more := Carried(tool, args); more; inner, in, more = Carried(tool, args) {
		tool, args = inner, in
	}
	var out map[string]json.RawMessage
	if _, err := CallOf(tool, "exec", args); err != nil || tool != "exec" ||
		json.Unmarshal(args, &out) != nil {
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
