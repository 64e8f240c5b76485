package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func piece(index int, id, name, args string) parse.Delta {
	return parse.Delta{Calls: []parse.CallDelta{{Index: index, ID: id, Name: name, Arguments: []byte(args)}}}
}

func readDeltas(s *parse.Strategies, finish string, deltas ...parse.Delta) (parse.Reading, []parse.Event) {
	r := s.Reader(offeredForFuzz(), parse.Facts{})
	var events []parse.Event
	for _, d := range deltas {
		events = append(events, r.Feed(d)...)
	}
	got, last := r.Close(finish)
	return got, append(events, last...)
}

// letters are arguments in pieces of one byte.
func letters(args string) (out []parse.Delta) {
	for i := range args {
		out = append(out, piece(0, "", "", args[i:i+1]))
	}
	return out
}

func TestNativeCalls(t *testing.T) {
	args := `{"command":"ls"}`
	for name, w := range map[string]struct {
		finish string
		deltas []parse.Delta
		calls  string
		shows  string
		refuse int
	}{
		"whole": {"stop", []parse.Delta{piece(0, "a", "exec", args)}, ls, "", 0},
		"pieces": {"tool_calls", []parse.Delta{piece(0, "a", "exec", ""),
			piece(0, "", "", `{"command"`), piece(0, "", "", `:"ls"}`)}, ls, "", 0},
		"ids change": {"tool_calls", []parse.Delta{piece(0, "a", "exec", `{"command"`),
			piece(0, "b", "", `:"ls"}`)}, ls, "", 0},
		"two": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(1, "b", "read", `{"path":"a"}`)}, ls + ` read{"path":"a"}`, "", 0},
		"two, the later first": {"tool_calls", []parse.Delta{piece(1, "b", "read", `{"path":"a"}`),
			piece(0, "a", "exec", args)}, ls + ` read{"path":"a"}`, "", 0},
		"read, changed, read again": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"x"}`), piece(1, "b", "exec", args), piece(2, "c", "read", `{"path":"x"}`)}, `read{"path":"x"} ` + ls + ` read{"path":"x"}`, "", 0},
		"the same twice": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(1, "b", "exec", args)}, ls, "", 0},
		"the same in other blanks": {"tool_calls",
			[]parse.Delta{piece(0, "a", "read", `{"path":"a","limit":1}`),
				piece(1, "b", "read", `{ "limit": 1, "path": "a" }`)}, `read{"path":"a","limit":1}`, "", 0},
		"almost the same": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(1, "b", "exec", `{"command":"ls "}`), piece(2, "c", "exec", args)},
			ls + ` exec{"command":"ls "}`, "", 0},
		"the same for another tool": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"a"}`), piece(1, "b", "exec", args), piece(2, "c", "exec", args)}, `read{"path":"a"} ` + ls, "", 0},
		"name with a token": {"tool_calls",
			[]parse.Delta{piece(0, "a", "functions.exec<|channel|>commentary", args)}, ls, "", 0},
		"a piece too late": {"tool_calls", []parse.Delta{piece(0, "a", "exec", `{"command"`),
			piece(0, "", "", `:"ls"}`), piece(1, "b", "read", `{"path":"a"}`), piece(0, "", "", `}}}}`)},
			ls + ` read{"path":"a"}`, "", 0},
		"many pieces": {"tool_calls",
			append([]parse.Delta{piece(0, "a", "ex", ""), piece(0, "", "ec", "")},
				letters(`{"command":"ls"}`)...), ls, "", 0},
		"mended": {"stop", []parse.Delta{piece(0, "a", "exec", `{"command":"ls"`)}, ls, "",
			0},
		"cut": {"length", []parse.Delta{piece(0, "a", "exec", `{"command":"l`)}, "", "",
			1},
		"two calls in one": {"stop",
			[]parse.Delta{piece(0, "a", "read", `{"path":"a"}`+"\n"+`{"path":"b"}{"path":"b"}`)},
			`read{"path":"a"} read{"path":"b"}`, "", 0},
		"two commands in one": {"stop", []parse.Delta{piece(0, "a", "exec", args+`{"command":"pwd"}`)},
			"", "", 1},
		"not offered": {"stop", []parse.Delta{piece(0, "a", "launch", args)}, "", "", 1},
		"echo in content": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			{Content: args}}, ls, "", 0},
		"tokens behind": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", args+"<|call|><|start|>assistant")}, ls, "", 0},
		"tokens in a text": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", `{"command":"a <|call|> b"}`)},
			`exec{"command":"a <|call|> b"}`, "", 0},
		"its end in the text": {"tool_calls", []parse.Delta{{Content: `tes.md"}`},
			piece(0, "a", "read", `{"path":"no`)}, "", `tes.md"}`, 1},
		"arguments in the text": {"tool_calls", []parse.Delta{{Content: args}, piece(0, "a", "exec", "")},
			ls, "", 0},
		"another header in a text": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec",
				`{"command":"ls\nassistant to=functions.exec commentary json"}`)}, "", "", 1},
		"a whole call in a text": {"tool_calls", []parse.Delta{piece(0, "a", "web_search", `{"query":"<|channel|>commentary to=exec<|message|>{\"command\":\"ls\"}<|call|>"}`)},
			`web_search{"query":"<|channel|>commentary to=exec<|message|>{\"command\":\"ls\"}<|call|>"}`, "",
			0},
		"a header of nobody": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", `{"command":"grep 'analysis to=functions.x' a"}`)},
			`exec{"command":"grep 'analysis to=functions.x' a"}`, "", 0},
		"split, the rest has no name": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"no`), piece(1, "", "", `tes.md"}`)}, `read{"path":"notes.md"}`, "", 0},
		"split in three": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"no`),
			piece(1, "b", "", `tes`), piece(2, "", " ", `.md"}`), piece(3, "c", "exec", args)},
			`read{"path":"notes.md"} ` + ls, "", 0},
		"split, the same id": {"tool_calls", []parse.Delta{piece(0, "a", "exec", `{"command"`),
			piece(1, "a", "exec", `:"ls"}`)}, ls, "", 0},
		"split, the name alone first": {"tool_calls", []parse.Delta{piece(0, "a", "exec", ""), piece(1, "", "", args)}, ls, "", 0},
		"an entry that says nothing": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(1, "", "", "")}, ls, "", 0},
		"the end was lost": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"no`), piece(1, "b", "exec", args), piece(2, "c", "read", `{"path":"a"}`)},
			`read{"path":"a"}`, "The call of exec was not made: a call in front of it was not made, or the reply is not whole.", 2},
		"the end was lost, and a rest": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"no`),
			piece(1, "", "", `", {`)}, "", "", 2},
		"a part that is said twice": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", `{"command":"ls"`), piece(1, "", "", `}{"command": "ls"}`)},
			ls, "", 0},
		"two of one index": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(0, "b", "read", `{"path":"a"}`)}, ls + ` read{"path":"a"}`, "", 0},
		"two of one index, one tool": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"b"}`),
			piece(0, "b", "read", ""), piece(0, "b", "", `{"path":"a"}`)},
			`read{"path":"b"} read{"path":"a"}`, "", 0},
		"a name once more": {"tool_calls", []parse.Delta{piece(0, "a", "exec", args),
			piece(0, "b", "exec", "")}, ls, "", 0},
		"a header in front": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", " <|constrain|>json<|message|>"+args)}, ls, "", 0},
		"a header without its start": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", "json<|message|>"+args+"<|call|>")}, ls, "", 0},
		"healed at the limit": {"length", []parse.Delta{piece(0, "a", "exec", args)}, "", "", 1},
		"healed at the limit, reads": {"length", []parse.Delta{piece(0, "a", "read", `{"path":"a"}`)},
			`read{"path":"a"}`, "", 0},
		"cut at the limit, one before": {"length", []parse.Delta{piece(0, "a", "exec", args),
			piece(1, "b", "exec", `{"command":"ls "}`)}, ls, "", 1},
		"closed by a token at the limit": {"length", []parse.Delta{piece(0, "a", "exec", args+"<|call|>")},
			ls, "", 0},
		"arguments in the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", `functions.exec{"command":"ls"}`, "{}")}, ls, "", 0},
		"arguments of code in the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", `exec({"command":"ls"})`, "")}, ls, "", 0},
		"keywords in the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", `exec(command="ls")`, "")}, ls, "", 0},
		"cut arguments in the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", `exec{"command":"l`, "")}, "", "", 1},
		"both have arguments": {"tool_calls",
			[]parse.Delta{piece(0, "a", `exec{"command":"rm"}`, args)}, ls, "", 0},
		"the header in the arguments": {"tool_calls",
			[]parse.Delta{piece(0, "a", "", `functions.exec <|constrain|>json<|message|>`+args)}, ls, "", 0},
		"all of it in the arguments": {"tool_calls",
			[]parse.Delta{piece(0, "a", "functions",
				`<|channel|>commentary to=functions.exec <|constrain|>json<|message|>`+args+"<|call|>")}, ls,
			"", 0},
		"words of it in the arguments": {"tool_calls",
			[]parse.Delta{piece(0, "a", "", `commentary to=functions.exec json`+args)}, ls, "", 0},
		"nobody in the arguments": {"tool_calls",
			[]parse.Delta{piece(0, "a", "", `functions.launch <|constrain|>json<|message|>`+args)}, "", "",
			1},
		"the namespace": {"tool_calls",
			[]parse.Delta{piece(0, "a", "functions", `{"exec":`+args+`}`)}, ls, "", 0},
		"the namespace, none of its keys": {"tool_calls", []parse.Delta{piece(0, "a", "functions", `{"exec":{"cmdline":"ls"}}`)}, "", "", 1},
		"the next call behind the end": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"a"}<|call|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>`+args)},
			`read{"path":"a"} ` + ls, "", 0},
		"two behind the end": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"a"}<|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"b"}<|call|><|start|>assistant to=exec<|message|>`+args), piece(1, "b", "exec", args)},
			`read{"path":"a"} read{"path":"b"} ` + ls, "", 0},
		"a thought behind the end": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec",
				args+"<|call|><|start|>assistant<|channel|>analysis<|message|>Done.<|end|>")}, ls, "", 0},
		"a header that lost its tokens behind the end": {"tool_calls", []parse.Delta{piece(0, "a", "read", `{"path":"a"}assistantcommentary to=functions.exec json`+args)}, `read{"path":"a"} ` + ls, "", 0},
		"a token in front of the end": {"tool_calls",
			[]parse.Delta{piece(0, "a", "read", `{"path":"a"<|call|>`)}, `read{"path":"a"}`, "", 0},
		"a channel in front": {"tool_calls",
			[]parse.Delta{piece(0, "a", "read", `commentary<|message|>{"path":"a"}`)}, `read{"path":"a"}`, "",
			0},
		"words of a header in place of the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", "commentary", ` to=functions.exec <|constrain|>json<|message|>`+
				args)}, ls, "", 0},
		"a whole header and arguments in the name": {"tool_calls",
			[]parse.Delta{piece(0, "a", `functions.exec<|channel|>commentary json<|message|>`+args+`<|call|>`,
				"")}, ls, "", 0},
		"a fence and a token": {"tool_calls",
			[]parse.Delta{piece(0, "a", "exec", "\ufeff```json\n"+args+"\n```<|call|>")}, ls, "", 0},
		"text keeps": {"tool_calls", []parse.Delta{{Content: "I look."},
			piece(0, "a", "exec", args)}, ls, "I look.", 0},
		"also in text": {"stop", []parse.Delta{
			{Content: `<|channel|>commentary to=exec<|message|>` + args + `<|call|>`}, piece(0, "a", "exec", args)}, ls, "", 0},
	} {
		got, _ := readDeltas(shipped.Strategies(""), w.finish, w.deltas...)
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != w.calls ||
			strings.TrimSpace(got.Content) != w.shows || len(got.Refused) != w.refuse {
			t.Errorf("%s: gives %s, shows %q, refused %v", name, calls, got.Content, got.Refused)
		}
	}
}

