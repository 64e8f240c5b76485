//go:build unix && !race

// The race detector looks at a whole text each time it is read without a copy; it
// makes the costs below quadratic, which they are not.

package parse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Hostile repetitions must cost linear time, alone, behind the start of a candidate,
// and as reasoning.
func TestHostileTextIsReadInLinearTime(t *testing.T) {
	s := shipped.Strategies("")
	for i, unit := range []string{
		"<|start|>", "<|channel|>", "[", "{", `"x"y`, "<|channel|>commentary to=read<|message|>{\"a",
		"[TOOL:", "<tool_call>", "<function=",
		"Thought: a\n", "Action: read\n", "Action: read\nAction Input: {\"\n", "assistant", "analysis", "assistantfinal", "`", "```\n", "<", "to=read ",
		"{\"name\":", "read{\"", "[TOOL:read|a=", "<think>", "\n", "commentary to=exec code",
		"to=exec {} so\n", "\nto=exec {", "[TOOL:exec|a=b] so ", "<|end|>", "<|call|>", "a\n    ",
		"exec", "exec{", "exec {\"a\":1}", "[exec]\n", "[exec]\n{\"a\":", "`[exec]\n{`", "commentary to=exec",
		"`commentary to=exec code{`", "final to=", " t", "to",
		"<tool_call>exec(", "<tool_call>x</tool_call>", "<tool_call>{\"name\":\"", "<tool_call>[",
		"<invoke name=\"exec\"><parameter name=\"a\">", "<tool>exec</tool>", "</tool_call>",
		"```json\n{\"name\":\"exec\"", "Action Input: {", "Action: exec\nAction Input: \"a\n", "Thought: x\nAction: y\n", "Final Answer: ", "Observation:",
		"<|start|>assistant<|channel|>analysis<|message|>a", "<|message|>", "<|constrain|>",
		"<|channel|>commentary<|message|>{\"a\":1}<|call|>", "to=exec code assistant", "analysis ",
		"\\", "\\\"", "{\"a\":\"\\n", "{}", "[{", "]", "}", "[DONE]\n", "~~~\n", "</think>",
		"assistant to=exec {\"command\":\"", "web_search{} ",
		"&lt;|", "&lt;|end|&gt;", "&amp;", "%3C", "\\u003c", "|", "|end", "＜", "＜｜call｜＞", "<\u200b", "< ",
		"<|channel ", "&#", "to=",
		"final ", "a", "Message(role=", "I will read it.\nMessage(role='a')\n", "A(", "data: {}\n", "channel: x\n", "<message a=\"b\">", "{\"done\":true}\n", "'<|a|>', ", "content='a' ",
	} {
		linear(t, s, "", unit, 4, false)
		if testing.Short() && i%8 > 0 { // each unit alone, and each eighth behind all openings
			continue
		}
		linear(t, s, "", unit, 1<<20, false)
		linear(t, s, "", unit, 4, true)
		for _, opening := range []string{"{\"name\":\"exec\",\"arguments\":{\"a\":\"",
			"<|channel|>commentary to=exec<|message|>", "<tool_call>", "Action: exec\nAction Input: ",
			"<|end|>", "```\n", "Message(role=", "[{\"type\":"} {
			linear(t, s, opening, unit, 1<<20, false)
		}
		for _, opening := range []string{"<|channel|>final<|message|>", "commentary to=exec json{}",
			"{\"a\":1}", "```json\n{\"name\":\"exec\",\"arguments\":{}}\n```"} {
			linear(t, s, opening, unit, 4, false)
		}
	}
}

// So must a body with a header that does not end.
func TestHostileHeadersAreReadInLinearTime(t *testing.T) {
	for opening, unit := range map[string]string{
		"<|channel|>final<|message|>Ask assistant to=": "a", "<|channel|>commentary<|message|>": "final ",
		`<|channel|>commentary<|message|>{"a":1}`:    "analysis ",
		"<|channel|>commentary to=exec<|message|>{}": "{}",
	} {
		linear(t, shipped.Strategies(""), opening, unit, 4, false)
	}
}

