//go:build sdk

package e2e

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// The official Go SDK speaks the Responses API, streamed and not: it gives back what it got, and the
// model reads its own thoughts.
func TestOpenAIGoResponses(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	for _, streamed := range []bool{true, false} {
		model := script.New(
			sdkScript("native", script.Native("exec", sdkArgs).Thinking(sdkThought)),
			sdkScript("leaked", script.LeakedHarmony("exec", sdkArgs).Thinking(sdkThought)),
			sdkScript("comma", script.Native("exec", script.TrailingComma(sdkArgs)).Thinking(sdkThought)),
		)
		client := openai.NewClient(option.WithBaseURL(startSidecar(t, startModel(t, model))+"/v1"),
			option.WithAPIKey("none"), option.WithMaxRetries(0))
		for _, name := range []string{"native", "leaked", "comma"} {
			input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(name,
				responses.EasyInputMessageRoleUser)}
			first := respondGo(t, client, input, streamed)
			if len(first.Output) != 2 || first.Output[0].AsReasoning().Content[0].Text != sdkThought ||
				first.Usage.TotalTokens == 0 || first.Status != "completed" {
				t.Fatalf("%s, streamed %v: the first answer is %s", name, streamed, first.RawJSON())
			}
			call := first.Output[1].AsFunctionCall()
			if call.Name != "exec" || !sameJSON(call.Arguments, sdkArgs) || call.CallID == "" {
				t.Errorf("%s, streamed %v: the call is %s", name, streamed, call.RawJSON())
			}
			for _, item := range first.Output {
				input = append(input, param.Override[responses.ResponseInputItemUnionParam](item))
			}
			result := responses.ResponseInputItemParamOfFunctionCallOutput("a b c")
			result.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
			second := respondGo(t, client, append(input, result), streamed)
			if second.OutputText() != sdkAnswer || second.Status != "completed" {
				t.Errorf("%s, streamed %v: the second answer is %s", name, streamed, second.RawJSON())
			}
			asked := model.Requests(name)
			if got := gjson.GetBytes(asked[len(asked)-1].Body,
				"messages.1.reasoning").String(); got != sdkThought {
				t.Errorf("%s, streamed %v: the model reads %s", name, streamed, asked[len(asked)-1].Body)
			}
		}
	}
}

// respondGo asks once. Of a stream it gives the last event, after the deltas have said the same.
func respondGo(t *testing.T, client openai.Client, input responses.ResponseInputParam,
	streamed bool) responses.Response {
	t.Helper()
	request := responses.ResponseNewParams{
		Model: "gpt-oss", Store: openai.Bool(false),
		Input:     responses.ResponseNewParamsInputUnion{OfInputItemList: input},
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffortLow},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("exec", map[string]any{
			"type": "object", "required": []string{"command"},
			"properties": map[string]any{"command": map[string]string{"type": "string"}},
		}, false)},
	}
	if !streamed {
		answer, err := client.Responses.New(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return *answer
	}
	stream := client.Responses.NewStreaming(t.Context(), request)
	defer stream.Close()
	var answer responses.Response
	text, number := "", int64(0)
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseCompletedEvent:
			answer = e.Response
		case nil:
			t.Fatalf("the SDK does not know %s", stream.Current().RawJSON())
		}
		if n := stream.Current().SequenceNumber; n != number {
			t.Fatalf("event %d is number %d", number, n)
		}
		number++
	}
	if err := stream.Err(); err != nil || answer.OutputText() != text {
		t.Fatalf("%v: the deltas say %q, the end says %q", err, text, answer.OutputText())
	}
	return answer
}
