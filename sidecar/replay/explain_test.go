package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

const execTool = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"],"additionalProperties":false}}}`

// Explain is what serves: the same calls, text and reasons.
func TestExplain(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, row := range []struct {
		name, record             string
		calls, content, thoughts string
		refused                  int
	}{
		{"names", `{"message":{"content":"[TOOL:read|path=a]"},"tools":["read"]}`, `read {"path":"a"}`, "", "", 0},
		{"tools unknown", `{"message":{"content":"[TOOL:rd|path=a]"},"tools":null}`, `rd {"path":"a"}`, "", "", 0},
		{"none offered", `{"message":{"content":"[TOOL:read|path=a]"},"tools":[]}`, "", "[TOOL:read|path=a]", "", 0},
		{"tool objects", `{"message":{"content":null,"tool_calls":[{"function":{"name":"exec","arguments":"{\"timeout\":\"5\",\"cmd\":\"ls\"}"}}]},"tools":[` + execTool + `]}`, `exec {"timeout":5,"command":"ls"}`, "", "", 0},
		{"bare objects", `{"message":{"content":null,"tool_calls":[{"function":{"name":"x","arguments":"{}"}}]},"tools":[{"name":"read"}]}`, "", "", "", 1},
		{"chunks", `{"chunks":[{"choices":[{"index":1,"delta":{"content":"no"}}]},{"choices":[{"index":0,"delta":{"reasoning":"Hm."}}]},{"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}]}`, "", "Yes.", "Hm.", 0},
		{"an error", `{"upstream_error":{"status":400,"body":{"error":{"message":"x","failed_generation":"{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}"}}},"tools":["read"]}`, `read {"path":"a"}`, "", "", 0},
	} {
		var rec Record
		if err := json.Unmarshal([]byte(row.record), &rec); err != nil {
			t.Fatal(err)
		}
		e, err := Explain(set, guard.World{}, "", &rec)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		var calls []string
		for _, c := range e.Calls {
			calls = append(calls, c.Name+" "+string(c.Arguments))
		}
		if strings.Join(calls, "; ") != row.calls || e.Content != row.content ||
			e.Reasoning != row.thoughts || len(e.Refused) != row.refused {
			t.Errorf("%s: %+v", row.name, e)
		}
		if (e.Finish == "tool_calls") != (len(calls) > 0) || e.Version != set.Version {
			t.Errorf("%s: finish %s, rules %s", row.name, e.Finish, e.Version)
		}
	}
	for _, bad := range []string{`{"tools":[1]}`, `{"tools":[{}]}`} {
		var rec Record
		if err := json.Unmarshal([]byte(bad), &rec); err != nil {
			t.Fatal(err)
		}
		if e, err := Explain(set, guard.World{}, "", &rec); err == nil {
			t.Errorf("%s: %+v", bad, e)
		}
	}
}
