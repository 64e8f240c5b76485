package tools

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// What stands around arguments is taken off, whatever it is and in whatever order, if what remains is
// certain. A word that may deny the call stays.
func TestCallInAFrame(t *testing.T) {
	for _, row := range []struct{ tool, args, want string }{
		{execTool, `{"command"="ls"}}`, `exec {"command":"ls"}`},
		{execTool, `{command: "ls", timeout: 5}}`, `exec {"command":"ls","timeout":5}`},
		{execTool, `{}{"command":"ls"}`, `exec {"command":"ls"}`},
		{execTool, `{"command":"rm -r a"}{"command":"ls"}`, `bad_json`},
		{execTool, `arguments: ｛"command"："ls"｝`, `exec {"command":"ls"}`},
		{execTool, `彩票{"command":"ls"}`, `exec {"command":"ls"}`},
		{execTool, `｛"command"："ls"｝<|call|`, `exec {"command":"ls"}`},
		{execTool, `"{\"command\":\"ls\"}"}`, `exec {"command":"ls"}`},
		{execTool, `="{"command":"ls"}"}`, `exec {"command":"ls"}`},
		{execTool, `Running tests numerusformassistant to=functions.exec json{"command":"ls"}`,
			`exec {"command":"ls"}`},
		{execTool, `Running tests. assistant to=functions.read json{"command":"ls"}`, `bad_json`},
		{execTool, `see to=functions.exec, as in {"command":"ls"}`, `bad_json`},
		{execTool, `never: {"command":"ls"}}`, `bad_json`},
		{execTool, `不要执行这个命令 我不会 做 {"command":"ls"}}`, `bad_json`}, // a sentence
		{execTool, `{"command":"ls}}`, `bad_json`},
		{execTool, `{"command":"ls"`, `exec {"command":"ls"}`},
		{readTool, `We need to look at it.{"path":"a"}`, `read {"path":"a"}`},
		{findTool, `аргументы: {"query":"tide"}`, `search {"query":"tide"}`},
		{findTool, `】【{"query":"tide"}`, `search {"query":"tide"}`},
		{findTool, `tide table`, `search {"query":"tide table"}`},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		if got, _ := call(catalogOf(row.tool), name, row.args, closed); got != row.want {
			t.Errorf("%s: got %s, want %s", row.args, got, row.want)
		}
	}
}

// Up to three frames around an object change nothing: what is read is the object, or nothing is.
func TestFramesCompose(t *testing.T) {
	frames := map[string]func(string) string{
		"label":   func(s string) string { return "arguments: " + s },
		"equals":  func(s string) string { return "json =" + s },
		"debris":  func(s string) string { return "天天" + s },
		"brace":   func(s string) string { return s + "}" },
		"token":   func(s string) string { return s + "<|call|>commentary" },
		"twice":   func(s string) string { return s + s },
		"quotes":  func(s string) string { return `"` + s + `"` },
		"hollow":  func(s string) string { return "{}" + s },
		"encoded": jsontext.Quote, "fence": func(s string) string { return "```json\n" + s + "\n```" },
		"wide": func(s string) string {
			return strings.TrimSuffix(strings.Replace(s, "{", "｛", 1), "}") + "｝"
		}, "marks": func(s string) string { return "<unk>" + s + "<unk>" },
	}
	var names []string
	for name := range frames {
		names = append(names, name)
	}
	values := []string{"ls -la", `grep -c "a" f`, "a}", "{x}", "it's", "first\nsecond", "größe", `C:\dir`, "",
		"arguments: x", "<|call|>"}
	rnd := rand.New(rand.NewPCG(4, 7))
	c := catalogOf(execTool, findTool)
	read, all := 0, 0
	for range 20000 {
		tool, param := "exec", "command"
		if rnd.IntN(2) == 0 {
			tool, param = "search", "query"
		}
		value := values[rnd.IntN(len(values))]
		object := "{" + jsontext.Quote(param) + ":" + jsontext.Quote(value) + "}"
		text, by := object, ""
		for range 1 + rnd.IntN(3) {
			name := names[rnd.IntN(len(names))]
			text, by = frames[name](text), by+" "+name
		}
		all++
		got, refusal := c.Call(tool, []byte(text), closed)
		if refusal != nil {
			continue
		}
		var args map[string]any
		if err := json.Unmarshal(got.Arguments, &args); err != nil {
			t.Fatal(err)
		}
		if read++; args[param] != value && tool == "exec" {
			t.Errorf("%s in%s: %s is read as %s", object, by, text, got.Arguments)
		}
	}
	if read < all/3 {
		t.Errorf("%d of %d are read", read, all)
	}
	t.Logf("%d of %d are read", read, all)
}
