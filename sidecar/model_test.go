package sidecar_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
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
	r := provider.Start(t, provider.Setup{Key: provider.UpstreamKey},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("First.")}, Loop: true}))
	set := *r.Rules.Set()
	set.Models = append([]ruleset.Model{
		{ID: rulefile.Text{Value: "far"}, Upstream: rulefile.Text{Value: other.URL}, Name: "some/name", Prompt: rulefile.Text{Value: "p"}},
		{ID: rulefile.Text{Value: "bad"}, Upstream: rulefile.Text{Value: "ftp://nowhere"}},
	}, set.Models...)
	kind, _ := words.Plain("Be \"kind\".")
	set.Prompts = map[string]*words.Prompt{"p": kind}
	r.Rules.Put(&set)

	for range 2 {
		if a := r.Chat(`{"model":"far","messages":[ {"role":"user","content":"go"}]}`); a.Text != "Second." {
			t.Fatalf("%d %s", a.Status, a.Body)
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
	if a := r.Chat(`{"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`); a.Text != "First." {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// the first of the file
	if a := r.Chat(`{"messages":[{"role":"user","content":"go"}]}`); a.Text != "Second." {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := r.Chat(`{"model":"bad","messages":[{"role":"user","content":"go"}]}`); a.Status != http.StatusInternalServerError || a.Fault.Code != "internal_error" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// Where the caller forbids calls, text that looks like one is text.
func TestToolChoiceNone(t *testing.T) {
	marker := script.Marker("read", `{"path":"a"}`).Thinking("Hm.")
	r := provider.Play(t, marker, marker)
	for _, more := range []string{"", provider.Streaming + ","} {
		if a := r.Chat(provider.Body(more + provider.BothTools + `,"tool_choice":"none"`)); len(a.Calls) > 0 ||
			a.Text != marker.Content || a.Last != "stop" {
			t.Errorf("%+v", a)
		}
	}
}

// An id that no listed model fits is 404 with the list, and the server is not ready while its
// first id is one.
func TestModelIsNotServed(t *testing.T) {
	page := `{"data":[{"id":"nomic-embed-text"},{"id":"qwen3:8b"}]}`
	r := provider.Start(t, provider.Setup{}, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodGet {
			t.Error("the model server was asked for a completion")
		}
		_, _ = w.Write([]byte(page))
	}))
	for _, id := range []string{"gpt-oss", "gpt-oss-20b"} {
		a := r.Chat(`{"model":"` + id + `","messages":[{"role":"user","content":"go"}]}`)
		if a.Status != http.StatusNotFound || a.Fault.Code != "model_not_found" ||
			!strings.Contains(a.Fault.Message, "nomic-embed-text, qwen3:8b") {
			t.Errorf("%s: %d %s", id, a.Status, a.Body)
		}
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != http.StatusServiceUnavailable ||
		!strings.Contains(a.Body, "qwen3:8b") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
