package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// wholeReplies are good replies with calls, one or more of each form in which models write them.
var wholeReplies = []string{
	`<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"rm -r /tmp/a b","n":12,"deep":{"x":[1,2],"y":true}}<|call|>`,
	`<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"/tmp/a","limit":100}<|call|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>{"command":"ls"}<|call|>`,
	`<|channel|>commentary to=functions.exec code<|message|>{"command": "echo \"a}b\" \\", "env": {"A": "1"}}`,
	`commentary to=functions.exec json{"command":"ls /tmp","timeout":120}`,
	`{"reasoning":"I look.","tool_calls":[{"name":"read","arguments":{"path":"/tmp/a"}},{"name":"exec","arguments":{"command":"ls","n":12}}],"done":false}`,
	`{"name":"exec","arguments":{"command":"ls -l","n":120,"flags":["a","b"],"x":null}}`,
	`[{"name":"read","arguments":{"path":"a"}},{"name":"exec","arguments":{"command":"ls","n":1.25}}]`,
	"```json\n" + `{"name":"exec","arguments":{"command":"ls -l","n":120}}` + "\n```",
	"Thought: I look.\nAction: exec\nAction Input: " + `{"command":"rm -r /tmp/a","n":12}` + "\n",
	"Thought: I look.\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation:",
	`[TOOL:exec|command=rm -r /tmp/a/b]`,
	`[TOOL:exec|command="rm -r /tmp/a"|n=12]`,
	`<tool_call>{"name":"exec","arguments":{"command":"ls -l /tmp","n":120}}</tool_call>`,
	`<tool_call><function=exec><parameter=command>rm -r /tmp/a</parameter><parameter=n>120</parameter></function></tool_call>`,
	`<function=exec>{"command":"rm -r /tmp/a","n":12}</function>`,
	`<invoke name="exec"><parameter name="command">rm -r /tmp/a</parameter><parameter name="n">120</parameter></invoke>`,
	`exec{"command":"rm -r /tmp/a","n":12}`,
	`<function name="exec"><arguments>{"command":"rm -r /tmp/a","n":12}</arguments></function>`,
	`<action><tool_name>exec</tool_name><arguments><arg key="command">rm -r /tmp/a</arg><arg key="n">12</arg></arguments></action>`,
	`<function=read><parameter=path>a</parameter></function><function=exec><parameter=command>ls -l</parameter><parameter=n>12</parameter></function>`,
	`<tool_calls>[{"name":"read","arguments":{"path":"a"}},{"name":"exec","arguments":{"command":"ls","n":12}}]</tool_calls>`,
	"Thought: a\nAction: exec\nAction Input: {\n  \"command\": \"rm -r /tmp/a\",\n  \"n\": 12\n}\n",
}

// Wherever max_tokens cuts a reply, no call leaves whose arguments are others than in the whole
// reply: a value may be longer, and more arguments may have been to come.
func TestOnlyWholeCallsLeave(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	for _, reply := range wholeReplies {
		all := readPieces(s, c, []string{reply}, "stop").Calls
		if len(all) == 0 {
			t.Errorf("%q calls nothing", reply)
		}
		for n := 1; n < len(reply); n++ {
			for _, pieces := range [][]string{{reply[:n]}, strings.Split(reply[:n], "")} {
				for i, call := range readPieces(s, c, pieces, "length").Calls {
					if i >= len(all) || call.Name != all[i].Name ||
						string(call.Arguments) != string(all[i].Arguments) {
						t.Errorf("%q\ngives %s %s", reply[:n], call.Name, call.Arguments)
					}
				}
			}
		}
	}
}

// The same for the server's own calls.
func TestOnlyWholeNativeCallsLeave(t *testing.T) {
	for _, args := range []string{
		`{"command":"rm -r /tmp/a b","n":12,"deep":{"x":[1,2],"y":true},"z":null}`,
		`{"command": "ls", "env": {"A": "1"} }`, `{"command":"a","flags":["x","y"]}`,
		`{"command":"ls","n":1e5}`, `"{\"command\":\"ls -l\",\"n\":12}"`,
		`{"name":"exec","arguments":{"command":"ls","n":12}}`,
	} {
		for n := range args {
			for _, deltas := range [][]parse.Delta{
				{piece(0, "c1", "exec", args[:n])},
				append([]parse.Delta{piece(0, "c1", "exec", "")}, letters(args[:n])...),
				{piece(0, "c0", "read", `{"path":"a"}`), piece(1, "c1", "exec", args[:n])},
			} {
				got, _ := readDeltas(shipped.Strategies(""), "length", deltas...)
				for _, call := range got.Calls {
					if call.Name == "exec" {
						t.Errorf("%q gives %s %s", args[:n], call.Name, call.Arguments)
					}
				}
			}
		}
	}
}
