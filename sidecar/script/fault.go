package script

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Empty is a reply without text that still costs tokens.
func Empty() Reply { return Reply{} }

// HarmonyError is vLLM's answer if its parser cannot read the model's reply.
func HarmonyError() Reply {
	return Fail(http.StatusInternalServerError, "Unexpected token 12606 while expecting start token 200006")
}

// HarmonyErrorInStream is HarmonyError after the headers were sent.
func HarmonyErrorInStream() Reply {
	return HarmonyError().Ending(Fault)
}

// OllamaParseError is Ollama's answer to a call with invalid arguments. raw is the arguments; the name of
// the tool is lost.
func OllamaParseError(raw string) Reply {
	err := json.Unmarshal([]byte(raw), &map[string]any{})
	return Reply{Err: Error{
		Status: http.StatusInternalServerError, Type: "api_error",
		Message: fmt.Sprintf("error parsing tool call: raw='%s', err=%v", raw, err),
	}}
}
