package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// deskRules says to a layered rule folder what the tools of the plugin desk take.
const deskRules = `version: 1
tools:
  news_search:
    description: Searches the news.
    parameters: {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
  page_fetch:
    description: Gets a page.
    parameters: {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
  note_save:
    description: Saves a note.
    parameters: {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
  tide_search:
    description: Is not there.
    parameters: {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
`

// TestRuns: a run without an agent finds, reads and saves with tools of a real gateway.
func TestRuns(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	issuer := filepath.Join(t.TempDir(), "desk") // a gateway takes no plugin that others may write
	for _, name := range []string{"package.json", "openclaw.plugin.json", "index.js"} {
		doc, err := os.ReadFile(filepath.Join("../testdata/openclaw/desk", name))
		if err == nil {
			err = os.MkdirAll(issuer, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(issuer, name), doc, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	more := filepath.Join(t.TempDir(), "more.json")
	settings := fmt.Sprintf(`{"plugins":{"enabled":true,"allow":["desk"],"load":{"paths":[%q]},"entries":{"desk":{"enabled":true}}}}`, issuer)
	if err := os.WriteFile(more, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "rules")
	if out, err := exec.Command(binary, "init", rules).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(rules, "extra"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rules, "extra", "gateway.ours.yaml"), []byte(deskRules),
		0o644); err != nil {
		t.Fatal(err)
	}
	model := script.New(script.Scenario{Name: "news", User: user("news"), Steps: []script.Reply{
		script.Native("news_search", `{"query":"news"}`).Thinking("I must search."),
		script.Text(`<|channel|>commentary to=functions.page_fetch <|constrain|>json<|message|>{"url":"https://example.com/gone"}<|call|>`),
		script.Native("page_fetch", `{"url":"https://example.com/well"}`),
		script.Native("note_save", `{"note":"Harvest is in."}`),
		script.Text("The harvest is in, and I have noted it."),
	}}, script.Scenario{Name: "message", User: user("message"), Steps: []script.Reply{
		script.Native("message", `{"action":"send","target":"+100","message":"hi"}`),
		script.Text("I may not."),
	}, Loop: true})
	models := startModel(t, model)
	g := startGateway(t, gatewayRun(t), []string{"OC_MORE=" + more}, provider{id: "none", url: models})
	env := []string{"GPTOSS_EXECUTOR_RULES=" + rules, "GPTOSS_EXECUTOR_GATEWAY=" + g.url}
	p, address := runSidecar(t, "/readyz", models, append(env, "OPENCLAW_GATEWAY_TOKEN="+g.token)...)

	t.Run("news", func(t *testing.T) {
		text, thoughts := executed(t, address, "news")
		if text != "The harvest is in, and I have noted it." {
			t.Errorf("the answer is %q", text)
		}
		asked := model.Requests("news")
		var results []string
		for _, m := range asked[len(asked)-1].Messages {
			if m.Role == "tool" {
				results = append(results, m.Text)
			}
		}
		want := []string{"https://example.com/well", "Error: no page at https://example.com/gone",
			"Harvest is in.\n[image image/png of 3 bytes, which is not shown]", "saved"}
		for i := range want {
			if len(results) != len(want) || !strings.Contains(results[i], want[i]) {
				t.Fatalf("the model has read %q", results)
			}
		}
		notes, err := os.ReadFile(filepath.Join(g.dir, "notes.txt"))
		if err != nil || strings.Count(string(notes), "Harvest is in.") != 1 {
			t.Errorf("saved: %q %v", notes, err)
		}
		offered := string(asked[0].Body)
		if strings.Contains(offered, "tide_search") || !strings.Contains(offered, "note_save") {
			t.Errorf("offered: %s", offered)
		}
		show(t, "user: Find the news, read what they say, and note it.", thoughts, "answer: "+text,
			"notes.txt, which the gateway's plugin wrote: "+string(notes))
	})
	t.Run("message", func(t *testing.T) {
		executed(t, address, "message")
		if asked := model.Requests("message"); !strings.Contains(string(asked[len(asked)-1].Body),
			"in the name of the owner") {
			t.Error("a message has left without a question")
		}
		if log := p.log.tail(1 << 20); !strings.Contains(log, "event=gateway_tools") ||
			strings.Contains(log, "Bearer") {
			t.Errorf("the log says %s", log)
		}
	})
	t.Run("wrong token", func(t *testing.T) {
		p, address := runSidecar(t, "/readyz", models, append(env, "OPENCLAW_GATEWAY_TOKEN=wrong")...)
		executed(t, address, "message")
		if log := p.log.tail(1 << 20); strings.Count(log, "does not accept the token") != 1 {
			t.Errorf("with a wrong token the log says %s", log)
		}
	})
}

// show says what make demo shows of a test: each line behind a bar.
func show(t *testing.T, texts ...string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				t.Log("| " + line)
			}
		}
	}
}

// executed asks for a run, and gives its answer, and what it was told of it meanwhile.
func executed(t *testing.T, address, scenario string) (text, thoughts string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	body := fmt.Sprintf(`{"model":"executor","stream":true,"messages":[{"role":"user","content":%q}]}`,
		"Please "+user(scenario))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/chat/completions",
		bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", res.StatusCode, raw, err)
	}
	for line := range strings.Lines(string(raw)) {
		data, ok := strings.CutPrefix(line, "data: ")
		var event struct {
			Choices []struct {
				Delta struct {
					Content   string
					Reasoning string `json:"reasoning_content"`
				}
			}
		}
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, c := range event.Choices {
			text, thoughts = text+c.Delta.Content, thoughts+c.Delta.Reasoning
		}
	}
	return text, thoughts
}