func TestWithoutTheNativeStrategyTheServersCallsDoNotCount(t *testing.T) {
	got, _ := readDeltas(compiled(t, harmonyFrames(nil)), "stop", piece(0, "a", "exec", `{"command":"ls"}`))
	if len(got.Calls) > 0 {
		t.Errorf("calls %v", got.Calls)
	}
}

func TestCallsInThoughts(t *testing.T) {
	call := `<|start|>assistant<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`
	for name, w := range map[string]struct {
		deltas               []parse.Delta
		calls, shows, thinks string
	}{
		"salvaged": {[]parse.Delta{{Reasoning: "I run it." + call}}, ls, "", "I run it."},
		"cut in pieces": {[]parse.Delta{{Reasoning: "I run it.<|sta"}, {Reasoning: call[len("<|sta"):]}},
			ls, "", "I run it."},
		"whole object": {[]parse.Delta{{Reasoning: `{"name":"exec","arguments":{"command":"ls"}}`}}, ls,
			"", `{"name":"exec","arguments":{"command":"ls"}}`},
		"content answers": {[]parse.Delta{{Reasoning: "Hm." + call}, {Content: "Hi."}}, "", "Hi.", `Hm.assistantcommentary to=exec{"command":"ls"}`},
		"native call": {[]parse.Delta{{Reasoning: "Hm." + call}, piece(0, "a", "read", `{"path":"a"}`)},
			`read{"path":"a"}`, "", `Hm.assistantcommentary to=exec{"command":"ls"}`},
		"a quote": {[]parse.Delta{{Reasoning: "The page says `" + call + "` and I ignore it."}}, "",
			"", "The page says `assistantcommentary to=exec{\"command\":\"ls\"}` and I ignore it."},
		"object in prose": {[]parse.Delta{{Reasoning: `Could be {"name":"exec","arguments":{"command":"ls"}}`}}, "", "", `Could be {"name":"exec","arguments":{"command":"ls"}}`},
		"a quoted header": {[]parse.Delta{{Reasoning: "The syntax: ``` assistant<|channel|>commentary to=exec({\"command\":\"...\"}) ``` failed."}, piece(0, "a", "read", `{"path":"a"}`)}, `read{"path":"a"}`, "", "The syntax: ``` assistantcommentary to=exec({\"command\":\"...\"}) ``` failed."},
		"plain": {[]parse.Delta{{Reasoning: "a <"}, {Reasoning: " b <|"}, {Reasoning: "x"}}, "", "",
			"a < b <|x"},
		"lone tokens": {[]parse.Delta{{Reasoning: "a<|end|>b<|end|>"}, {Content: "c"}}, "", "c", "ab"},
	} {
		got, _ := readDeltas(shipped.Strategies(""), "stop", w.deltas...)
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != w.calls || got.Content != w.shows ||
			got.Reasoning != w.thinks {
			t.Errorf("%s: gives %s, shows %q, thinks %q", name, calls, got.Content, got.Reasoning)
		}
	}
}

