package parse_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// TestEndings: a word that is not known is a cut, and its text is not taken for whole.
func TestEndings(t *testing.T) {
	for _, row := range []struct{ said, text, finish, cut string }{
		{"", "Hi", "stop", ""}, {"stop", "Hi", "stop", ""}, {"eos_token", "Hi", "stop", ""}, {"STOP", "Hi", "stop", ""}, {"tool_calls", "Hi", "stop", ""},
		{"length", "Hi", "length", ""}, {"max_tokens", "Hi", "length", ""}, {"length", "", "length", ""},
		{"content_filter", "Hi", "content_filter", "content_filter"}, {"content_filter", "", "content_filter", "content_filter"},
		{"repetition", "Hi", "length", "repetition"}, {"abort", "Hi", "length", "abort"}, {"error", "Hi", "length", "error"}, {"stopped early", "Hi", "length", "stopped early"},
		{"repetition", "", "stop", "repetition"}, {"repetition", " \n", "stop", "repetition"},
		{"<|call|>", "Hi", "length", "for an unknown reason"}, {"größe", "Hi", "length", "for an unknown reason"},
		{strings.Repeat("x", 65), "Hi", "length", "for an unknown reason"},
		{"repetition", `<|channel|>commentary to=exec<|message|>{"command":"ls"}<|call|>`, "tool_calls", "repetition"},
	} {
		got := readPieces(shipped.Strategies(""), offeredForFuzz(), []string{row.text}, row.said)
		if got.Finish != row.finish || got.Cut != row.cut {
			t.Errorf("%q after %q: finish %q, cut %q", row.said, row.text, got.Finish, got.Cut)
		}
	}
}

// Half a call never leaves, whatever cut it; a whole one does. One of the server's own that is
// whole may have been closed by the server: then it leaves only if it reads.
func TestCutCalls(t *testing.T) {
	half := func(args string) parse.Delta {
		return parse.Delta{Calls: []parse.CallDelta{{ID: "a", Name: "exec", Arguments: []byte(args)}}}
	}
	for _, said := range []string{"length", "content_filter", "abort", ""} {
		reads, _ := readDeltas(shipped.Strategies(""), said, piece(0, "a", "read", `{"path":"a"}`))
		if len(reads.Calls) != 1 {
			t.Errorf("%s after a call that reads: %v", said, reads.Refused)
		}
	}
	for _, said := range []string{"length", "content_filter", "repetition", "abort", ""} {
		for args, calls := range map[string]int{`{"command":"l`: 0, `{"command":"rm -r /tm`: 0,
			`{"command":"ls"`: 0, `{"command":"ls"}`: 1} {
			got, _ := readDeltas(shipped.Strategies(""), said, half(args))
			own := calls
			if said != "" {
				own = 0
			}
			if len(got.Calls) != own || len(got.Refused) != 1-own {
				t.Errorf("%s after %s: %d calls, %d refused", said, args, len(got.Calls), len(got.Refused))
			}
			leaked := readPieces(shipped.Strategies(""), offeredForFuzz(),
				[]string{"<|channel|>commentary to=exec<|message|>" + args}, said)
			if said == "content_filter" { // something in the reply was wrong
				calls = 0
			}
			if len(leaked.Calls) != calls {
				t.Errorf("%s after the leaked %s: %d calls", said, args, len(leaked.Calls))
			}
			object := readPieces(shipped.Strategies(""), offeredForFuzz(),
				[]string{`{"name":"exec","arguments":` + args}, said)
			if len(object.Calls) > 0 || len(object.Refused) != 1 {
				t.Errorf("%s in an object without its end, %s: %d calls, %d refused", said, args,
					len(object.Calls), len(object.Refused))
			}
		}
	}
}

// Wherever a reply is cut, and in whatever form its call is, nothing runs but the whole command.
func TestCutAnywhere(t *testing.T) {
	const command = `rm -r build && echo \"done, {all} of it\"; ls`
	args := `{"command":"` + command + `"}`
	object := `{"name":"exec","arguments":` + args + `}`
	for _, text := range []string{
		"<|channel|>commentary to=functions.exec <|constrain|>json<|message|>" + args + "<|call|>",
		"<|start|>assistant to=functions.exec<|channel|>commentary json<|message|>" + args + "<|call|>",
		"<|channel|>commentary<|message|>" + args + "<|call|>", "<|channel|>commentary<|message|>" + object +
			"<|call|>", "<|channel|>final<|message|>" + object + "<|return|>",
		"I'll do it:\n\ncommentary to=functions.exec json" + args,
		"assistantcommentary to=functions.exec json" + args, "exec" + args, "functions.exec(" + args + ")",
		`exec(command="` + command + `")`,
		object, "```json\n" + object + "\n```", "[" + object + "]",
		`{"tool_calls":[{"type":"function","function":{"name":"exec","arguments":` + strconv.Quote(args) +
			`}}]}`,
		"<tool_call>" + object + "</tool_call>", "[TOOL_REQUEST]" + object + "[END_TOOL_REQUEST]",
		"[tool:exec] " + args, "[exec]\n" + args + "\n[/exec]",
		"<function=exec>\n<parameter=command>" + command + "</parameter>\n</function>",
		"Thought: I do it.\nAction: exec\nAction Input: " + args + "\nObservation: ",
		args + "to=functions.exec",
	} {
		s, c := shipped.Strategies(""), offeredForFuzz()
		whole := readPieces(s, c, []string{text}, "stop")
		for n := range len(text) {
			for _, said := range []string{"length", "abort", "", "error"} {
				for _, call := range readPieces(s, c, []string{text[:n]}, said).Calls {
					if len(whole.Calls) != 1 || string(call.Arguments) != string(whole.Calls[0].Arguments) {
						t.Errorf("%q, cut behind byte %d (%q): %s", text, n, said, call.Arguments)
					}
				}
			}
		}
	}
}
