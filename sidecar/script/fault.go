package script

import (
	"fmt"
	"net/http"
)

// Empty is the reply without a word that costs tokens all the same.
func Empty() Reply { return Reply{} }

// OnlyThought is a reply that ends before the answer.
func OnlyThought(text string) Reply { return Reply{Reasoning: text} }

// HarmonyError is vLLM's answer to a reply of the model that its parser cannot
// read.
func HarmonyError() Reply {
	return Fail(http.StatusInternalServerError, "Unexpected token 12606 while expecting start token 200006")
}

// HarmonyErrorInStream is the same after the headers have left.
func HarmonyErrorInStream() Reply {
	return HarmonyError().Ending(Fault)
}

// OverflowVLLM is vLLM's answer to a prompt that is too long; both in tokens.
func OverflowVLLM(window, prompt int) Reply {
	return Fail(http.StatusBadRequest, fmt.Sprintf(
		"This model's maximum context length is %d tokens. However, you requested 1024 output tokens and your prompt contains %d input tokens, for a total of %d tokens. Please reduce the length of the input messages.",
		window, prompt, prompt+1024))
}

// OverflowLlamaCPP is llama.cpp's.
func OverflowLlamaCPP(window, prompt int) Reply {
	return Reply{Err: Error{Status: http.StatusBadRequest}, Body: fmt.Sprintf(
		`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
		prompt, window, prompt, window)}
}

// OllamaParseError is Ollama's answer to a call whose arguments it cannot read.
// raw is the arguments; the name of the tool is lost.
func OllamaParseError(raw string) Reply {
	_, err := ollamaEncode(raw)
	return Reply{Err: Error{
		Status: http.StatusInternalServerError, Type: "api_error",
		Message: fmt.Sprintf("error parsing tool call: raw='%s', err=%v", raw, err),
	}}
}

// LlamaParseError is llama.cpp's answer to a reply that its parser cannot read.
func LlamaParseError() Reply {
	return Fail(http.StatusInternalServerError,
		"The model produced output that does not match the expected peg-native format").Ending(Fault)
}

// GroqFailedGeneration is the answer of a server that checks calls against the
// offered tools; the text of the call stands in it.
func GroqFailedGeneration(text string) Reply {
	return Reply{Err: Error{Status: http.StatusBadRequest}, Body: fmt.Sprintf(
		`{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":%s}}`,
		quote(text))}
}
