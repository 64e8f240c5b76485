package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const (
	sdkArgs    = `{"command":"ls -la"}`
	sdkThought = "The list of files will show it."
	sdkAnswer  = "There are three files: a, b and c."
)

// sdkScript is a conversation with a damaged call that both clients have.
func sdkScript(name string, call script.Reply) script.Scenario {
	return script.Scenario{Name: name, Steps: []script.Reply{call, script.LeakedFinal(sdkAnswer)}}
}

func TestOpenAIGo(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	model := script.New(
		sdkScript("native", script.Native("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("leaked", script.LeakedHarmony("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("comma", script.Native("exec", script.TrailingComma(sdkArgs)).Thinking(sdkThought)),
	)
	client := openai.NewClient(option.WithBaseURL(startSidecar(t, startModel(t, model))+"/v1"),
		option.WithAPIKey("none"), option.WithMaxRetries(0))
	for _, name := range []string{"native", "leaked", "comma"} {
		t.Run(name, func(t *testing.T) {
			messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(name)}
			first, reasoning := askGo(t, client, messages)
			choice := first.Choices[0]
			if choice.FinishReason != "tool_calls" || len(choice.Message.ToolCalls) != 1 ||
				choice.Message.Content != "" {
				t.Fatalf("the first reply is %+v", choice)
			}
			call := choice.Message.ToolCalls[0]
			if call.Function.Name != "exec" || !sameJSON(call.Function.Arguments, sdkArgs) {
				t.Errorf("the call is %s %s", call.Function.Name, call.Function.Arguments)
			}
			if reasoning != sdkThought || first.Usage.TotalTokens == 0 {
				t.Errorf("reasoning %q, usage %+v", reasoning, first.Usage)
			}
			messages = append(messages, choice.Message.ToParam(), openai.ToolMessage("a b c", call.ID))
			second, _ := askGo(t, client, messages)
			if got := second.Choices[0]; got.Message.Content != sdkAnswer || got.FinishReason != "stop" {
				t.Errorf("the second reply is %+v", got)
			}
		})
	}
}

// askGo streams a reply with the official Go SDK, and gives back what its
// accumulator made of it and the reasoning, which it does not know.
func askGo(t *testing.T, client openai.Client,
	messages []openai.ChatCompletionMessageParamUnion) (openai.ChatCompletion, string) {
	t.Helper()
	stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model:         "gpt-oss",
		Messages:      messages,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "exec",
			Parameters: shared.FunctionParameters{
				"type": "object", "required": []string{"command"},
				"properties": map[string]any{"command": map[string]string{"type": "string"}},
			},
		})},
	})
	defer stream.Close()
	var sum openai.ChatCompletionAccumulator
	var reasoning strings.Builder
	for stream.Next() {
		chunk := stream.Current()
		if !sum.AddChunk(chunk) {
			t.Fatalf("the accumulator refuses %s", chunk.RawJSON())
		}
		for _, c := range chunk.Choices {
			var text string
			if raw := c.Delta.JSON.ExtraFields["reasoning_content"].Raw(); raw != "" &&
				json.Unmarshal([]byte(raw), &text) == nil {
				reasoning.WriteString(text)
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(sum.Choices) != 1 {
		t.Fatalf("%d choices", len(sum.Choices))
	}
	return sum.ChatCompletion, reasoning.String()
}

// told is what the programs of testdata/js print.
type told struct {
	Text      string
	Reasoning string
	Commands  []string
	Results   []string
	Finishes  []string
	Usage     struct {
		TotalTokens int `json:"total_tokens"`
	}
}

func TestOpenAIJS(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	for _, program := range []string{"client", "responses"} {
		t.Run(program, func(t *testing.T) { playJS(t, program) })
	}
}

// playJS has the conversations that a program of testdata/js begins.
func playJS(t *testing.T, program string) {
	model := script.New(
		sdkScript("native", script.Native("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("stripped", script.StrippedHarmony("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("quotes", script.Native("Exec<|channel|>json",
			script.SingleQuoted(sdkArgs)).Thinking(sdkThought)),
	)
	sidecar := startSidecar(t, startModel(t, model))
	for _, name := range []string{"native", "stripped", "quotes"} {
		t.Run(name, func(t *testing.T) {
			got := askJS(t, sidecar, program, name)
			if got.Text != sdkAnswer || !slices.Equal(got.Commands, []string{"ls -la"}) ||
				!slices.Equal(got.Results, []string{"ran ls -la"}) ||
				!slices.Equal(got.Finishes, []string{"tool_calls", "stop"}) {
				t.Errorf("the client got %+v", got)
			}
			if !strings.HasPrefix(got.Reasoning, sdkThought) || got.Usage.TotalTokens == 0 {
				t.Errorf("reasoning %q, usage %+v", got.Reasoning, got.Usage)
			}
			if asked := model.Requests(name); len(asked) != 2 {
				t.Errorf("the model was asked %d times, want 2", len(asked))
			}
		})
	}
}

// askJS runs the official JavaScript SDK, in the Node that came with OpenClaw.
func askJS(t *testing.T, sidecar, program, message string) told {
	t.Helper()
	client, err := os.Open("../testdata/js/" + program + ".mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cmd := exec.CommandContext(t.Context(), node(t), "--input-type=module", "-", message)
	cmd.Dir, cmd.Stdin = install(t, "../testdata/js"), client
	cmd.Env = append(os.Environ(), "BASE_URL="+sidecar+"/v1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the JavaScript client: %v\n%s", err, stderr.String())
	}
	var got told
	if err := json.Unmarshal(out, &got); err != nil || reflect.ValueOf(got).IsZero() {
		t.Fatalf("the JavaScript client said %q: %v", out, err)
	}
	return got
}

// node is the Node that OpenClaw asks for, or else the system's.
func node(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(install(t, "../testdata/openclaw"),
		"node_modules/node-*/bin/node"))
	if err == nil && len(found) > 0 {
		return found[0]
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("no node: %v", err)
	}
	return path
}
