package setup

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Each way in which a server spoils a call is counted as what it is, and the sidecar makes it right where the
// model meant one call.
func TestScriptedTurns(t *testing.T) {
	var s serverTurns
	ruletest.Must(t, json.Unmarshal(scriptedTurns, &s))
	asText := func(c scripted) script.Reply {
		return script.Text("<tool_call>\n{\"name\": \"" + c.Name + "\", \"arguments\": " + string(c.Arguments) + "}\n</tool_call>")
	}
	spoil := []struct {
		without, with string
		reply         func(c scripted) script.Reply
	}{
		{"", "", func(c scripted) script.Reply { return script.Native(c.Name, string(c.Arguments)) }},
		{"invalid JSON", "", func(c scripted) script.Reply {
			return script.Native(c.Name, strings.ReplaceAll(string(c.Arguments), `"`, "'"))
		}},
		{"schema", "", func(c scripted) script.Reply {
			return script.Native(c.Name, strings.Replace(string(c.Arguments), "20", `"20"`, 1))
		}},
		{"leak", "", asText},
		{"unknown name", "", func(c scripted) script.Reply {
			return script.Native("functions."+c.Name, string(c.Arguments))
		}},
		{"leak", "", asText},
		{"no call", "no call", func(scripted) script.Reply { return script.Text("It is fine there.") }},
		{"other values", "other values", func(c scripted) script.Reply { return script.Native(c.Name, `{"city":"Bern"}`) }},
		{"no answer", "no answer", func(scripted) script.Reply { return script.Fail(http.StatusBadRequest, "no luck") }},
		{"leak", "", asText},
	}
	if len(spoil) != len(s.Turns) {
		t.Fatalf("%d turns", len(s.Turns))
	}
	model := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		for i, turn := range s.Turns {
			if gjson.GetBytes(q.Body, "messages.@reverse.0.content").Str == turn.Ask {
				reply := spoil[i].reply(turn)
				return &reply
			}
		}
		reply := script.Text("I do not know.")
		return &reply
	}})
	p := patient(t, model)
	p.Settings.UpstreamKey = "secret-of-the-model"
	p.Turns, p.Serve = true, func(ctx context.Context, upstream string, log io.Writer) error {
		env := cli.Env{Parts: []cli.Part{confine.Part{}, run.Part{}}, Defaults: os.DirFS(testkit.Root())}
		own := env.DefaultSettings()
		own.Upstream, own.UpstreamKey = upstream, p.Settings.UpstreamKey
		return serve(ctx, own, env, log)
	}
	c := find(t, p.servers(context.Background()), "turns")
	const want = "scripted turns that came right without the sidecar: 1 of 10, no answer 1, leak 3, no call 1, invalid JSON 1, unknown name 1, schema 1, other values 1; with it: 7 of 10, no answer 1, no call 1, other values 1"
	if c.Status != warn || c.Found != want || c.Fix == "" {
		t.Errorf("%+v", c)
	}
	for i, turn := range p.asked[0].Turns {
		if turn.Without != spoil[i].without || turn.With != spoil[i].with {
			t.Errorf("%s: %q without, %q with", turn.Ask, turn.Without, turn.With)
		}
	}
	path := filepath.Join(t.TempDir(), "turns.html")
	ruletest.Must(t, p.writeTurns(path))
	page, err := os.ReadFile(path)
	ruletest.Must(t, err)
	for _, text := range []string{"Right with: 7 of 10", "<td>leak</td><td>right</td>", "say &#34;hello&#34;"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("no %q in the page", text)
		}
	}
	if strings.Contains(string(page), p.Settings.UpstreamKey) || strings.Contains(string(page), p.Settings.Upstream) {
		t.Error("the page says how to reach the server")
	}
}
