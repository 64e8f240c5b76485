package demo

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	good := call{"callA1", "exec", `{"command":"ls"}`}
	exec := want{call: &call{Name: "exec", Args: `{ "command": "ls" }`}}
	overflow := want{code: "context_length_exceeded", says: "maximum"}
	for _, c := range []struct {
		name string
		want want
		got  answer
		says string // part of the complaint; "": none
	}{
		{"call", exec, answer{calls: []call{good}, finish: "tool_calls"}, ""},
		{"no call", exec, answer{finish: "stop"}, "0 calls"},
		{"twice", exec, answer{calls: []call{good, good}, finish: "tool_calls"}, "2 calls"},
		{"another call", exec, answer{calls: []call{{"a", "exec", `{"command":"rm"}`}}, finish: "tool_calls"}, "should be exec"},
		{"arguments that are no JSON", exec, answer{calls: []call{{"a", "exec", `{"command":"ls"`}}, finish: "tool_calls"}, "should be exec"},
		{"finish", exec, answer{calls: []call{good}, finish: "stop"}, "finish_reason"},
		{"id", exec, answer{calls: []call{{"call_1", good.Name, good.Args}}, finish: "tool_calls"}, "call id"},
		{"text beside the call", exec, answer{text: "ok", calls: []call{good}, finish: "tool_calls"}, "the text should be"},
		{"leak in the thought", exec, answer{reasoning: "<|end|>", calls: []call{good}, finish: "tool_calls"}, "leaked"},
		{"text", want{text: "hi"}, answer{text: "hi", finish: "stop"}, ""},
		{"call of a text", want{text: ""}, answer{calls: []call{good}, finish: "tool_calls"}, "a call was made"},
		{"error", want{text: "hi"}, answer{fault: &fault{Message: "no"}}, "an error arrived"},
		{"overflow", overflow, answer{fault: &fault{400, overflow.code, "maximum …"}}, ""},
		{"other status", overflow, answer{fault: &fault{500, overflow.code, "maximum …"}}, "should be 400"},
		{"other wording", overflow, answer{fault: &fault{400, overflow.code, "too long"}}, "should be 400"},
		{"no error", overflow, answer{text: "hi"}, "no error"},
	} {
		err := c.want.check(c.got)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
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
		{answer{fault: &fault{Status: 400}}, "over"},
		{answer{fault: &fault{}}, "same again"},
		{answer{calls: []call{{"", "bash", "{}"}}}, "no such tool"},
		{answer{calls: []call{{"", "exec", "{"}}}, "not a JSON object"},
		{answer{calls: []call{{"", "exec", `"{}"`}}}, "not a JSON object"},
		{answer{calls: []call{{"", "exec", `{"cmd":"ls"}`}}}, "refuses the arguments"},
		{answer{calls: []call{{"", "exec", `{"command":"ls"}`}}}, "runs"},
	} {
		if fate := c.got.fate(); !strings.Contains(fate, c.says) {
			t.Errorf("%+v: %q, want %q", c.got, fate, c.says)
		}
	}
}
