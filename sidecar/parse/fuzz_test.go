package parse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// offeredForFuzz are tools with and without schemas.
func offeredForFuzz() *tools.Catalog {
	return tools.NewCatalog(shipped.Tools, nil, []tools.Tool{
		{Name: "read", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "exec", Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
		{Name: "web_search"},
	})
}

// fuzzReading checks what must hold for any text: no panic, the same reading for
// any cut, calls of offered tools only, and no markup in what is shown.
func fuzzReading(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add(s, uint8(3), false)
	}
	c := offeredForFuzz()
	f.Fuzz(func(t *testing.T, text string, step uint8, cut bool) {
		if len(text) > 4096 {
			t.Skip("long texts are the linear test's")
		}
		text = strings.ToValidUTF8(text, "?")
		finish := "stop"
		if cut {
			finish = "length"
		}
		want := readPieces(shipped.Strategies(""), c, []string{text}, finish)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+int(step)%17)
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got := readPieces(shipped.Strategies(""), c, pieces, finish)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("text %q cut every %d bytes reads differently (-whole +cut):\n%s", text, 1+int(step)%17, diff)
		}
		for _, call := range want.Calls {
			if !c.Exact(call.Name) {
				t.Fatalf("text %q: %s was not offered", text, call.Name)
			}
		}
		if want.Finish == "tool_calls" != (len(want.Calls) > 0) {
			t.Fatalf("text %q: finish %q with %d calls", text, want.Finish, len(want.Calls))
		}
	})
}

func FuzzHarmony(f *testing.F) {
	fuzzReading(f,
		`<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>`,
		`<|start|>assistant to=exec<|channel|>commentary json<|message|>{"command":"ls <|end|>"}<|end|><|start|>assistant<|channel|>final<|message|>ok<|return|>`,
		`analysisWe look.assistantcommentary to=functions.exec json{"command":"ls"}assistantfinalDone.`,
		"commentary to=read code {\"path\":\"a\"}", "final {\"a\":1}", "<think>x</think>assistantfinal y", "<|message|>a<|end|>b<|call|>c",
	)
}

func FuzzReAct(f *testing.F) {
	fuzzReading(f,
		"Thought: look\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation: x",
		"**Action:** exec\n**Action Input:** ls -la\n\nThought: y", "Final Answer: 42", "Thought: a\nFinal Answer: b",
		"Action:\n```json\n{\"action\":\"read\",\"action_input\":{\"path\":\"a\"}}\n```",
	)
}

func FuzzMarkers(f *testing.F) {
	fuzzReading(f,
		"[TOOL:read|path=a]", "[ TOOL : exec | command = \"a | b ]\" ] x", "[tool:read] {\"path\":\"a\"}",
		"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>", "<invoke name=\"read\"><parameter name=\"path\">a</parameter></invoke> says",
		"{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"exec\",\"arguments\":{\"command\":\"b\"}}", "read{\"path\":\"a\"}",
		"```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"}}\n```", "[DONE]\nx", "`<tool_call>`",
	)
}

// Hostile repetitions must cost linear time. Doubling the text may not cost more
// than about twice the steps; time is measured over sizes that differ eightfold,
// and a quadratic reader would be off by a factor of eight.
func TestHostileTextIsReadInLinearTime(t *testing.T) {
	for _, unit := range []string{
		"<|start|>", "<|channel|>", "[", "{", `"x"y`, "<|channel|>commentary to=read<|message|>{\"a", "[TOOL:", "<tool_call>", "<function=",
		"Thought: a\n", "Action: read\n", "Action: read\nAction Input: {\"\n", "assistant", "analysis", "assistantfinal", "`", "```\n", "<", "to=read ",
		"{\"name\":", "read{\"", "[TOOL:read|a=", "<think>", "\n", "commentary to=exec code", "<|end|>", "<|call|>", "a\n    ",
	} {
		for _, piece := range []int{4, 1 << 20} {
			small := cost(t, unit, 16<<10, piece)
			large := cost(t, unit, 128<<10, piece)
			if testing.Verbose() {
				t.Logf("%-50q in pieces of %7d: 16 KB %8d ns, 128 KB %9d ns", unit, piece, small, large)
			}
			if small > 0 && large > 40*max(small, 200_000) {
				t.Errorf("%q in pieces of %d: 16 KB took %d ns, 128 KB %d ns", unit, piece, small, large)
			}
		}
	}
}

// cost is the least of three readings, in nanoseconds.
func cost(t *testing.T, unit string, size, piece int) int64 {
	t.Helper()
	text := strings.Repeat(unit, size/len(unit))
	c := offeredForFuzz()
	best := int64(1 << 62)
	for range 3 {
		began := time.Now()
		r := shipped.Strategies("").Reader(c, parse.Facts{})
		for i := 0; i < len(text); i += piece {
			r.Feed(parse.Delta{Content: text[i:min(len(text), i+piece)]})
		}
		r.Close("stop")
		best = min(best, time.Since(began).Nanoseconds())
	}
	return best
}
