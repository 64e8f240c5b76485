package sidecar

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	words "github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A model of models.yaml may have an upstream, a prompt and a name of its own.
func TestModels(t *testing.T) {
	second := script.New(script.Scenario{Steps: []script.Reply{script.Text("Second.")}, Loop: true})
	other := httptest.NewServer(second)
	t.Cleanup(other.Close)
	r := start(t, setup{key: upstreamKey},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("First.")}, Loop: true}))
	set := *r.s.rules.Set()
	set.Models = append([]ruleset.Model{
		{ID: rulefile.Text{Value: "far"}, Upstream: rulefile.Text{Value: other.URL}, Name: "some/name", Prompt: rulefile.Text{Value: "p"}},
		{ID: rulefile.Text{Value: "bad"}, Upstream: rulefile.Text{Value: "ftp://nowhere"}},
	}, set.Models...)
	kind, _ := words.Plain("Be \"kind\".")
	set.Prompts = map[string]*words.Prompt{"p": kind}
	r.s.rules = fixed{&set}

	for range 2 {
		if a := r.chat(`{"model":"far","messages":[ {"role":"user","content":"go"}]}`); a.text != "Second." {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	asked := second.Requests("")[0]
	if asked.Model != "some/name" || len(asked.Messages) != 2 || asked.Messages[0].Role != "system" ||
		asked.Messages[0].Text != `Be "kind".` {
		t.Errorf("%s", asked.Body)
	}
	if got := asked.Header.Get("Authorization"); got != "" {
		t.Errorf("the key of another server was sent: %q", got)
	}
	if a := r.chat(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`); a.text != "First." {
		t.Errorf("%d %s", a.status, a.body)
	}
	// the first of the file
	if a := r.chat(`{"messages":[{"role":"user","content":"go"}]}`); a.text != "Second." {
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
		if a := r.chat(asking(more + bothTool + `,"tool_choice":"none"`)); len(a.calls) > 0 ||
			a.text != marker.Content || a.last != "stop" {
			t.Errorf("%+v", a)
		}
	}
}

// An id that no listed model fits is 404 with the list, and the server is not ready while its
// first id is one.
func TestModelIsNotServed(t *testing.T) {
	page := `{"data":[{"id":"nomic-embed-text"},{"id":"qwen3:8b"}]}`
	r := start(t, setup{}, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodGet {
			t.Error("the model server was asked for a completion")
		}
		_, _ = w.Write([]byte(page))
	}))
	for _, id := range []string{"gpt-oss", "gpt-oss-20b"} {
		a := r.chat(`{"model":"` + id + `","messages":[{"role":"user","content":"go"}]}`)
		if a.status != http.StatusNotFound || a.fault.Code != "model_not_found" ||
			!strings.Contains(a.fault.Message, "nomic-embed-text, qwen3:8b") {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
	if a := r.ask(http.MethodGet, "/readyz", ""); a.status != http.StatusServiceUnavailable ||
		!strings.Contains(a.body, "qwen3:8b") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
