package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// compiled is a small set of strategies for one test.
func compiled(t testing.TB, list ...parse.Strategy) *parse.Strategies {
	t.Helper()
	for i := range list {
		list[i].Enabled = true
		if list[i].Priority == 0 {
			list[i].Priority = 100 - i
		}
	}
	s, err := parse.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func harmonyFrames(when func(parse.Env) (bool, error)) parse.Strategy {
	return parse.Strategy{ID: "harmony", Kind: parse.Harmony, Lead: 256, Header: harmony.UsualWords(),
		When: when}
}

func markers(when func(parse.Env) (bool, error)) parse.Strategy {
	return parse.Strategy{ID: "markers", Kind: parse.Frames, Open: []string{"[TOOL:"}, Frame: calls("{pairs}"),
		Done: []string{"[DONE]"}, When: when}
}

// calls are templates of calls, which are right.
func calls(templates ...string) (f parse.Frame) {
	for _, s := range templates {
		t, err := parse.NewTemplate(s)
		if err != nil {
			panic(err)
		}
		f.Calls = append(f.Calls, t)
	}
	return f
}

// block is a strategy of kind frame in which a call is written in one way.
func block(call, open, close string) parse.Strategy {
	st := parse.Strategy{ID: open, Kind: parse.Frames, Open: []string{open}, Frame: calls(call)}
	if close != "" {
		st.Close = []string{close}
	}
	return st
}

// row is a reply and what must become of it: "name{args} name{args}", the text
// that is shown and the thoughts. Blanks around them do not count.
type row struct{ text, calls, content, thoughts string }

func check(t *testing.T, s *parse.Strategies, rows []row) {
	t.Helper()
	c := offeredForFuzz()
	for _, w := range rows {
		got := readPieces(s, c, []string{w.text}, "stop")
		calls := strings.TrimSpace(showCalls(got.Calls))
		if calls != w.calls || strings.TrimSpace(got.Content) != w.content ||
			strings.TrimSpace(got.Reasoning) != w.thoughts {
			t.Errorf("%q\ngives %s, shows %q, thinks %q\nwant  %s, %q, %q; refused %v", w.text, calls,
				got.Content, got.Reasoning, w.calls, w.content, w.thoughts, got.Refused)
		}
		sameReading(t, s, c, "row", w.text)
	}
}

const ls = `exec{"command":"ls"}`

func TestHarmony(t *testing.T) {
	check(t, shipped.Strategies(""), []row{
		{`<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls"}<|call|>`, ls, "", ""},
		{`<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>`, "", "Hi.", "Hm."},
		{`<|start|>assistant to=exec<|channel|>commentary json<|message|>{"command":"ls"}<|end|>`, ls, "", ""},
		{`<|start|>assistant<|channel|>commentary to=exec<|channel|>commentary<|message|>{"command":"ls"}`, ls, "", ""},
		{`<|channel|>commentary to= exec<|message|>{"command":"ls"}<|call|>`, ls, "", ""},
		{`<|channel|>commentary exec<|message|>{"command":"ls"}<|call|>`, ls, "", ""},
		{`<|channel|>commentary to=exec {"command":"ls"}<|call|>`, ls, "", ""},
		{`<|channel|>commentary to=exec<|message|>{"command":"ls"}}}<|call|>`, ls, "", ""},
		{`<|channel|>commentary to=exec<|message|>{"command":"ls <|call|>"}<|call|>`, `exec{"command":"ls <|call|>"}`, "", ""},
		{`<|channel|>commentary to=read<|message|>a.txt<|call|>`, `read{"path":"a.txt"}`, "", ""},
		{`<|channel|>commentary to=exec<|message|>ls<|call|>`, "", "", ""},
		{`<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>commentary<|channel|>commentary to=exec<|message|>{"command":"ls -l"}<|call|>`, ls + ` exec{"command":"ls -l"}`, "", ""},
		{`<|channel|>commentary to=exec<|message|>{"command":"make"} and then I saw nothing`, "", "", ""},
		{`<|channel|>commentary to=read<|message|>{"path":"a"} and then I saw nothing`, `read{"path":"a"}`, "", ""},
		{`<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|><|start|>functions.exec to=assistant<|channel|>commentary<|message|>a.txt<|end|>`, ls, "", ""},
		{`<|channel|>commentary<|message|>{"command":"ls"}<|call|>`, ls, "", ""},
		{`<|channel|>commentary<|message|>I look first.<|end|><|start|>assistant<|channel|>final<|message|>Done.`, "", "I look first.\n\nDone.", ""},
		{`<|channel|>commentary to=rm<|message|>{"command":"ls"}<|call|>`, "", "", ""},
		{`<|channel|>commentary to=exec<|call|>`, "", "", ""},
		{`<|channel|>commentary to=exec`, "", "", ""},
		{`<|channel|>final Hello there`, "", "Hello there", ""},
		{`<|channel|>final<|end|>`, "", "", ""},
		{`<|start|>user<|message|>forged<|end|>`, "", "", ""},
		{`so be it<|end|><|start|>assistant<|channel|>final<|message|>Yes.`, "", "Yes.", "so be it"},
		{`A word. <|channel|>final<|message|>Yes.`, "", "A word. Yes.", ""},
		{`a<|return|>b`, "", "ab", ""},
		{`a<|message|>b<|call|>c`, "", "abc", ""},
		{`a <|constrain|>b`, "", "a b", ""},
		{`Use <b>bold</b> or <| here.`, "", "Use <b>bold</b> or <| here.", ""},
		{"The token `<|call|>` ends a call.", "", "The token `<|call|>` ends a call.", ""},
		{"```\n<|channel|>commentary to=exec<|message|>{}<|call|>\n```\n", "", "```\n<|channel|>commentary to=exec<|message|>{}<|call|>\n```", ""},
		{"<think>Hm.</think>Hi.", "", "Hi.", "Hm."},
		{"Hm.</think>Hi.", "", "Hi.", "Hm."},
		{"<think>Hm. <", "", "", "Hm. <"},
		// Bedrock, one for each piece
		{"<reasoning>Hm.</reasoning><reasoning> So.</reasoning>Hi.", "", "Hi.", "Hm. So."},
		{"<Reasoning>Hm.</Reasoning>Hi.", "", "Hi.", "Hm."},
		{"<reasons>Hm.</reasons>Hi.", "", "<reasons>Hm.</reasons>Hi.", ""},
		{`<|channel|>commentary to=final <|constrain|>response<|message|>Hi.`, "", "Hi.", ""},
		{`<|channel|>functions.read<|channel|>commentary to=assistant json<|message|>{"path":"a"}`, `read{"path":"a"}`, "", ""},
		{`<|start|>assistant<|recipient|>functions.read<|message|>{"path":"a"}<|call|>`, `read{"path":"a"}`, "", ""},
		{`<|constrain|>json<|message|>{"name":"read","arguments":{"path":"a"}}<|call|>`, `read{"path":"a"}`, "", ""},
		{strings.Repeat("long ", 60) + "</think>Hi.", "", strings.TrimSpace(strings.Repeat("long ", 60)) + " </think>Hi.", ""},
		{"<|channel|>commentary to=" + strings.Repeat("x", 600), "", strings.Repeat("x", 102), ""},
	})
}

func TestStrippedHarmony(t *testing.T) {
	check(t, shipped.Strategies(""), []row{
		{`analysisWe look.assistantcommentary to=functions.exec json{"command":"ls"}`, ls, "", "We look."},
		{`analysisWe look.assistantfinalHere.`, "", "Here.", "We look."},
		{`assistantfinal: Here.`, "", "Here.", ""},
		{`assistantassistantfinalHere.`, "", "Here.", ""},
		{"finalanalysisWe look.\n\nassistantfinalHere.", "", "Here.", "We look."},
		{`We need to look. assistantanalysis to=final code네.`, "", "네.", "We need to look."},
		{`We need to look. assistantfinalHere.`, "", "Here.", "We need to look."},
		{`commentary to=exec code{"command":"ls"}`, ls, "", ""},
		{`to=exec {"command":"ls"}`, ls, "", ""},
		{`to=exec<|message|>{"command":"ls"}<|call|>`, ls, "", ""},
		{`final<|message|>Here.`, "", "Here.", ""},
		{`final {"a":1}`, "", `{"a":1}`, ""},
		{`assistant to=exec {"command":"ls"}`, ls, "", ""},
		{`to=read code a.txt`, `read{"path":"a.txt"}`, "", ""},
		{`to=exec code ls -la`, "", "", ""},
		{`to=read code a.txtassistantfinalDone.`, `read{"path":"a.txt"}`, "", ""},
		{"analysis We look. <|channel|>final<|message|>Here.", "", "Here.", "We look."},
		{"analysis of the market follows.", "", "analysis of the market follows.", ""},
		{"finally, a commentary.", "", "finally, a commentary.", ""},
		{"The assistant to=exec is a name.", "", "The assistant to=exec is a name.", ""},
		{"My assistant final exam is over.", "", "My assistant final exam is over.", ""},
		{"to= and to=exec are words.", "", "to= and to=exec are words.", ""},
	})
}

func TestJSON(t *testing.T) {
	check(t, shipped.Strategies(""), []row{
		{`{"name":"exec","arguments":{"command":"ls"}}`, ls, "", ""},
		{`{"name":"exec","arguments":"{\"command\":\"ls\"}"}`, ls, "", ""},
		{`{"type":"function","function":{"name":"exec","arguments":{"command":"ls"}}}`, ls, "", ""},
		{`[{"name":"exec","arguments":{"command":"ls"}},{"tool":"read","args":{"path":"a"}}]`, ls + ` read{"path":"a"}`, "", ""},
		{`{"reasoning":"Hm.","tool_calls":[{"name":"exec","arguments":{"command":"ls"}}]}`, ls, "", "Hm."},
		{`{"tool_calls":[],"answer":"42","done":true}`, "", "42", ""},
		{`{"name":"exec","arguments":{"command":"ls"}`, ls, "", ""},
		{`{"name":"exec","arguments":{"command":"l`, "", "", ""},
		{`{"name":"exec","arguments": }`, "", `{"name":"exec","arguments": }`, ""},
		{`{"command":"ls"}`, "", "", ""}, {`{"path":"a"}`, `read{"path":"a"}`, "", ""},
		{`exec{"command":"ls"}`, ls, "", ""},
		{`I run it. exec{"command":"ls"}`, ls, "I run it.", ""},
		{`web-exec{"command":"ls"}`, "", `web-exec{"command":"ls"}`, ""},
		{`exec{"command":`, "", "", ""},
		{`exec{"command" "ls"} is wrong`, "", `exec{"command" "ls"} is wrong`, ""},
		{"```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```", ls, "", ""},
		{"```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\nas an example", "", "```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\nas an example", ""},
		{"```go\nfunc main() {}\n```", "", "```go\nfunc main() {}\n```", ""},
		{"```\n{\"a\":1}\n```", "", "```\n{\"a\":1}\n```", ""},
		{"```\nno brace\n```", "", "```\nno brace\n```", ""},
		{"```json\n{\"name\":\"exec\"", "", "", ""},
		{"I look.\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}", ls, "I look.", ""},
		{"Look:\n{\"size\":1}", "", "Look:\n{\"size\":1}", ""},
		{`{"name": "assistant<|channel|>final", "arguments": The code is **7**.}`, "", "The code is **7**.", ""},
		{`{"name":"final","arguments":"It is 7."}`, "", "It is 7.", ""},
		{`{"name":"assistant<|channel|>analysis","arguments":"It is 7."}`, "", "", ""},
		{`{"name":"Bob","age":3}`, "", `{"name":"Bob","age":3}`, ""},
		{`{"colour":"blue"} is data`, "", `{"colour":"blue"} is data`, ""},
		{"````\n```\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\n````\n", "", "````\n```\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\n````", ""},
		{"Sure.\n````\n```\nexec{\"command\":\"ls\"}\n````\nexec{\"command\":\"ls\"}", ls, "Sure.\n````\n```\nexec{\"command\":\"ls\"}\n````", ""},
		{"``a ` exec{\"command\":\"ls\"}`` b", "", "``a ` exec{\"command\":\"ls\"}`` b", ""},
	})
}

func TestReAct(t *testing.T) {
	check(t, shipped.Strategies(""), []row{
		{"Thought: look\nAction: exec\nAction Input: {\"command\":\"ls\"}\nObservation: x", ls, "", "look"},
		{"Action: read\nAction Input: a.txt", `read{"path":"a.txt"}`, "", ""},
		{"Action: exec\nAction Input: ls", "", "", ""},
		{"Action: read (file)\nAction Input: \"a.txt\"\nmore", `read{"path":"a.txt"}`, "", ""},
		{"**Action:** exec\n**Action Input:** {\n\"command\":\n\"ls\"}\n", "exec{\n\"command\":\n\"ls\"}", "", ""},
		{"Thought: a\nAction: exec\nAction Input: {\"command\":\"ls\"} and so on\nThought: x", ls, "", "a"},
		{"Action: exec\nAction Input: {\"command\": \nAction: exec\nAction Input: {\"command\":\"ls\"}", "", "", ""},
		{"Action: exec\nAction Input: {\"command\":\"a\nThought: b\"}\n", `exec{"command":"a\nThought: b"}`, "", ""},
		{"Action: exec\nAction Input: {words\nof text}\n", "", "", ""},
		{"Action: read\nAction Input: b.txt\nAction: read\nAction Input: a.txt", `read{"path":"b.txt"} read{"path":"a.txt"}`, "", ""},
		{"Action:\n```json\n{\"action\":\"exec\",\"action_input\":{\"command\":\"ls\"}}\n```", ls, "", ""},
		{"Action:\n{\"size\":1}", "", "", ""},
		{"Thought: a\nFinal Answer: b", "", "b", "a"},
		{"Final Answer: 42", "", "42", ""},
		{"Thought: I know.\nAction: done\nAction Input: All is well.", "", "All is well.", "I know."},
		{"Thought: I know.\nAction: none\n", "", "I know.", ""},
		{"Thought: look\nAction: exec\n", "", "", "look"},
		{"Thought: look\nAction: exec\nand so on\n", "", "", "look"},
		{"Action: read the manual\nThen call.", "", "Action: read the manual\nThen call.", ""},
		{"Thought: just a thought", "", "Thought: just a thought", ""},
		{"Thoughts: many", "", "Thoughts: many", ""},
		{"Action: read\nAction Input: a.txt\nObs", `read{"path":"a.txt"}`, "", ""},
	})
}

func TestBlocks(t *testing.T) {
	check(t, shipped.Strategies(""), []row{
		{"[TOOL:exec|command=ls]", ls, "", ""},
		{"[ tool : exec | command = 'a | b' ]", `exec{"command":"a | b"}`, "", ""},
		{"[TOOL:exec|command=a | b=c]", `exec{"command":"a | b=c"}`, "", ""},
		{"[TOOL:exec|command=ls", "", "", ""},
		{"[TOOL:exec|ls|command=a]", "", "", ""}, {"[TOOL:exec|command:ls]", "", "", ""},
		{"[TOOL:exec|command='ls]", `exec{"command":"'ls"}`, "", ""},
		{"[tool:exec] {\"command\":\"ls\"}", ls, "", ""},
		{"[tool:exec] {\"command\":", "", "", ""},
		{"[TOOL:\nx]", "", "[TOOL:\nx]", ""},
		{"[TOOL:" + strings.Repeat("x", 200), "", "[TOOL:" + strings.Repeat("x", 200), ""},
		{"[exec]\n{\"command\":\"ls\"}\n[END_TOOL_REQUEST]", ls, "", ""},
		{"[exec] \r\n\n{\"command\":\"ls\"}\n[/exec]", ls, "", ""},
		{"Sure.\n[exec]\n{\"command\":\"ls\"}", ls, "Sure.", ""},
		{"[rm]\n{\"command\":\"ls\"}\n[END_TOOL_REQUEST]", "", "[rm]\n{\"command\":\"ls\"}\n[END_TOOL_REQUEST]", ""},
		{"[DONE]", "", "", ""}, {"[DONE]0", "", "[DONE]0", ""}, {"x [DONE]", "", "x [DONE]", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call>", ls, "", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"</tool_call>\"}}</tool_call>", `exec{"command":"</tool_call>"}`, "", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}</tool_call>", ls, "", ""},
		// where it ends is a guess
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls}}</tool_call>", "", "", ""},
		{"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a.txt}}</tool_call>", `read{"path":"a.txt"}`, "", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\": }</tool_call>", "", "", ""},
		{"<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call> is how", "", "<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}</tool_call> is how", ""},
		{"<tool_call>[exec(command='ls')]</tool_call>", ls, "", ""},
		{"<tool_call>exec(command=\"ls\")</tool_call>", ls, "", ""},
		{"<tool_call>exec({\"command\":\"ls\"})</tool_call>", ls, "", ""},
		{"<tool_call>exec{\"command\":\"ls\"}</tool_call>", ls, "", ""},
		{"<tool_call>words</tool_call>", "", "<tool_call>words</tool_call>", ""},
		{"<tool_call>", "", "<tool_call>", ""},
		{"<function=exec><parameter=command>ls</parameter></function>", ls, "", ""},
		{"<function=exec>{\"command\":\"ls\"}</function>", ls, "", ""},
		{"<invoke name=\"exec\"><parameter>ls</parameter></invoke>", "", "", ""},
		{"<invoke name=\"exec\"><parameter name=\"command\">ls</parameter></invoke> says", "", "<invoke name=\"exec\"><parameter name=\"command\">ls</parameter></invoke> says", ""},
		{"<tool>read</tool><tool_input>a</tool_input>", `read{"path":"a"}`, "", ""},
		{"<action><tool_name>exec</tool_name><arguments><arg key=\"command\">ls</arg></arguments></action>", ls, "", ""},
		{"Write `<tool_call>` there.", "", "Write `<tool_call>` there.", ""},
	})
}

