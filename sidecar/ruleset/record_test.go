package ruleset

import (
	"maps"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// recorded reads a reply with the shipped rules and writes it down as a test.
func recorded(t *testing.T, set *Set, file string, d parse.Delta, finish string,
	offered []tools.Tool) string {
	t.Helper()
	c := tools.OpenCatalog(set.Tools)
	if offered != nil {
		c = tools.NewCatalog(set.Tools, nil, offered)
	}
	r := set.Strategies(DefaultProfile).Reader(c, set.Facts("", "", ""))
	r.Feed(d)
	reading, _ := r.Close(finish)
	out, err := AppendTest(file, Recording{Name: "as it is today", Reply: d, Finish: finish, Tools: offered,
		Reading: reading})
	check(t, err)
	return out
}

func TestAppendTest(t *testing.T) {
	set := loaded(t)
	got := recorded(t, set, "", parse.Delta{Reasoning: "Hm: #1",
		Content: "<|channel|>commentary to=functions.bash<|message|>{\"cmd\": \"ls\"}<|call|>"}, "stop",
		[]tools.Tool{{Name: "exec",
			Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}})
	want := `# yaml-language-server: $schema=../schemas/tests.schema.json
version: 1

tests:
  - name: as it is today
    reply:
      content: "<|channel|>commentary to=functions.bash<|message|>{\"cmd\": \"ls\"}<|call|>"
      reasoning: "Hm: #1"
    tools: [exec]
    parameters:
      exec: {properties: {command: {type: string}}, required: [command], type: object}
    gives:
      - {tool: exec, args: {command: ls}}
    by: harmony
    shows: ""
    thinks: "Hm: #1"
`
	if got != want {
		t.Errorf("wrote\n%s", got)
	}
	twice := recorded(t, set, got, parse.Delta{Calls: []parse.CallDelta{{Name: "re", Arguments: []byte("{")},
		{Name: "ad", Arguments: []byte("}")}}}, "tool_calls", nil)
	if !strings.HasPrefix(twice, want+"\n  - name:") ||
		!strings.Contains(twice, `- {name: read, arguments: "{}"}`) {
		t.Errorf("appended\n%s", twice)
	}
}

// FuzzAppendTest: whatever a reply holds, the test that is written for it loads and
// holds.
func FuzzAppendTest(f *testing.F) {
	f.Add("plain", "thought", "read", `{"path":"a"}`, "stop")
	f.Add("[TOOL:read|path=a: b # c]", "- x\n\n y\n", "", "", "")
	f.Add(" \n lead", "tab\there \u2028", "exec", "{'cmd': 'é \\u0001 \\ud83d\\ude00'", "length")
	files := shipped(f)
	delete(files, "tests/replies.yaml")
	set, problems := Full.Load(files)
	if set == nil {
		f.Fatal(problems)
	}
	f.Fuzz(func(t *testing.T, content, thought, name, args, finish string) {
		valid := strings.ToValidUTF8
		d := parse.Delta{Content: valid(content, "?"), Reasoning: valid(thought, "?")}
		if name != "" {
			d.Calls = []parse.CallDelta{{Name: valid(name, "?"), Arguments: []byte(valid(args, "?"))}}
		}
		if finish != "stop" && finish != "length" {
			finish = ""
		}
		if finish == "" && name != "" {
			finish = "tool_calls"
		} else if finish == "" {
			finish = "stop"
		}
		with := maps.Clone(files)
		with["tests/t.yaml"] = recorded(t, set, "", d, finish, nil)
		if _, problems := Full.Load(with); len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, with["tests/t.yaml"])
		}
	})
}
