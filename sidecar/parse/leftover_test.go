package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Of a header that breaks off, its text is shown, and no token; a tag of thoughts ends in any case, too.
func TestNoTokensShown(t *testing.T) {
	for text, want := range map[string]string{
		"<|start|>assistant<|channel|>Hello<|channel|>final<|end|>": "Hello",
		"<|channel|>final Hello you<|channel|>final<|end|>":         "Hello you",
		"<Think>Let me see.</think>Hello":                           "Hello",
		"<think>Let me see.</THINK>Hello":                           "Hello",
	} {
		if got := readPieces(shipped.Strategies(""), offeredForFuzz(), []string{text},
			"stop"); got.Content != want {
			t.Errorf("%q shows %q, want %q", text, got.Content, want)
		}
		sameReading(t, shipped.Strategies(""), offeredForFuzz(), "tokens", text)
	}
}

// What a header leaves that lost its recipient, and maybe its tokens, is no text. The object behind it is a
// call, as one without a header is: of a tool that reads, if it is alone or the text in front names it; else
// the model is asked.
func TestLeftovers(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	const read, exec, object = `{"path":"a"}`, `{"command":"ls"}`, `{"name":"exec","arguments":{"command":"ls"}}`
	for _, left := range []string{
		"commentary", "commentary ", "commentary json", "commentary json ", "commentaryjson", "json", "code",
		"assistantcommentary", "assistantcommentary json",
		"<|constrain|>json<|message|>", "commentary <|constrain|>json<|message|>", "commentary<|message|>",
		"commentary <|message|>json ", "<|channel|>commentary<|message|>json",
	} {
		for _, row := range []struct{ text, outcome string }{
			{left + read, "read" + read}, {left + exec, "asked"},
			{"I'll list it now.\n\n" + left + exec, "asked"}, {"I'll list it now.\n\n" + left + object, "exec" + exec}, {left + object, "exec" + exec}, {"I'll read it.\n\n" + left + read, "read" + read},
		} {
			got := readPieces(s, c, []string{row.text}, "stop")
			outcome := strings.TrimSpace(showCalls(got.Calls))
			if len(got.Calls) == 0 && len(got.Refused) > 0 && got.Refused[0].Code == tools.Unsure {
				outcome = "asked"
			}
			if shows := strings.TrimSpace(got.Content); outcome != row.outcome || shows != "" &&
				!strings.HasSuffix(shows, ".") {
				t.Errorf("%q: %s, shows %q", row.text, outcome, got.Content)
			}
			sameReading(t, s, c, "leftover", row.text)
		}
	}
	for _, left := range []string{"<|channel|>commentary<|message|>", "<|constrain|>json<|message|>",
		"assistantcommentary", "commentary json"} {
		for _, front := range []string{"For example:\n\n", "Shall I run this?\n\n"} {
			for _, body := range []string{exec, object, exec + "\n\nThat is all.",
				object + "\n\nThat is all."} {
				got := readPieces(s, c, []string{front + left + body}, "stop")
				f := facts()
				f.Asked = true
				again := readAs(s, c, f, []string{front + left + body}, "stop")
				if len(got.Calls)+len(again.Calls) > 0 || !strings.Contains(again.Content, body) {
					t.Errorf("%q: calls %s, asked before %s, and shows %q", front+left+body,
						showCalls(got.Calls), showCalls(again.Calls), again.Content)
				}
				sameReading(t, s, c, "spoken of", front+left+body)
			}
		}
	}
	for _, text := range []string{
		"final" + read, "Use json" + read + " here.", "The answer in json\n" + read, "json\n" + read,
		"For example:\n\njson" + exec, "json" + exec + "\n\nThis lists it.", "json{\"a\":1}",
		"    json" + exec, "- json" + exec, "user" + exec,
	} {
		if got := readPieces(s, c, []string{text}, "stop"); len(got.Calls) > 0 {
			t.Errorf("%q: calls %s", text, showCalls(got.Calls))
		}
	}
}
