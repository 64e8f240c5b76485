package run

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

type metadata struct {
	RunID      string   `json:"run_id"`
	Iterations int      `json:"iterations"`
	Tools      []string `json:"tools_called"` // in order
	Took       int64    `json:"total_tool_execution_time_ms"`
	Used       float64  `json:"context_usage_percent"`
}

func wantsMetadata(req *openai.Request) (bool, error) {
	at, ok := req.Field("executor_metadata")
	if !ok {
		return false, nil
	}
	switch string(at.Of(req.Body)) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, openai.InvalidRequest("executor_metadata", "executor_metadata must be true or false.")
}

// metadata returns a JSON object; nil if the request does not ask for it.
func (r *Run) metadata() []byte {
	if !r.describe {
		return nil
	}
	tokens := r.usage.context
	if tokens == 0 { // the server has not said
		tokens = r.tokens.tokens(r.talk.weight())
	}
	doc, err := json.Marshal(metadata{r.ID, r.history.turns, append([]string{}, r.history.tools...),
		r.history.toolTime.Milliseconds(), percent(r.share(tokens))})
	if err != nil { // it holds nothing that cannot be written
		return nil
	}
	return doc
}
