package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const shortPrompt = "Be short."

// trying is a folder with the shipped rules and an experiment of two prompts, as the guide has it.
func trying(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rules")
	if out, err := exec.Command(binary, "init", "--full", dir).CombinedOutput(); err != nil {
		t.Fatalf("init: %v %s", err, out)
	}
	for name, text := range map[string]string{"prompts/short.txt": shortPrompt, "extra/experiments.mine.yaml": `version: 1
experiments:
  - id: prompt
    about: Does the shorter prompt give as many calls that work?
    status: running
    arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}
    measure: tool_ok
`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// experiments runs the command of this name against an admin API.
func experiments(t *testing.T, admin string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(binary, append(append([]string{"experiments"}, args...), "--admin", admin)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("experiments %v: %v %s%s", args, err, out, said.String())
	}
	return out
}

func reported(t *testing.T, admin string) experiment.Report {
	t.Helper()
	var all struct{ Experiments []experiment.Report }
	if err := json.Unmarshal(experiments(t, admin, "--json"), &all); err != nil || len(all.Experiments) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	return all.Experiments[0]
}

// tryer is a caller with the official Go SDK.
type tryer struct{ openai.Client }

// ask asks once, in a session, and says in which arm that was. Every other session streams.
func (c *tryer) ask(ctx context.Context, session int,
	messages []openai.ChatCompletionMessageParamUnion) (m openai.ChatCompletionMessage, arm string, err error) {
	params := openai.ChatCompletionNewParams{
		Model: "gpt-oss", Messages: messages,
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "read", Parameters: shared.FunctionParameters{"type": "object",
				"required":   []string{"path"},
				"properties": map[string]any{"path": map[string]string{"type": "string"}}},
		})},
	}
	var answered *http.Response
	how := []option.RequestOption{option.WithHeader("session_id", fmt.Sprintf("agent:main:%d", session)),
		option.WithResponseInto(&answered)}
	var whole *openai.ChatCompletion
	if session%2 == 0 {
		whole, err = c.Chat.Completions.New(ctx, params, how...)
	} else {
		stream := c.Chat.Completions.NewStreaming(ctx, params, how...)
		defer stream.Close()
		var sum openai.ChatCompletionAccumulator
		for stream.Next() {
			sum.AddChunk(stream.Current())
		}
		whole, err = &sum.ChatCompletion, stream.Err()
	}
	if err != nil {
		return m, "", err
	}
	if len(whole.Choices) != 1 {
		return m, "", fmt.Errorf("%d choices", len(whole.Choices))
	}
	return whole.Choices[0].Message, answered.Header.Get("X-Experiment"), nil
}

// session asks, runs the call that comes, and asks again. While the experiment runs, it is in one
// arm; one that is open when it ends goes on in none.
func (c *tryer) session(ctx context.Context, n int, running bool) error {
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(fmt.Sprintf("Please read number %d.", n))}
	first, arm, err := c.ask(ctx, n, messages)
	if err != nil {
		return err
	}
	if len(first.ToolCalls) != 1 || first.ToolCalls[0].Function.Name != "read" {
		return fmt.Errorf("no call: %s", first.RawJSON())
	}
	result := "The text."
	if strings.Contains(first.ToolCalls[0].Function.Arguments, servers.GoneMD) {
		result = "Error: ENOENT: no such file"
	}
	second, again, err := c.ask(ctx, n, append(messages, first.ToParam(),
		openai.ToolMessage(result, first.ToolCalls[0].ID)))
	if err == nil && (second.Content != "Done." || again != arm && (running || again != "")) {
		err = fmt.Errorf("it was in %q and is in %q, and says %q", arm, again, second.Content)
	}
	return err
}

