package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const experimentsPage = "../../docs/experiments.md"

// The guide is true: the experiment that it shows is one that runs, and what the command says of it,
// after 100 and after 2,000 sessions with a scripted model, is what it shows.
func TestExperimentsPage(t *testing.T) {
	page, err := os.ReadFile(experimentsPage)
	ruletest.Must(t, err)
	part := func(name string) (from, to int) {
		begin, end := "<!-- "+name+" -->\n\n", "\n<!-- end -->"
		from = strings.Index(string(page), begin) + len(begin)
		if to = from + strings.Index(string(page[from:]), end); from < len(begin) || to < from {
			t.Fatalf("the page has no part %s", name)
		}
		return from, to
	}
	from, to := part("experiment")
	rules := strings.ReplaceAll("\n"+string(page[from:to]), "\n    ", "\n")
	model := httptest.NewServer(script.New(script.Prompted("Be short.")))
	defer model.Close()
	address, admin, _ := serveRules(t, model.URL, map[string]string{"prompts/short.txt": "Be short.\n", "extra/experiments.short-prompt.yaml": rules})
	done := 0
	for _, stage := range []struct {
		name     string
		sessions int
	}{{"100 sessions", 100}, {"2000 sessions", 2000}} {
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for n := done + w; n < stage.sessions; n += 4 {
					if err := readNumber(address, n); err != nil {
						t.Errorf("session %d: %v", n, err)
						return
					}
				}
			})
		}
		all.Wait()
		done = stage.sessions
		var out strings.Builder
		if code := Run([]string{"experiments", "--admin", admin}, Env{Out: &out, Err: &out}); code != 0 {
			t.Fatal(out.String())
		}
		shown := ""
		for line := range strings.Lines(out.String()) {
			shown += "    " + strings.TrimRight(line, " \n") + "\n"
		}
		if from, to := part(stage.name); string(page[from:to]) != shown {
			if *update {
				page = []byte(string(page[:from]) + shown + string(page[to:]))
				continue
			}
			t.Errorf("after %s the guide shows\n%s\nand it is\n%s\nmake experiments writes it anew", stage.name, page[from:to], shown)
		}
	}
	if *update {
		ruletest.Must(t, os.WriteFile(experimentsPage, page, 0o644))
	}
}

// readNumber is a session: it asks, runs the call that comes, and asks again.
func readNumber(address string, n int) error {
	type object = map[string]any
	messages := []any{object{"role": "user", "content": fmt.Sprintf("Please read number %d.", n)}}
	offered := []any{object{"type": "function", "function": object{"name": "read", "parameters": object{"type": "object", "properties": object{"path": object{"type": "string"}}}}}}
	for range 2 {
		body, err := json.Marshal(object{"model": "gpt-oss", "messages": messages, "tools": offered})
		if err != nil {
			return err
		}
		req, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/chat/completions", bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("session_id", fmt.Sprint("session ", n))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		doc, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		var answer struct {
			Choices []struct{ Message json.RawMessage }
		}
		if err != nil || json.Unmarshal(doc, &answer) != nil || len(answer.Choices) != 1 {
			return fmt.Errorf("%d %s %w", res.StatusCode, doc, err)
		}
		var said struct {
			Calls []struct{ ID string } `json:"tool_calls"`
		}
		if err := json.Unmarshal(answer.Choices[0].Message, &said); err != nil || len(said.Calls) == 0 {
			return err
		}
		result := "The text."
		if bytes.Contains(doc, []byte(script.GoneMD)) {
			result = "Error: no such file"
		}
		messages = append(messages, answer.Choices[0].Message, object{"role": "tool", "tool_call_id": said.Calls[0].ID, "content": result})
	}
	return nil
}
