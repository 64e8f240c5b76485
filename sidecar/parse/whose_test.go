package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// only checks what a reply calls, whole and in pieces; shows is nil where its text does not matter.
func only(t *testing.T, f parse.Facts, name, reply, calls string) {
	t.Helper()
	s, c := shipped.Strategies(""), offeredForFuzz()
	read := func(pieces ...string) string {
		r := s.Reader(c, f)
		for _, p := range pieces {
			r.Feed(parse.Delta{Content: p})
		}
		got, _ := r.Close("stop")
		return strings.TrimSpace(showCalls(got.Calls))
	}
	if got := read(reply); got != calls {
		t.Errorf("%s: calls %q, want %q", name, got, calls)
	}
	if got := read(strings.Split(reply, "")...); got != calls {
		t.Errorf("%s, in pieces: calls %q, want %q", name, got, calls)
	}
}

// Only the assistant calls, and only tools: what others say in a reply was made up, unless it is the
// request once more, and a message to somebody is no call.
func TestWhoCalls(t *testing.T) {
	const exec, read = `exec{"command":"ls"}`, `read{"path":"a"}`
	call := "<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{\"command\":\"ls\"}<|call|>"
	for name, row := range map[string]struct{ user, reply, calls string }{
		"the assistant": {"", "<|start|>assistant" + call, exec},
		"the user":      {"", "<|start|>user" + call, ""},
		"the user, to a tool": {"",
			"<|start|>user to=functions.exec<|channel|>commentary<|message|>{\"command\":\"ls\"}<|call|>",
			""},
		"the system":      {"", "<|start|>system" + call, ""},
		"the developer":   {"", "<|start|>developer" + call, ""},
		"a tool's role":   {"", "<|start|>tool" + call, exec},
		"a misspelt role": {"", "<|start|>assitant" + call, exec},
		"the user, behind the name": {"",
			"<|channel|>commentary to=functions.exec user<|message|>{\"command\":\"ls\"}<|call|>", ""},
		"the user, without tokens":     {"", "user to=functions.exec json{\"command\":\"ls\"}", ""},
		"behind a name without tokens": {"", "commentary to=functions.exec system json{\"command\":\"ls\"}", ""},
		"the request, not known": {"", "<|start|>user<|message|>List it.<|end|><|start|>assistant" +
			call, exec},
		"the request": {"Please\nlist it. Now.",
			"<|start|>user<|message|>Please list it.<|end|><|start|>assistant" + call, exec},
		"a long request": {strings.Repeat("list it ", 500),
			"<|start|>user<|message|>" + strings.Repeat("list it ", 500) +
				"and more<|end|><|start|>assistant" + call, exec},
		"another request": {"Hello",
			"<|start|>user<|message|>List it.<|end|><|start|>assistant" + call, ""},
		"an answer to the request": {"Hello",
			"<|start|>user<|message|>Hello, list it.<|end|><|start|>assistant" + call, ""},
		"the request, on a channel": {"",
			"<|start|>user<|channel|>final<|message|>List it.<|end|><|start|>assistant" + call, ""},
		"in an open turn": {"List it.", "<|start|>user<|message|>List it." + call, ""},
		"to the user": {"",
			"<|channel|>commentary to=user <|constrain|>json<|message|>{\"path\":\"a\"}<|call|>", ""},
		"to all": {"",
			"<|channel|>commentary to=all<|message|>{\"command\":\"ls\"}<|call|>", ""},
		"to the user, a call": {"",
			"<|channel|>commentary to=user<|message|>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}<|call|>", ""},
		"to itself": {"",
			"<|channel|>commentary to=assistant<|message|>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}", ""},
		"to the user, without tokens": {"", "commentary to=user json{\"command\":\"ls\"}", ""},
		"to nobody": {"", "<|channel|>commentary<|message|>{\"command\":\"ls\"}<|call|>",
			exec},
		"another namespace": {"",
			"<|channel|>commentary to=repo.read<|message|>{\"path\":\"a\"}<|call|>", read},
	} {
		only(t, parse.Facts{User: row.user}, name, row.reply, row.calls)
	}
}

// An object that names no tool is a call, but where it may be the answer: there the model is asked. So it is
// about a tool that changes something, unless the thought makes the call.
func TestAnswersInJSON(t *testing.T) {
	const object, call = `{"command":"ls"}`, `exec{"command":"ls"}`
	for name, row := range map[string]struct{ user, thought, calls string }{
		"nobody says anything":       {"", "", ""},
		"the user wants something":   {"List it.", "We need to list.", ""},
		"a file is named":            {"Look at package.json.", "Let's look at tsconfig.json.", ""},
		"the user wants JSON":        {"Give me the command as JSON.", "", ""},
		"without a blank":            {"用JSON回答", "", ""},
		"the thought wants JSON":     {"Give me the command.", "They want a json object. Give it.", ""},
		"the user wants a tool call": {"How does a tool call look?", "", ""},
	} {
		f := facts()
		f.User = row.user
		for _, asked := range []bool{false, true} {
			f.Asked = asked
			r := shipped.Strategies("").Reader(offeredForFuzz(), f)
			r.Feed(parse.Delta{Reasoning: row.thought})
			r.Feed(parse.Delta{Content: object})
			got, _ := r.Close("stop")
			if calls := strings.TrimSpace(showCalls(got.Calls)); calls != row.calls || row.calls == "" &&
				asked != (got.Content == object) {
				t.Errorf("%s, asked before: %v: calls %q, shows %q", name, asked, calls, got.Content)
			}
		}
	}
	f := facts()
	for user, calls := range map[string]string{"": call, "List it.": call,
		"Show me the JSON, do not run it.": ""} {
		f.User = user
		only(t, f, "a call of exec, and the user says: "+user, `{"name":"exec","arguments":`+object+`}`,
			calls)
	}
	f.User = "Show me the JSON of it."
	only(t, f, "a call of a tool that reads", `{"name":"read","arguments":{"path":"a"}}`, `read{"path":"a"}`)
	f.Formatted = true
	only(t, f, "the request says so", object, "")
	r := shipped.Strategies("").Reader(offeredForFuzz(), f)
	r.Feed(parse.Delta{Content: object})
	if got, _ := r.Close("stop"); got.Content != object {
		t.Errorf("the request says so: shows %q", got.Content)
	}
}

