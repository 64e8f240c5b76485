package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Kinds of damage that no strategy knows by itself: what is around a name and its arguments
// says that they are a call. Tools that execute are asked for again where signs are strange.
func TestKindsOfDamage(t *testing.T) {
	const a, run = `read{"path":"a"}`, `exec{"command":"ls"}`
	s, c := shipped.Strategies(""), offeredForFuzz()
	for _, row := range []struct{ thoughts, text, calls, shows string }{
		{"", `⟦call⟧ read ⟦args⟧ {"path":"a"}`, a, ""},
		{"", `⟦call⟧ exec ⟦args⟧ {"command":"ls"}`, "", ""},
		{"", `CALL read WITH {"path":"a"}`, a, ""},
		{"", `call:read{"path":"a"}`, a, ""},
		{"", `functions.read({"path":"a"})`, a, ""},
		{"", `exec(command="ls")`, run, ""},
		{"", `functions.exec commentary json {"command":"ls"}`, run, ""},
		{"", `to=functions.read commentary json {"path":"a"}`, a, ""},
		{"", `commentary to=functions.read json = {"path":"a"}`, a, ""},
		{"", `commentary to=functions.read 彩票json{"path":"a"}`, a, ""},
		{"", `<|channel|>commentary to = "functions.exec" <|constrain|>json<|message|>{"command":"ls"}<|call|>`, run, ""},
		{"", `I'll check commentary to=functions.read json {"path":"a"}`, a, "I'll check"},
		{"", `{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}}]}`, a, ""},
		{"", `<|channel|>commentary to=multi_tool_use.parallel<|message|>{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}}]}<|call|>`, a, ""},
		{"", `{"name":"read","path":"a"}`, a, ""},
		{"", `{"read":{"path":"a"}}`, a, ""},
		{"", `I'll read it: {"name":"read","arguments":{"path":"a"}}`, a, "I'll read it:"},
		{"We need it. commentary to=functions.read json{\"path\":\"a\"}", "", a, ""},
		{"We need it.\ncommentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\"}", "", a, ""},
		{"", `The model writes <|channel|>commentary to=functions.exec<|message|>{"command":"ls"}<|call|> to run it.`, "",
			`The model writes <|channel|>commentary to=functions.exec<|message|>{"command":"ls"}<|call|> to run it.`},
		{"", `<|channel|>final<|message|>So: "<|channel|>commentary to=functions.exec<|message|>{"command":"ls"}<|call|>" is a leak.<|return|>`, "",
			`So: "<|channel|>commentary to=functions.exec<|message|>{"command":"ls"}<|call|>" is a leak.`},
		{"", `A header such as <|start|>assistant<|channel|>commentary to=functions.exec names the tool.`, "",
			`A header such as <|start|>assistant<|channel|>commentary to=functions.exec names the tool.`},
		{"", `<|channel|>final<|message|>A header such as <|channel|>commentary to=functions.exec names the tool.<|return|>`, "",
			`A header such as <|channel|>commentary to=functions.exec names the tool.`},
		{"", `<|channel|>commentary to=read<|message|>a &lt;|call|&gt; b.txt<|call|>`, `read{"path":"a &lt;|call|&gt; b.txt"}`, ""},
		{"", `<|channel|>commentary to=read<|message|>b.txt&lt;|call|&gt;`, `read{"path":"b.txt"}`, ""},
		{"", `&lt;|channel|&gt;commentary to=read&lt;|message|&gt;b.txt&lt;|call|&gt;`, `read{"path":"b.txt"}`, ""},
		{"", "<|channel|>final<|message|>So:\n```\n<|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"}<|call|>\n```<|return|>", "",
			"So:\n```\n<|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"}<|call|>\n```"},
		{"", "Write [start] first, then [channel] and [message].", "", "Write [start] first, then [channel] and [message]."},
		{"", "<start>assistant<channel>commentary to=functions.exec<message>{\"command\":\"ls\"}<call>", run, ""},
		{"", "```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\n", a + " " + a, ""},
		{"", "```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\n```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\nThese are examples.", "",
			"```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\n```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\nThese are examples."},
		{"", "I look at it.\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```", a, "I look at it."},
		{"", "I look at it.\n```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```", "", "I look at it."},
		{"", "An example:\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```", "", "An example:\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```"},
		{"<|channel|>analysis<|message|>We greet.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>", "", "", "Hi."},
		{"<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{\"path\":\"a\"}<|call|>", "", a, "I look."},
		{"We need it.<|end|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"}<|call|>Now we wait.", "", run, ""},
		{"We need it. So <|start|>assistant<|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"}<|call|>Now we wait.", "", "", ""},
		{"We could write <|channel|>final<|message|>Hi.<|return|> but think on.", "", "", ""},
		{"", "See:\n- <|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"} it says", "", "See:\n- <|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"} it says"},
		{"", "functions.read({\"path\":\"a\"})\nfunctions.read({\"path\":\"a\"})\n", a + " " + a, ""},
	} {
		r := s.Reader(c, facts())
		if row.thoughts != "" {
			r.Feed(parse.Delta{Reasoning: row.thoughts})
		}
		r.Feed(parse.Delta{Content: row.text})
		got, _ := r.Close("stop")
		if calls, shows := strings.TrimSpace(showCalls(got.Calls)), strings.TrimSpace(strings.ReplaceAll(got.Content, zeroWidth, "")); calls != row.calls || shows != row.shows {
			t.Errorf("%q %q\ngives %s, shows %q, refused %v\nwant  %s, %q", row.thoughts, row.text, calls, shows, got.Refused, row.calls, row.shows)
		}
		sameReading(t, s, c, "row", row.text)
	}
}

// What may be a call, or may not, is held back and asked about. The second time it is text.
func TestAskedOnce(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	for _, text := range []string{
		`{"name":"exec","arguments":{"command":"ls"}}`,
		"```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```",
		"[TOOL:exec|command=ls]",
	} {
		text = "I look: " + text
		first, second := readPieces(s, c, []string{text}, "stop"), readAs(s, c, parse.Facts{Asked: true}, []string{text}, "stop")
		if len(first.Calls) > 0 || len(first.Refused) != 1 || first.Refused[0].Code != tools.Unsure || !strings.HasPrefix(first.Content, "I look:") || strings.Contains(first.Content, "exec") {
			t.Errorf("%q gives %s, shows %q, refused %v", text, showCalls(first.Calls), first.Content, first.Refused)
		}
		if len(second.Calls)+len(second.Refused) > 0 || strings.ReplaceAll(second.Content, zeroWidth, "") != text {
			t.Errorf("%q, asked before, gives %s, shows %q, refused %v", text, showCalls(second.Calls), second.Content, second.Refused)
		}
	}
}

// What the user writes and how the server says that the reply ended are signs, too.
func TestSignsAroundTheReply(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	const text = `exec {"command":"ls"}`
	score := func(user, finish string) float64 {
		r := s.Reader(c, shipped.Facts("", "", user))
		r.Feed(parse.Delta{Content: text})
		got, _ := r.Close(finish)
		if len(got.Weighed) != 1 {
			t.Fatalf("%q weighed %+v", text, got.Weighed)
		}
		return got.Weighed[0].Score
	}
	plain, topic, finish := score("List the files.", "stop"), score("How does a Tool Call look?", "stop"), score("List the files.", "tool_calls")
	if topic >= plain || finish <= plain {
		t.Errorf("score %.2f, where the user writes about calls %.2f, where the server says that there are calls %.2f", plain, topic, finish)
	}
}