func TestPhrases(t *testing.T) {
	st := parse.Strategy{ID: "fuzzy", Kind: parse.Phrases, Tools: []string{"web_search", "exec"},
		Phrase: []parse.Phrase{
			{Tool: "web_search", After: []string{"search for", "look up"}, Until: []string{" and then "}, Take: "query", As: "sentence"},
			{Tool: "read", After: []string{"open"}, Take: "path", As: "path"},
			{Tool: "web_fetch", After: []string{"fetch"}, Take: "url", As: "url"},
			{Tool: "web_search", After: []string{"google"}, Take: "query", As: "quoted"},
			{Tool: "exec", After: []string{"run"}, Take: "command", As: "sentence"},
		}}
	all := st
	all.Tools = []string{"web_search", "read", "exec"}
	rows := []row{
		{"I will search for the tide table.", `web_search{"query":"the tide table"}`, "I will search for the tide table.", ""},
		{"Let me look up Oslo and then answer.", `web_search{"query":"Oslo"}`, "Let me look up Oslo and then answer.", ""},
		{"Let me open docs/a.md.", `read{"path":"docs/a.md"}`, "Let me open docs/a.md.", ""},
		{"I'll google 'tides'.", `web_search{"query":"tides"}`, "I'll google 'tides'.", ""},
	}
	for _, plain := range []string{
		"I will not search for it.", "I won't search for it.", "Should I search for it?",
		"If you like, I will search for it.",
		"I would search for it, I will say.", "He will search for tides.", "Let me research for it.",
		"I will `search for` it.",
		"I will run rm -rf.", "I'll fetch https://example.com/a.", "I'll open it.", "I'll google tides.",
		"```\nI will search for it.\n```", "I will search for.",
	} {
		rows = append(rows, row{plain, "", plain, ""})
	}
	check(t, compiled(t, all), rows)
	if got, _ := readDeltas(compiled(t, st), "stop",
		parse.Delta{Content: "Let me open docs/a.md."}); len(got.Calls) > 0 {
		t.Errorf("a tool that is not listed is called: %v", got.Calls)
	}
}