// So must they with frames that an operator adds, and those of the pack.
func TestHostileTextForOwnFramesIsReadInLinearTime(t *testing.T) {
	for _, c := range []struct {
		s        *parse.Strategies
		openings []string
		units    []string
	}{
		{compiled(t, frames(t)...), []string{"", "@@exec", "!!exec {"}, []string{
			"@@", "@@exec", "@@end", "~~", "@@exec@@end\n", "@@exec~~command:", "<<call", "</call>",
			"<<callname=exec", "!!", "!!exec{", "!!exec;",
			";", "!!exec{\"", "$run ", "<read>", "</read>", "<read><path>", "[exec(", "\n[exec()",
			"\n[exec('", "%%", "%%exec{", "%%stop",
		}},
		{shipped.Strategies(""), []string{"", "<tool_call>exec<arg_key>", "[TOOL_CALLS]exec[ARGS]{\""}, []string{
			"<tool_call>", "<tool_call>a", "<arg_key>", "<tool_call>exec<arg_key>a</arg_key>",
			"<tool_call>x</tool_call>", "<tool_call>{", "[TOOL_CALLS]",
			"[TOOL_CALLS]exec{", "[TOOL_CALLS]exec{\"", "[TOOL_CALLS]exec[ARGS]{}\n", "<|python_tag|>",
			"<|python_start|>[", "[exec(\n", "\n[exec('",
			"<|tool▁calls▁begin|>", "<|tool▁call▁begin|>a<|tool▁sep|>{}", "<|tool_call_begin|>",
		}},
	} {
		for i, unit := range c.units {
			linear(t, c.s, "", unit, 4, false)
			if testing.Short() && i%4 > 0 {
				continue
			}
			for _, opening := range c.openings {
				linear(t, c.s, opening, unit, 1<<20, false)
			}
		}
	}
}

// A frame that is opened and never closed costs no more than its length.
func TestFramesAreLinear(t *testing.T) {
	s := compiled(t, frames(t)...)
	for i, unit := range []string{"<calls>", "<calls><f=exec>", "<p=command>", "</p>", "<calls><f=exec><p=a>", "((", "((exec ~~a:",
		"<|call>call:exec{", `<|"|>`, "⟦call⟧", "⟦call⟧exec⟦args⟧{"} {
		for _, opening := range []string{"", "<calls><f=exec><p=command>", "((exec ~~ a: ", `<|call>call:exec{a:<|"|>`} {
			linear(t, s, opening, unit, 4, false)
			if testing.Short() && i%4 > 0 {
				break
			}
			linear(t, s, opening, unit, 1<<20, false)
		}
	}
}

// linear compares a reading with one of four times the text. A quadratic reader
// takes 16 times as long. The reader looks back for up to 4 KB, so the smaller text is longer. What is
// suspicious is measured again, and the best of each counts: a busy machine only adds.
func linear(t *testing.T, s *parse.Strategies, opening, unit string, piece int, thought bool) {
	t.Helper()
	small, large := time.Hour, time.Hour
	for range 10 {
		large = min(large, cost(s, opening, unit, 32<<10, piece, thought))
		if large <= 3600*time.Microsecond { // whatever the small one takes
			return
		}
		small = min(small, cost(s, opening, unit, 8<<10, piece, thought))
		if large <= 10*small {
			return
		}
	}
	t.Errorf("%q %q in pieces of %d, as a thought %v: 8 KB took %v, 32 KB %v", opening, unit, piece,
		thought, small, large)
}

// cost is the processor's time for a reading.
func cost(s *parse.Strategies, opening, unit string, size, piece int, thought bool) time.Duration {
	text := opening + strings.Repeat(unit, size/len(unit))
	r := s.Reader(offeredForFuzz(), parse.Facts{})
	return testkit.ProcessorTime(func() {
		for i := 0; i < len(text); i += piece {
			if part := text[i:min(len(text), i+piece)]; thought {
				r.Feed(parse.Delta{Reasoning: part})
			} else {
				r.Feed(parse.Delta{Content: part})
			}
		}
		r.Close("stop")
	})
}
