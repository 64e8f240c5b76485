package servers

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// OnlyThought is a reply that ends before the answer.
func OnlyThought(text string) script.Reply { return script.Reply{Reasoning: text} }

// OverflowVLLM is vLLM's answer to a prompt that is too long; both in tokens.
func OverflowVLLM(window, prompt int) script.Reply {
	return script.Fail(http.StatusBadRequest, fmt.Sprintf(
		"This model's maximum context length is %d tokens. However, you requested 1024 output tokens and your prompt contains %d input tokens, for a total of %d tokens. Please reduce the length of the input messages.",
		window, prompt, prompt+1024))
}

// OverflowLlamaCPP is llama.cpp's.
func OverflowLlamaCPP(window, prompt int) script.Reply {
	return script.Reply{Err: script.Error{Status: http.StatusBadRequest}, Body: fmt.Sprintf(
		`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
		prompt, window, prompt, window)}
}

// LlamaParseError is llama.cpp's answer to a reply that its parser cannot read.
func LlamaParseError() script.Reply {
	return script.Fail(http.StatusInternalServerError,
		"The model produced output that does not match the expected peg-native format").Ending(script.Fault)
}

// GroqFailedGeneration is the answer of a server that checks calls against the
// offered tools; the text of the call stands in it.
func GroqFailedGeneration(text string) script.Reply {
	return script.Reply{Err: script.Error{Status: http.StatusBadRequest}, Body: fmt.Sprintf(
		`{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":%s}}`,
		strconv.Quote(text))}
}
