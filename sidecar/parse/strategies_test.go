package parse

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// testStrategies are strategies like the shipped ones, which the ruleset's own
// tests load from the YAML files.
func testStrategies() []Strategy {
	both := []Field{Content, Reasoning}
	envelope := Envelope{
		Calls:     []string{"tool_calls"},
		Name:      []string{"name", "tool", "tool_name", "recipient_name", "action"},
		Arguments: []string{"arguments", "parameters", "args", "input", "action_input"},
		Done:      []string{"done"},
		Answer:    []string{"answer", "final_answer", "content"},
	}
	return []Strategy{
		{ID: "native", Kind: Native, Priority: 100, Confidence: 1, Enabled: true, Place: "t:1"},
		{ID: "harmony", Kind: Harmony, Priority: 90, Confidence: 0.95, Enabled: true, Place: "t:2", Read: both, Lead: 256},
		{ID: "guided_json", Kind: JSON, Priority: 80, Confidence: 0.9, Enabled: true, Place: "t:3", Read: both, Envelope: envelope},
		{ID: "react", Kind: Lines, Priority: 70, Confidence: 0.9, Enabled: true, Place: "t:4", Multi: true, Done: []string{"done", "finish", "none"}},
		{ID: "markers", Kind: Block, Priority: 60, Confidence: 0.85, Enabled: true, Place: "t:5", Body: BodyPairs, Open: []string{"[TOOL:"}, Done: []string{"[DONE]"}},
		{ID: "tags", Kind: Block, Priority: 58, Confidence: 0.85, Enabled: true, Place: "t:6", Body: BodyAuto,
			Open: []string{"<tool_call>", "<function_calls>"}, Close: []string{"</tool_call>", "</function_calls>"}},
		{ID: "function_tag", Kind: Block, Priority: 57, Confidence: 0.85, Enabled: true, Place: "t:7", Body: BodyXML,
			Open: []string{"<function=", "<function name="}, Close: []string{"</function>"}},
		{ID: "invoke_tag", Kind: Block, Priority: 56, Confidence: 0.85, Enabled: true, Place: "t:8", Body: BodyXML,
			Open: []string{"<invoke name="}, Close: []string{"</invoke>"}},
		{ID: "tool_tag", Kind: Block, Priority: 55, Confidence: 0.8, Enabled: true, Place: "t:10", Body: BodyXML,
			Open: []string{"<tool>", "<action>"}, Close: []string{"</tool_input>", "</action>"}},
	}
}

func testRules() *tools.Rules {
	word := func(list ...string) (out []tools.Word) {
		for _, w := range list {
			out = append(out, tools.Word{Text: w, Place: "t:9"})
		}
		return out
	}
	return &tools.Rules{
		Prefixes: word("functions.", "tools.", "default_api."),
		Glued:    word("json", "code", "commentary"),
		Pseudo:   word("json", "response", "answer"),
		Classes: []tools.ClassRule{
			{Class: tools.Read, Words: []string{"get", "search", "read", "list", "find", "fetch", "view", "ls", "grep", "glob"}},
			{Class: tools.Exec, Words: []string{"exec", "run", "bash", "shell", "terminal", "command"}},
			{Class: tools.Write, Words: []string{"write", "create", "delete", "edit", "send", "patch"}},
		},
		Params: []tools.ParamAlias{{Param: "command", From: []string{"cmd"}}, {Param: "path", From: []string{"file_path", "filename", "file"}}},
	}
}

func compiled(t testing.TB) *Strategies {
	t.Helper()
	s, err := Compile(testStrategies())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
