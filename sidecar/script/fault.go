package script

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Empty is the reply without a word that costs tokens all the same.
func Empty() Reply { return Reply{} }

// HarmonyError is vLLM's answer to a reply of the model that its parser cannot
// read.
func HarmonyError() Reply {
	return Fail(http.StatusInternalServerError, "Unexpected token 12606 while expecting start token 200006")
}

// HarmonyErrorInStream is the same after the headers have left.
func HarmonyErrorInStream() Reply {
	return HarmonyError().Ending(Fault)
}

// OllamaParseError is Ollama's answer to a call whose arguments it cannot read.
// raw is the arguments; the name of the tool is lost.
func OllamaParseError(raw string) Reply {
	err := json.Unmarshal([]byte(raw), &map[string]any{})
	return Reply{Err: Error{
		Status: http.StatusInternalServerError, Type: "api_error",
		Message: fmt.Sprintf("error parsing tool call: raw='%s', err=%v", raw, err),
	}}
}
