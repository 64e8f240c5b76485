package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// A lead may be a thought; what goes beyond it, or is released, is text at once.
func TestLead(t *testing.T) {
	s := compiled(t, harmonyFrames(nil))
	r := s.Reader(offeredForFuzz(), parse.Facts{})
	if events := r.Feed(parse.Delta{Content: "Some text "}); len(events) > 0 || !r.Leading() || !r.Holding() {
		t.Fatalf("the lead is not held: %v", events)
	}
	if events := r.Release(); len(events) != 1 || events[0].Text != "Some text " || r.Leading() {
		t.Fatalf("release gives %v", events)
	}
	if events := r.Feed(parse.Delta{Content: "and more "}); len(events) != 1 ||
		events[0].Text != "and more " || r.Holding() {
		t.Fatalf("text behind the lead gives %v", events)
	}

	r = s.Reader(offeredForFuzz(), parse.Facts{})
	r.Feed(parse.Delta{Content: strings.Repeat("x", 256)})
	if events := r.Feed(parse.Delta{Content: "y"}); len(events) != 2 ||
		len(events[0].Text)+len(events[1].Text) != 257 {
		t.Fatalf("257 bytes give %v", events)
	}

	r = s.Reader(offeredForFuzz(), parse.Facts{})
	r.Feed(parse.Delta{Content: "Hi"})
	if events := r.Feed(parse.Delta{Reasoning: "Hm."}); len(events) != 2 || events[0].Text != "Hi" ||
		events[1].Kind != parse.Thought {
		t.Fatalf("text before reasoning gives %v", events)
	}
}

// A call leaves when what follows shows that no sentence goes on around it, and that no call is near;
// not at the end of the reply.
func TestCallsLeaveEarly(t *testing.T) {
	more := "\nDone." + strings.Repeat(" It is done", 16)
	for _, text := range []string{
		`<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|><|start|>`,
		"[TOOL:read|path=a]" + more, "{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}" + more,
		"Action: exec\nAction Input: {\"command\":\"ls\"}\nObservation: x" + more, "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>" + more,
	} {
		r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{})
		found := false
		for _, e := range r.Feed(parse.Delta{Content: text}) {
			found = found || e.Kind == parse.ToolCall
		}
		if !found {
			t.Errorf("%q: the call waits for the end", text)
		}
	}
}

// What fills its window is prose at the same byte in every chunking.
func TestWindows(t *testing.T) {
	s := shipped.Strategies("")
	for name, text := range map[string]string{
		"value": `{"name":"exec","arguments":{"command":"` + strings.Repeat("x", 400) + `"}}`,
		"block": "[TOOL:exec|command=" + strings.Repeat("x", 400) + "]",
		"tag":   "<tool_call>{\"name\":\"" + strings.Repeat("x", 400) + "</tool_call>",
		"glued": `exec{"command":"` + strings.Repeat("x", 400) + `"}`,
		"fence": "```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"" + strings.Repeat("x", 400) +
			"\"}}\n```",
		"lines":  "Thought: " + strings.Repeat("x\n", 300) + "Action: exec\nAction Input: ls",
		"lost":   `<|channel|>commentary<|message|>{"command":"` + strings.Repeat("x", 400) + `"}<|call|>`,
		"blanks": "a\n" + strings.Repeat(" ", 600) + "Action: exec\nAction Input: ls",
		"ticks":  strings.Repeat("`", 1100) + "<|call|>",
		"maybe":  "analysis " + strings.Repeat("x ", 2100) + "<|end|>",
		"word":   "to=" + strings.Repeat("x", 600) + " {\"command\":\"ls\"}",
	} {
		var want parse.Reading
		for i, pieces := range chunkings(text, 1) {
			r := s.Reader(offeredForFuzz(), parse.Facts{MaxText: 300})
			for _, p := range pieces {
				r.Feed(parse.Delta{Content: p})
			}
			got, _ := r.Close("stop")
			if len(got.Calls) > 0 && name != "blanks" && name != "lines" {
				t.Errorf("%s: %v", name, got.Calls)
			}
			if i == 0 {
				want = got
			} else if differ(want, got) != "" {
				t.Errorf("%s in %d pieces:\n%s", name, len(pieces), differ(want, got))
				break
			}
		}
	}
}

// Reasoning that passes for plain is let through byte for byte by a reader.
func TestPlainThought(t *testing.T) {
	for raw, want := range map[string]bool{
		`"We look at it."`: true, `"a \n b"`: true, `""`: false, `"{\"name\":1}"`: false, `" [1]"`: false,
		`"a <|end|>"`: false, `"a \u003c|end|>"`: false, `"\n{}"`: false, `"commentary to=read {}"`: false,
		`"I need it. {\"name\":\"read\"}"`: false, `"commentary recipient=functions.read json"`: false,
		`"a ｜end｜>"`: false, `"全角，好。"`: true,
	} {
		if shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{}).PlainThought([]byte(raw)) != want {
			t.Errorf("%s: %v", raw, !want)
		}
	}
	r := compiled(t, harmonyFrames(nil)).Reader(offeredForFuzz(), parse.Facts{})
	r.Feed(parse.Delta{Content: "Hi"})
	if r.Reasoned(); r.Leading() {
		t.Error("with reasoning apart, text is no lead")
	}
}