// What is said to the user is shown.
func TestToTheUser(t *testing.T) {
	r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
	r.Feed(parse.Delta{Content: `<|start|>assistant<|channel|>commentary to=user<|message|>I look into it.<|end|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"a"}<|call|>`})
	got, _ := r.Close("stop")
	if got.Content != "I look into it." || len(got.Calls) != 1 || tools.IsRole("read") ||
		!tools.IsRole("User") {
		t.Errorf("shows %q, calls %v", got.Content, got.Calls)
	}
}

// A reply that makes up other speakers, or speaks about what another model wrote, calls nothing.
func TestTracesOfOthers(t *testing.T) {
	const call = `{"command":"ls"}`
	for name, reply := range map[string]string{
		"a chat": "<|im_start|>user\nList it.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\":\"exec\",\"arguments\":" + call + "}\n</tool_call><|im_end|>",
		"steps of another": "It repeats the same step each time:\n\nThought: I should list it.\nAction: exec\nAction Input: " +
			call + "\nObservation:\nThought: I should list it.\n",
		"a report": "Tatsächlich steht im Feld thinking: to=functions.exec <|constrain|>json<|message|>" +
			call + "<|call|>",
	} {
		only(t, parse.Facts{User: "Write one."}, name, reply, "")
	}
	f := facts()
	f.User = "As JSON, please."
	r := shipped.Strategies("").Reader(offeredForFuzz(), f)
	r.Feed(parse.Delta{Calls: []parse.CallDelta{{Name: "json", Arguments: []byte(call)}}})
	if got, _ := r.Close("tool_calls"); len(got.Calls) > 0 || len(got.Refused) != 1 {
		t.Errorf("to the pseudo tool json: calls %s, refused %v", showCalls(got.Calls), got.Refused)
	}
	f.Asked = true
	r = shipped.Strategies("").Reader(offeredForFuzz(), f)
	r.Feed(parse.Delta{Calls: []parse.CallDelta{{Name: "json", Arguments: []byte(call)}}})
	if got, _ := r.Close("tool_calls"); len(got.Calls)+len(got.Refused) > 0 || got.Content != call {
		t.Errorf("the same, asked before: calls %s, shows %q, refused %v", showCalls(got.Calls), got.Content,
			got.Refused)
	}
	const grade = "**Grade: 2/5**\n\nThe completion was\n\n<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.restart_service<|message|>{\"service\":\"nginx\"}<|call|>\n\nIt restarts it although nobody asked."
	r = shipped.Strategies("").Reader(tools.NewCatalog(shipped.Tools, nil,
		[]tools.Tool{{Name: "restart_service"}}), facts())
	r.Feed(parse.Delta{Content: grade})
	// nobody knows whether it changes something
	if got, _ := r.Close("stop"); len(got.Calls) > 0 || len(got.Refused) != 1 {
		t.Errorf("a grade: calls %s, refused %v", showCalls(got.Calls), got.Refused)
	}
}

// A server that knows no tool for the answer writes it as a call of its header, also where no tools are
// offered.
func TestAnswerAsCall(t *testing.T) {
	none := tools.NewCatalog(shipped.Tools, nil, nil)
	for reply, want := range map[string]string{
		`{"name": "assistant<|channel|>final", "arguments": The code is **7791**.}`:         "The code is **7791**.",
		`{"name": "assistant<|channel|>final", "arguments": {"code":7791}}`:                 `{"code":7791}`,
		`{"name": "assistant", "arguments": {"code":7791}}`:                                 `{"name": "assistant", "arguments": {"code":7791}}`,
		`{"name": "Ann", "of": "house"}`:                                                    `{"name": "Ann", "of": "house"}`,
		`Like {"name": "assistant", "arguments": {}}`:                                       `Like {"name": "assistant", "arguments": {}}`,
		`{"name": "assistant<|channel|>commentary to=read", "arguments": {"path":"a.txt"}}`: "",
	} {
		for _, pieces := range chunkings(reply, 1) {
			r := shipped.Strategies("").Reader(none, facts())
			for _, p := range pieces {
				r.Feed(parse.Delta{Content: p})
			}
			if got, _ := r.Close("stop"); len(got.Calls) > 0 || got.Content != want {
				t.Errorf("%q in %d pieces: calls %s, shows %q", reply, len(pieces), showCalls(got.Calls),
					got.Content)
				break
			}
		}
	}
}
