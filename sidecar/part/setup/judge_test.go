package setup

import (
	"strings"
	"testing"
)

func TestAs(t *testing.T) {
	good := call{"callA1", "exec", `{"command":"ls"}`}
	exec := calling("exec", `{ "command": "ls" }`)
	overflow := answer{status: 400, fault: "context_length_exceeded: maximum"}
	for _, c := range []struct {
		name string
		want answer
		got  answer
		says string // part of the complaint; "": none
	}{
		{"call", exec, answer{calls: []call{good}, finish: "tool_calls"}, ""},
		{"no call", exec, answer{finish: "stop"}, `should be the text "" and the call exec {"command":"ls"}, and is the text ""`},
		{"twice", exec, answer{calls: []call{good, good}, finish: "tool_calls"}, `and the call exec {"command":"ls"} and the call exec {"command":"ls"}`},
		{"another call", exec, answer{calls: []call{{"a", "exec", `{"command":"rm"}`}}, finish: "tool_calls"}, `and is the text "" and the call exec {"command":"rm"}`},
		{"another kind of value", calling("exec", `{"a":"1"}`), calling("exec", `{"a":1}`), `{"a":1}`},
		{"arguments that are no JSON", exec, answer{calls: []call{{"a", "exec", `{"command":"ls"`}}, finish: "tool_calls"}, "no JSON"},
		{"finish", exec, answer{calls: []call{good}, finish: "stop"}, "finish_reason"},
		{"finish of a text", saying("hi"), answer{text: "hi", finish: "length"}, "finish_reason"},
		{"id", exec, answer{calls: []call{{"call_1", good.Name, good.Args}}, finish: "tool_calls"}, `the id "call_1", which OpenClaw rewrites`},
		{"text beside the call", exec, answer{text: "ok", calls: []call{good}, finish: "tool_calls"}, `is the text "ok" and the call`},
		{"leak in the thought", exec, answer{reasoning: "<|end|>", calls: []call{good}, finish: "tool_calls"}, "leaked"},
		{"text", saying("hi"), saying("hi"), ""},
		{"call of a text", saying(""), answer{calls: []call{good}, finish: "tool_calls"}, "and the call exec"},
		{"error", saying("hi"), answer{status: 200, fault: "no"}, "error in the stream: no"},
		{"overflow", overflow, overflow, ""},
		{"other status", overflow, answer{status: 500, fault: overflow.fault}, "and is HTTP 500"},
		{"other wording", overflow, answer{status: 400, fault: "context_length_exceeded: too long"}, "too long"},
		{"no error", overflow, saying("hi"), `is the text "hi"`},
	} {
		err := c.got.differs(c.want)
		if c.says == "" && err != nil || c.says != "" &&
			(err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestFate(t *testing.T) {
	for _, c := range []struct {
		got  answer
		says string
	}{
		{answer{}, "turn fails"},
		{answer{reasoning: "so"}, "the call is lost"},
		{answer{text: "{}"}, "shown this"},
		{answer{status: 400, fault: "no"}, "over"},
		{answer{status: 200, fault: "no"}, "same again"},
		{answer{calls: []call{{"", "bash", "{}"}}}, "no such tool"},
		{answer{calls: []call{{"", "exec", "{"}}}, "not a JSON object"},
		{answer{calls: []call{{"", "exec", `"{}"`}}}, "not a JSON object"},
		{answer{calls: []call{{"", "exec", `{"cmd":"ls"}`}}}, "refuses the arguments"},
		{answer{calls: []call{{"", "exec", `{"command":"ls"}`}}}, "runs"},
	} {
		if fate := c.got.openClawResult(); !strings.Contains(fate, c.says) {
			t.Errorf("%+v: %q, want %q", c.got, fate, c.says)
		}
	}
}
