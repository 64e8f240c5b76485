//go:build sdk

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

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
