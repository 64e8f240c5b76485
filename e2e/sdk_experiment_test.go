//go:build sdk

package e2e

import (
	"context"
	"fmt"
	"net/http"
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
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

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
