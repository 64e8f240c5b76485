package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// kimi serves a model of another family.
func kimi(replies ...script.Reply) *script.Server {
	model := script.New(script.Scenario{Steps: replies})
	model.Dialect = script.VLLM()
	for path, page := range model.Dialect.Pages {
		model.Dialect.Pages[path] = strings.ReplaceAll(page, model.Dialect.Model, "moonshotai/Kimi-K2.6")
	}
	model.Dialect.Model = "moonshotai/Kimi-K2.6"
	return model
}

// A model of another family is read by its own format: a call that a server left in the text leaves as a
// call, the thought that the prompt began as a thought, and the history has the ids of the model's training.
func TestFamilyOfTheModel(t *testing.T) {
	const raw = `I need the file.</think>I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.exec:0` +
		`<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_calls_section_end|>`
	for _, more := range []string{"", provider.Streaming + ","} {
		model := kimi(script.Text(raw), script.Text("Done."))
		r := provider.Start(t, provider.Setup{}, model)
		a := r.Chat(provider.Body(more + provider.BothTools))
		if len(a.Calls) != 1 || a.Calls[0].Name != "exec" || a.Text != "I look." ||
			a.Thought != "I need the file." {
			t.Errorf("%q: %v %q %q\n%s", more, a.Calls, a.Text, a.Thought, a.Body)
			continue
		}
		r.Chat(fmt.Sprintf(`{"model":"gpt-oss",%s%s,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":`+
			`[{"id":"callA1","type":"function","function":{"name":"exec","arguments":"{\"command\":\"ls\"}"}}]},`+
			`{"role":"tool","tool_call_id":"callA1","content":"a"}]}`, more, provider.BothTools))
		sent := gjson.ParseBytes(model.Requests("")[1].Body).Get("messages")
		if call, result := sent.Get("1.tool_calls.0.id").Str,
			sent.Get("2.tool_call_id").Str; call != "functions.exec:0" ||
			result != call {
			t.Errorf("the model gets the ids %q and %q", call, result)
		}
		if r.Log.Count("family_recognised") != 1 {
			t.Errorf("the log does not name the family once: %s", r.Log)
		}
	}
}