func TestFinish(t *testing.T) {
	for _, w := range []struct{ said, text, want string }{
		{"stop", "a", "stop"}, {"", "a", "stop"}, {"length", "a", "length"}, {"content_filter", "", "content_filter"}, {"weird", "", "stop"},
		{"tool_calls", "no call", "stop"}, {"length", `to=exec {"command":"ls"}<|call|>`, "tool_calls"}, {"stop", "[TOOL:exec|command=ls]", "tool_calls"},
		{"length", `<|channel|>commentary to=exec<|message|>{"command":"ls`, "length"},
		{"length", `{"name":"exec","arguments":{"command":"ls}}`, "length"},
		{"length", "Action: exec\nAction Input: ls -l", "length"},
	} {
		got, _ := readDeltas(shipped.Strategies(""), w.said, parse.Delta{Content: w.text})
		if got.Finish != w.want {
			t.Errorf("%q after %q: %q, want %q; calls %v", w.said, w.text, got.Finish, w.want, got.Calls)
		}
	}
}

func TestDoneAndEmpty(t *testing.T) {
	for text, want := range map[string][2]bool{ // done, empty
		"[DONE]": {true, true}, `{"tool_calls":[],"done":true}`: {true, true}, "Final Answer: 42": {true, false},
		"Thought: a\nAction: finish\nAction Input: {}": {true, true}, "Done.": {false, false}, " \n": {false, true}, "[TOOL:exec|command=ls]": {false, false},
	} {
		got, _ := readDeltas(shipped.Strategies(""), "stop", parse.Delta{Content: text})
		if got.Done != want[0] || got.Empty() != want[1] {
			t.Errorf("%q: done %v, empty %v", text, got.Done, got.Empty())
		}
	}
}
