package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What a server says of a token stays with its text, also where that was held because it could have been
// markup: each event leaves once with all that it says, and the text is whole.
func TestLogprobsStay(t *testing.T) {
	event := func(member, text, finish string) string {
		return fmt.Sprintf(`data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-20b","choices":[{"index":0,"delta":{%q:%q},"logprobs":{"content":[{"token":%[2]q,"logprob":-0.5}]},"token_ids":[7],"finish_reason":%[3]s}],"timings":{"predicted_ms":1}}`+"\n\n", member, text, finish)
	}
	for name, tokens := range map[string][]string{
		"words that could begin a header": {"Good", " day", " to", " you", ",", " how", " are", " you", " today", "?", " Write", " to", "=", "x", " or", " to", " me", "."},
		"brackets and braces":             {"A", " <", " b", " and", " {", "a", "}", " [", "x", "]", " end"},
		"one chunk":                       {"Good day to you, how are you today? I write to"},
		"a chunk that is held in part":    {"Good day to", " you"},
		"a mark at the end":               {"Good day", " to"},
		"code": {"Use `", "to", "=", "a", "` ", "```", "\n", "ls", "\n", "```",
			" to", " list"},
	} {
		for _, member := range []string{"content", "reasoning"} {
			t.Run(name+", "+member, func(t *testing.T) {
				stream := `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
				for _, text := range tokens {
					stream += event(member, text, "null")
				}
				if member == "reasoning" {
					stream += event("content", "Yes.", "null")
				}
				stream += `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + provider.DoneEvent
				r := provider.Start(t, asItCame, provider.Says(provider.SSE, stream))
				a := r.Stream()
				var told []string
				for line := range strings.Lines(a.Body) {
					doc := gjson.Parse(strings.TrimPrefix(strings.TrimSpace(line), "data: "))
					said := doc.Get("choices.0.logprobs.content.0.token")
					if !said.Exists() {
						continue
					}
					if !doc.Get("choices.0.token_ids").Exists() || !doc.Get("timings").Exists() {
						t.Errorf("it lacks more: %s", line)
					}
					told = append(told, said.Str)
				}
				want := strings.Join(tokens, "|")
				text := a.Text
				if member == "reasoning" {
					want, text = want+"|Yes.", a.Thought
				}
				if got := strings.Join(told, "|"); got != want || text != strings.Join(tokens, "") {
					t.Errorf("%q with text %q, not %q\n%s", got, text, want, a.Body)
				}
			})
		}
	}
}
