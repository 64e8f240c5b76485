package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Text beside a call says whether it is made. What the reply ends with is asked about where it has
// control tokens; where text goes on, all of it is shown.
func TestTextBesideCalls(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	const tokens, object, plain = `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls"}<|call|>`,
		`{"name":"exec","arguments":{"command":"ls"}}`, `commentary to=exec code {"command":"ls"}`
	for _, row := range []struct{ text, outcome string }{
		{"I look into it.\n\n" + tokens, "call"}, {"I'll look into it:\n\n" + object, "asked"}, {"It has this shape:\n\n" + tokens, "asked"}, {"It has this shape:\n\n" + object, "asked"}, {"Let me look.\n" + plain, "call"},
		{"It is not in the log, so I will look:\n\n" + tokens, "asked"}, {"No problem. Running it.\n\n" + tokens, "call"},
		{"For example:\n\n" + tokens, "asked"}, {"I refuse to run this:\n\n" + tokens, "asked"}, {"Shall I run this?\n\n" + tokens, "asked"}, {"例如：\n\n" + tokens, "asked"},
		{"For example:\n\n" + object, "asked"}, {"I did not run it:\n\n" + plain, "asked"}, {"Example:\n\nassistant" + plain, "asked"},
		{"The log says:\n\n" + tokens + "\n\nSo it was lost.", "text"}, {tokens + "\n\nThis is an example.", "asked"}, {plain + "\n\nThis is from the log.", "asked"},
		{"Raw trace:\n\n    " + tokens + "\n    " + tokens, "asked"}, {tokens + "We do not have it here. It may be elsewhere." + tokens + "We cannot know.", "call"}, {"> " + tokens + "\n\nYou wrote this.", "text"}, {"Raw:\n\n    " + tokens + "\n\nThat is all.", "text"},
		{"Does it look right? to=functions.read մեկնաբանություն เงินฟรีjson {\"path\":\"a\"}", "asked"}, {"It wrote: to=functions.read մեկնաբանություն json {\"path\":\"a\"}", "asked"},
		{"I wrote it down.\n```json\n" + object + "\n```", "asked"}, {"I have it.\n{\"command\":\"ls\"}to=functions.exec", "call"}, {"It was no use:\n{\"command\":\"ls\"}to=functions.exec", "text"},
		{"It came so:\n\n    commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\"}\n\n**Expected**\nA call.", "text"},
	} {
		got := readPieces(s, c, []string{row.text}, "stop")
		outcome := "text"
		switch {
		case len(got.Calls) > 0:
			outcome = "call"
		case len(got.Refused) > 0 && got.Refused[0].Code == tools.Unsure:
			outcome = "asked"
		case strings.ReplaceAll(got.Content, zeroWidth, "") != row.text:
			outcome = "shows " + got.Content
		}
		if outcome != row.outcome {
			t.Errorf("%q: %s, want %s", row.text, outcome, row.outcome)
		}
		f := facts()
		f.Asked = true
		if second := readAs(s, c, f, []string{row.text}, "stop"); row.outcome == "asked" &&
			(len(second.Calls) > 0 || strings.ReplaceAll(second.Content, zeroWidth, "") != row.text) {
			t.Errorf("%q, asked before: %d calls, shows %q", row.text, len(second.Calls), second.Content)
		}
		sameReading(t, s, c, "beside", row.text)
	}
}

// A call in doubt beside one that is made is told about, unless the server has it, too.
func TestDoubtIsTold(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	const read, exec = `<|channel|>commentary to=read<|message|>{"path":"a"}<|call|>`, `<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`
	got := readPieces(s, c, []string{read + "<|channel|>final<|message|>For example:\n\n" + exec}, "stop")
	if strings.TrimSpace(showCalls(got.Calls)) != `read{"path":"a"}` ||
		!strings.Contains(got.Content, "The call of exec was not made.") {
		t.Errorf("gives %s, shows %q", showCalls(got.Calls), got.Content)
	}
	r := s.Reader(c, facts())
	r.Feed(parse.Delta{Content: "For example:\n\n" + exec})
	r.Feed(parse.Delta{Calls: []parse.CallDelta{{ID: "a", Name: "exec",
		Arguments: []byte(`{"command":"ls"}`)}}})
	if got, _ := r.Close("tool_calls"); len(got.Calls) != 1 || strings.Contains(got.Content, "not made") {
		t.Errorf("the server has it, too: gives %s, shows %q", showCalls(got.Calls), got.Content)
	}
}
