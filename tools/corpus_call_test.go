package tools

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// offeredTool is a tool as the corpus writes it: a name, or a name and a schema.
type offeredTool Tool

func (t *offeredTool) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &t.Name)
	}
	return json.Unmarshal(text, (*Tool)(t))
}

type outcome struct {
	Calls []struct {
		Name      string
		Arguments any
	}
	Content *string
}

type callCase struct {
	ID      string
	Message struct {
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Tools  []offeredTool
	Expect struct {
		outcome
		Accept []outcome
	}
}

// TestCallCorpus mends the native calls of real replies: each becomes the call that
// was meant, or none where none was.
func TestCallCorpus(t *testing.T) {
	schemas := NewSchemas(100)
	calls, right := 0, 0
	for _, c := range testkit.Corpus[callCase](t, "gptoss") {
		if len(c.Message.ToolCalls) != 1 {
			continue
		}
		calls++
		offered := make([]Tool, len(c.Tools))
		for i, tool := range c.Tools {
			offered[i] = Tool(tool)
		}
		f := c.Message.ToolCalls[0].Function
		got, refusal := NewCatalog(testRules(), schemas, offered).Call(f.Name, []byte(f.Arguments), closed)
		ok := false
		for _, want := range append(c.Expect.Accept, c.Expect.outcome) {
			switch {
			case refusal != nil:
				ok = ok || len(want.Calls) == 0 && (refusal.Code != Answer || want.Content != nil)
			case len(want.Calls) == 1:
				ok = ok || got.Name == want.Calls[0].Name && cmp.Equal(decoded(string(got.Arguments)),
					want.Calls[0].Arguments)
			}
		}
		if ok {
			right++
			continue
		}
		t.Errorf("%s: %s %s\n  got  %s %s %v\n  want %+v", c.ID, f.Name, f.Arguments, got.Name, got.Arguments,
			refusal, c.Expect.Calls)
	}
	t.Logf("right: %d of %d native calls", right, calls)
}