// TestExperiment tries two prompts on 2,000 sessions of the official SDK. The model does better with
// one of them: the verdict says so, and one command makes it the rule while requests come.
func TestExperiment(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	rules, admin := trying(t), testkit.Address(t)
	model := script.New(servers.Prompted(shortPrompt))
	url := startSidecar(t, startModel(t, model), "GPTOSS_EXECUTOR_RULES="+rules,
		"GPTOSS_EXECUTOR_ADMIN="+admin)
	c := &tryer{openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"),
		option.WithMaxRetries(0))}

	const sessions = 2000
	var next, failed atomic.Int64
	crowd := func(ctx context.Context, until int64) *sync.WaitGroup {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for n := next.Add(1); n <= until && ctx.Err() == nil; n = next.Add(1) {
					if err := c.session(t.Context(), int(n), until == sessions); err != nil {
						failed.Add(1)
						t.Errorf("session %d: %v", n, err)
					}
				}
			})
		}
		return &all
	}
	began := time.Now()
	crowd(t.Context(), sessions).Wait()
	t.Logf("%d sessions took %v\n%s", sessions, time.Since(began).Round(time.Millisecond),
		experiments(t, admin, "show", "prompt"))
	r := reported(t, admin)
	if r.Units != sessions || r.Split < 0.001 {
		t.Errorf("%+v", r)
	}
	for _, m := range r.Arms[1].Measures {
		if m.ID == r.Measure && (!strings.HasPrefix(m.Words, "better by ") || m.Against.Low > 0.2 ||
			m.Against.High < 0.2) {
			t.Errorf("with the prompt 20 points more work, and the verdict is %q", m.Words)
		}
	}

	ctx, quiet := context.WithCancel(t.Context())
	next.Store(sessions)
	busy := crowd(ctx, 1_000_000)
	more := func() {
		t.Helper()
		before := next.Load()
		within(t, "more are served", func() bool { return next.Load() >= before+100 })
	}
	more()
	said := experiments(t, admin, "promote", "prompt", "short")
	more()
	quiet()
	busy.Wait()
	t.Logf("%d sessions around it, %d failed\n%s", next.Load()-sessions, failed.Load(), said)
	asked := len(model.Requests(""))
	crowd(t.Context(), next.Add(100)).Wait()
	for _, q := range model.Requests("")[asked:] {
		if !strings.Contains(string(q.Body), shortPrompt) {
			t.Fatalf("it is the rule, and a request has not got it: %s", q.Body)
		}
	}
	if r := reported(t, admin); r.Status != "stopped" {
		t.Errorf("the experiment is %s", r.Status)
	}
}

// tried is the provider whose sidecar has an experiment.
const tried = "tried"

// experiment has sessions of the gateway tried: each has one arm in all its turns, and the results of
// the gateway's own tools say whether its calls worked.
func (b *bench) experiment(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := os.WriteFile(filepath.Join(b.gateway.dir, servers.ThereMD), []byte("The text."),
		0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	const sessions, turns = 24, 2
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := w; i < sessions*turns; i += 4 {
				n := i % sessions
				a, err := b.gateway.turn(ctx, tried, fmt.Sprint("tried", n),
					fmt.Sprintf("Please read number %d.", n))
				if err != nil || a.text != "Done." {
					t.Errorf("session %d: %q %v", n, a.raw, err)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d turns took %v", sessions*turns, time.Since(began).Round(time.Millisecond))
	arms := map[string]bool{}
	for _, q := range b.servers[tried].Requests("") {
		short, session := strings.Contains(string(q.Body), shortPrompt), ""
		for _, m := range q.Messages {
			if at := strings.Index(m.Text, "read number "); m.Role == "user" && at >= 0 && session == "" {
				session = strings.Fields(m.Text[at:])[2]
			}
		}
		if was, known := arms[session]; known && was != short {
			t.Errorf("session %s was in both arms", session)
		}
		arms[session] = short
	}
	r := reported(t, b.admin)
	worked, short := 0.0, 0
	for i, arm := range r.Arms {
		for _, m := range arm.Measures {
			if m.ID == "tool_ok" {
				worked += m.N
				if i == 1 && m.Value != 1 {
					t.Errorf("with the prompt %v of the calls worked", m.Value)
				}
			}
		}
	}
	for _, is := range arms {
		if is {
			short++
		}
	}
	if len(arms) != sessions || r.Units != sessions || worked != sessions*turns || r.Arms[1].Units != short ||
		short == 0 || short == sessions {
		t.Errorf("%d sessions, %d with the prompt: %+v", len(arms), short, r)
	}
}
