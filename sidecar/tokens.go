package sidecar

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// tokens sums up the replies that were asked for again. The caller reads one usage: the prompt of the last
// request, and the completion tokens of all, since all were paid for.
type tokens struct {
	known                         bool // a reply with a usage was asked for again
	prompt, completion, reasoning int64
}

// The members of a usage object that add up.
const (
	completionTokens = "completion_tokens"
	reasoningTokens  = "completion_tokens_details.reasoning_tokens"
)

// add counts a reply that is asked for again. usage may be nil.
func (t *tokens) add(usage []byte) {
	if usage == nil {
		return
	}
	t.known, t.prompt = true, gjson.GetBytes(usage, "prompt_tokens").Int()
	t.completion += gjson.GetBytes(usage, completionTokens).Int()
	t.reasoning += gjson.GetBytes(usage, reasoningTokens).Int()
}

// addTo returns the usage object of the last reply plus the earlier tokens; nil stands for a sentence of
// ours, which took none.
func (t *tokens) addTo(usage []byte) []byte {
	if usage == nil {
		return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, t.prompt,
			t.completion, t.prompt+t.completion)
	}
	for path, n := range map[string]int64{completionTokens: t.completion, "total_tokens": t.completion,
		reasoningTokens: t.reasoning} {
		if n == 0 {
			continue
		}
		if sum, err := sjson.SetBytes(usage, path, gjson.GetBytes(usage, path).Int()+n); err == nil {
			usage = sum
		}
	}
	return usage
}
