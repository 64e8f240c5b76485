package guard_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A call that is refused beside one that leaves is not lost: the log has a line, and the
// model is told with the result of the other, whenever the conversation is sent again.
func TestRefusedBesideGood(t *testing.T) {
	good := script.Native("read", `{"path":"a"}`)
	for name, bad := range map[string]struct {
		reply script.Reply
		told  []string
	}{
		"unknown tool":     {script.Native("launch", `{}`), []string{"launch"}},
		"broken arguments": {script.Native("exec", `{"command" ls`), []string{"exec"}},
		"missing argument": {script.Native("exec", `{"timeout":3}`), []string{"exec", "command"}},
		"leaked":           {script.LeakedHarmony("launch", `{}`), []string{"launch"}},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				both := good
				both.Content, both.Calls = bad.reply.Content, append(bad.reply.Calls, good.Calls...)
				r := provider.Play(t, both, script.Text("Done."), script.Text("Done."))
				a := r.Answer(mode)
				if len(a.Calls) != 1 || a.Calls[0].Name != "read" || len(r.Model.Requests("")) != 1 {
					t.Fatalf("%+v\n%s", a.Calls, a.Body)
				}
				if said := r.Log.Lines("call_refused"); len(said) != 1 ||
					!strings.Contains(said[0], bad.told[0]) || !strings.Contains(said[0], "WARN") {
					t.Errorf("the log says %q", said)
				}
				id := string(openai.AppendString(nil, a.Calls[0].ID))
				history := `{"model":"gpt-oss",` + provider.BothTools +
					`,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":` +
					id + `,"type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":` + id + `,"content":"the result"}]}`
				for range 2 {
					r.Chat(history)
				}
				asked := r.Model.Requests("")[1:]
				if string(asked[0].Body) != string(asked[1].Body) {
					t.Errorf("the second time it differs: %s", asked[1].Body)
				}
				said := asked[0].Messages[len(asked[0].Messages)-1].Text
				for _, word := range append(bad.told, "the result\n\n", "not all were run") {
					if !strings.Contains(said, word) {
						t.Errorf("%q lacks %q", said, word)
					}
				}
			})
		}
	}
}
