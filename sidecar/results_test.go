package sidecar_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A long result that the gateway sends reaches the model shortened, and always in the same
// way, so that the server finds its prompt cache.
func TestResultsOfTheGateway(t *testing.T) {
	long := strings.Repeat("a line of a long log\n", 5000) // 105,000 characters
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	parts := `[{"type":"text","text":` + string(quoted) + `},{"type":"text","text":"short"}]`
	for name, content := range map[string]string{"a text": string(quoted), "parts": parts} {
		messages := `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":` + content + `}`
		r := provider.Play(t, script.Text("ok"), script.Text("ok"))
		r.Chat(`{"model":"gpt-oss",` + provider.BothTools + `,"messages":` + messages + `]}`)
		r.Chat(`{"model":"gpt-oss",` + provider.BothTools + `,"messages":` + messages +
			`,{"role":"assistant","content":"ok"},{"role":"user","content":"and now?"}]}`)
		asked := r.Model.Requests("")
		first, second := asked[0].Messages[2], asked[1].Messages[2]
		if n := len([]rune(first.Text)); n > 40000+len("short") || n < 39000 ||
			!strings.Contains(first.Text, "of 105000 characters left out") ||
			!strings.HasPrefix(first.Text, "a line of a long log\n") {
			t.Errorf("%s: %d characters: %.200s", name, n, first.Text)
		}
		if string(first.Raw) != string(second.Raw) {
			t.Errorf("%s: the same result is shortened in two ways", name)
		}
	}
	r := provider.Play(t, script.Text("ok"))
	short := `{"model":"gpt-oss",` + provider.BothTools +
		`,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"short"}]}`
	r.Chat(short)
	if got := string(r.Model.Requests("")[0].Body); !strings.Contains(got, `"content":"short"`) {
		t.Errorf("a short result was changed: %s", got)
	}
}
