package tools

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// What a model writes in place of arguments is run by no tool that writes or executes,
// unless a rule says that it takes plain text.
func TestPlainTextIsNoCommand(t *testing.T) {
	for _, row := range []struct{ tool, name, want string }{
		{"exec(command:string!)", "exec", ""},
		{execTool, "exec", ""},
		{execTool, "bash", ""}, // an alias of exec
		{execTool, "run_terminal_command", ""},
		{"write(content:string!)", "write", ""},
		{"tell(text:string!)", "tell", ""}, // no rule knows what it does
		{"shell(cmd:string)", "shell", ""},
		{"apply_patch(input:string!)", "apply_patch", "input"}, // no rule of the test says that it is a patch
		{"apply_patch(text:string!)", "apply_patch", ""},
		{"other(input:string!)", "other", ""},
		{codeTool, "python", "code"},
		{"run_terminal_command(command:string!)", "run_terminal_command", "command"},
		{findTool, "search", "query"},
	} {
		for _, text := range []string{"ls -la", "ls -la | wc -l\n", `"ls -la"`, "```sh\nls\n```",
			"ls; echo {x}"} {
			got, refusal := catalogOf(row.tool).Call(row.name, []byte(text), closed)
			switch {
			case row.want == "" && refusal == nil:
				t.Errorf("%s of %s becomes %s", text, row.tool, got.Arguments)
			case row.want == "" && refusal.Code != BadJSON && refusal.Code != NotOffered:
				t.Errorf("%s of %s: %v", text, row.tool, refusal)
			case row.want != "" && (refusal != nil || !strings.HasPrefix(string(got.Arguments),
				`{"`+row.want+`":"`)):
				t.Errorf("%s of %s: %s %v", text, row.tool, got.Arguments, refusal)
			}
		}
	}
}

// Text that a rule allows must look like what the parameter takes.
func TestPlainTextLooksLikeWhatIsTaken(t *testing.T) {
	const terminal = "run_terminal_command(command:string!)"
	for _, row := range []struct{ tool, text, want string }{
		{terminal, "Sorry, I cannot do that.", ""},
		{terminal, "list the files in this folder", ""},
		{terminal, "code: ls -la", "ls -la"},
		{terminal, `json="ls"`, ""},
		{terminal, ": ls -la", ""},
		{terminal, `"ls -la`, ""},
		{terminal, "`ls -la`", ""},
		{terminal, `"\"\\\"{}`, ""},
		{terminal, `["ls -la"]`, "ls -la"},
		{codeTool, "I will list the files.", ""},
		{codeTool, `"\"f()\""`, "f()"},
		{codeTool, "(no arguments)", ""},
		{"other(patch:string!)", "I will list the files.", ""},
		{"other(patch:string!)", "*** Begin Patch\n*** End Patch", "*** Begin Patch\n*** End Patch"},
		{findTool, "code: tide table", "tide table"},
		{findTool, "Where is the tide table?", "Where is the tide table?"},
		{findTool, `: "tide table"`, ""},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		got, refusal := catalogOf(row.tool).Call(name, []byte(row.text), closed)
		switch {
		case row.want == "" && refusal == nil:
			t.Errorf("%s of %s becomes %s %v", row.text, name, got.Arguments, refusal)
		case row.want != "" && (refusal != nil || !strings.HasSuffix(string(got.Arguments),
			":"+jsontext.Quote(row.want)+"}")):
			t.Errorf("%s of %s becomes %s %v", row.text, name, got.Arguments, refusal)
		}
	}
}

// The refusal says how the arguments are sent; the repair names the rule.
func TestPlainTextIsExplained(t *testing.T) {
	_, refusal := catalogOf(execTool).Call("exec", []byte("ls -la"), closed)
	if want := `the arguments of exec must be one JSON object with "command" (string); send {"command": …}`; refusal == nil || refusal.Why != want {
		t.Errorf("got %v, want %s", refusal, want)
	}
	got, refusal := catalogOf(codeTool).Call("python", []byte("f()"), closed)
	if refusal != nil || len(got.Repairs) != 1 || got.Repairs[0].Rule != testRules().Texts[0].Place {
		t.Errorf("got %v %v", got.Repairs, refusal)
	}
}

// A list is not made a text, and a value only what the schema says it is.
func TestListIsNoCommand(t *testing.T) {
	for _, row := range []struct{ tool, args, want string }{
		{execTool, `["ls","-la"]`, "bad_json"}, {execTool, `["ls"]`, "bad_json"}, {execTool, `[]`,
			"bad_json"}, {execTool, `42`, "bad_json"}, {execTool, `true`, "bad_json"},
		{"exec(command)", `["ls","-la"]`, "bad_json"},
		{"exec(command)", `42`, "bad_json"},
		{"spawn(argv:[]string!)", `["ls","-la"]`, `spawn {"argv":["ls","-la"]}`},
		{"set_level(level:integer!)", `42`, `set_level {"level":42}`},
	} {
		c := catalogOf(row.tool)
		if strings.HasSuffix(row.tool, "(command)") {
			c = NewCatalog(testRules(), nil,
				[]Tool{{Name: "exec",
					Parameters: []byte(`{"type":"object","properties":{"command":{}},"required":["command"]}`)}})
		}
		name, _, _ := strings.Cut(row.tool, "(")
		if got, _ := call(c, name, row.args, closed); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.tool, row.args, got, row.want)
		}
	}
}

// Whatever stands in place of an object: a tool that executes is never called with it.
func TestWhateverIsNoObjectIsNoCommand(t *testing.T) {
	c := catalogOf(execTool)
	parts := rapid.SampledFrom([]string{
		"ls", " ", "-la", "\n", `"`, "'", "[", "]", "1", ",", "true", "echo", "I will", "list", ".", "`",
		"```", ":", "é", "|", ";", "$(", ")", "#", "//", "null", `\`, "json", "<|call|>",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 1, 12).Draw(t, "parts"), "")
		if got, refusal := c.Call("exec", []byte(text), closed); refusal == nil {
			t.Fatalf("%q becomes %s", text, got.Arguments)
		}
	})
}
