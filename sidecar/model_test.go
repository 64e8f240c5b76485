package sidecar

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A model of models.yaml may have an upstream, a prompt and a name of its own.
func TestModels(t *testing.T) {
	second := script.New(script.Scenario{Steps: []script.Reply{script.Text("Second.")}, Loop: true})
	other := httptest.NewServer(second)
	t.Cleanup(other.Close)
	r := start(t, setup{key: upstreamKey}, script.New(script.Scenario{Steps: []script.Reply{script.Text("First.")}, Loop: true}))
	t.Cleanup(r.s.Close)
	set := *r.s.live.Set()
	set.Models = append([]ruleset.Model{
		{ID: "far", Upstream: other.URL, Name: "some/name", Prompt: "p"},
		{ID: "bad", Upstream: "ftp://nowhere"},
	}, set.Models...)
	set.Prompts = map[string]string{"p": "Be \"kind\"."}
	r.s.live.now.Store(&inForce{set: &set})

	for range 2 {
		if a := r.chat(`{"model":"far","messages":[ {"role":"user","content":"go"}]}`); a.text != "Second." {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	asked := second.Requests("")[0]
	if asked.Model != "some/name" || len(asked.Messages) != 2 || asked.Messages[0].Role != "system" || asked.Messages[0].Text != `Be "kind".` {
		t.Errorf("%s", asked.Body)
	}
	if got := asked.Header.Get("Authorization"); got != "" {
		t.Errorf("the key of another server was sent: %q", got)
	}
	if a := r.chat(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`); a.text != "First." {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.chat(`{"messages":[{"role":"user","content":"go"}]}`); a.text != "Second." { // the first of the file
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.chat(`{"model":"bad","messages":[{"role":"user","content":"go"}]}`); a.status != http.StatusInternalServerError || a.fault.Code != "internal_error" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Where the caller forbids calls, text that looks like one is text.
func TestToolChoiceNone(t *testing.T) {
	marker := script.Marker("read", `{"path":"a"}`).Thinking("Hm.")
	r := play(t, marker, marker)
	for _, more := range []string{"", streaming + ","} {
		if a := r.chat(asking(more + bothTool + `,"tool_choice":"none"`)); len(a.calls) > 0 || a.text != marker.Content || a.last != "stop" {
			t.Errorf("%+v", a)
		}
	}
}

// Explain is what serves: the same calls, text and reasons.
func TestExplain(t *testing.T) {
	set := changed(t, setup{})
	for _, row := range []struct {
		name, record             string
		calls, content, thoughts string
		refused                  int
	}{
		{"names", `{"message":{"content":"[TOOL:read|path=a]"},"tools":["read"]}`, `read {"path":"a"}`, "", "", 0},
		{"tools unknown", `{"message":{"content":"[TOOL:rd|path=a]"},"tools":null}`, `rd {"path":"a"}`, "", "", 0},
		{"none offered", `{"message":{"content":"[TOOL:read|path=a]"},"tools":[]}`, "", "[TOOL:read|path=a]", "", 0},
		{"tool objects", `{"message":{"content":null,"tool_calls":[{"function":{"name":"exec","arguments":"{\"timeout\":\"5\",\"cmd\":\"ls\"}"}}]},"tools":[` + execTool + `]}`, `exec {"timeout":5,"command":"ls"}`, "", "", 0},
		{"bare objects", `{"message":{"content":null,"tool_calls":[{"function":{"name":"x","arguments":"{}"}}]},"tools":[{"name":"read"}]}`, "", "", "", 1},
		{"chunks", `{"chunks":[{"choices":[{"index":1,"delta":{"content":"no"}}]},{"choices":[{"index":0,"delta":{"reasoning":"Hm."}}]},{"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}]}`, "", "Yes.", "Hm.", 0},
		{"an error", `{"upstream_error":{"status":400,"body":{"error":{"message":"x","failed_generation":"{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}"}}},"tools":["read"]}`, `read {"path":"a"}`, "", "", 0},
	} {
		var rec Record
		if err := json.Unmarshal([]byte(row.record), &rec); err != nil {
			t.Fatal(err)
		}
		e, err := Explain(set, guard.World{}, "", &rec)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		var calls []string
		for _, c := range e.Calls {
			calls = append(calls, c.Name+" "+string(c.Arguments))
		}
		if strings.Join(calls, "; ") != row.calls || e.Content != row.content || e.Reasoning != row.thoughts || len(e.Refused) != row.refused {
			t.Errorf("%s: %+v", row.name, e)
		}
		if (e.Finish == "tool_calls") != (len(calls) > 0) || e.Version != set.Version {
			t.Errorf("%s: finish %s, rules %s", row.name, e.Finish, e.Version)
		}
	}
	for _, bad := range []string{`{"tools":[1]}`, `{"tools":[{}]}`} {
		var rec Record
		if err := json.Unmarshal([]byte(bad), &rec); err != nil {
			t.Fatal(err)
		}
		if e, err := Explain(set, guard.World{}, "", &rec); err == nil {
			t.Errorf("%s: %+v", bad, e)
		}
	}
}