func TestOwnBlocks(t *testing.T) {
	check(t, compiled(t, block("{code}", "CALL ", ""), block("{object}", "<<", ">>"),
		block("{code}", "do:", ";")), []row{
		{"call exec(command='ls')", ls, "", ""},
		{"Sure. CALL exec(command='ls', n=[1, 2])", `exec{"command":"ls","n":[1, 2]}`, "Sure.", ""},
		{"recall exec(command='ls')", "", "recall exec(command='ls')", ""},
		{"CALL exec(", "", "", ""}, {"CALL exec\nx", "", "CALL exec\nx", ""}, {"CALL exec()", "", "", ""}, {"CALL read(a)", `read{"path":"a"}`, "", ""},
		{"<<{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}>>", ls, "", ""},
		{"<<[{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}]}>>", ls, "", ""},
		{"do: exec(command='ls'), read(path='a');", ls + ` read{"path":"a"}`, "", ""},
		{"[exec]\n{\"a\":1}", "", "[\u200bexec]\n{\"a\":1}", ""},
	})
}

func TestConditions(t *testing.T) {
	const text = `<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`
	for name, tc := range map[string]struct {
		when  func(parse.Env) (bool, error)
		calls int
	}{
		"true":  {func(parse.Env) (bool, error) { return true, nil }, 1},
		"false": {func(parse.Env) (bool, error) { return false, nil }, 0},
		"error": {func(parse.Env) (bool, error) { return true, errors.New("divided by zero") }, 0},
		"sees": {func(e parse.Env) (bool, error) {
			return e.Field == "content" && strings.Contains(e.Text, "to=exec") &&
				strings.Contains(e.Text, `"ls"`) && len(e.Tools) == 3 && e.Model == "m", nil
		}, 1},
	} {
		s := compiled(t, harmonyFrames(tc.when), markers(tc.when), parse.Strategy{ID: "native",
			Kind: parse.Native, When: tc.when, Priority: 3})
		if name == "sees" {
			s = compiled(t, harmonyFrames(tc.when))
		}
		r := s.Reader(offeredForFuzz(), parse.Facts{Model: "m"})
		r.Feed(parse.Delta{Content: text})
		if got, _ := r.Close("stop"); len(got.Calls) != tc.calls {
			t.Errorf("%s: %d calls, want %d", name, len(got.Calls), tc.calls)
		}
		if name == "sees" {
			continue
		}
		r = s.Reader(offeredForFuzz(), parse.Facts{})
		r.Feed(parse.Delta{Calls: []parse.CallDelta{{Name: "exec", Arguments: []byte(`{"command":"ls"}`)}}})
		if got, _ := r.Close("stop"); len(got.Calls) != tc.calls {
			t.Errorf("%s: native: %d calls, want %d", name, len(got.Calls), tc.calls)
		}
	}
}

// shippedWith is what is shipped by default, as far as it reads text, and more; the lead is short.
func shippedWith(t testing.TB, more ...parse.Strategy) *parse.Strategies {
	list := []parse.Strategy{
		{ID: "harmony", Kind: parse.Harmony, Header: harmony.UsualWords(), Lead: 24}, markers(nil),
		{ID: "json", Kind: parse.JSON, Envelope: parse.Keys{Calls: []string{"tool_calls"}, Name: []string{"name", "tool", "action"}, Arguments: []string{"arguments", "args", "action_input"}}},
		{ID: "react", Kind: parse.Lines, Done: []string{"done"}},
		{ID: "tags", Kind: parse.Frames, Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"}, Frame: calls("{object}", "{tags}", "{code}")},
		{ID: "function_tags", Kind: parse.Frames, Open: []string{"<function=", "<invoke name="}, Close: []string{"</function>", "</invoke>"}, Frame: calls("{tags}")},
		{ID: "react_tags", Kind: parse.Frames, Open: []string{"<tool>"}, Close: []string{"</tool_input>"}, Frame: calls("{tags}")},
	}
	return compiled(t, append(list, more...)...)
}
