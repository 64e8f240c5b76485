package sidecar

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// tokens is what the replies took that were asked for again. The caller is told one usage: the prompt of the
// last request, and what the model has written in all of them, since all of it was paid for.
type tokens struct {
	asked                         bool // a reply was asked for again, and its usage is known
	prompt, completion, reasoning int64
}

// The members of a usage object that add up.
const (
	completionTokens = "completion_tokens"
	reasoningTokens  = "completion_tokens_details.reasoning_tokens"
)

// add counts a reply that is asked for again; usage is its object, or nil.
func (t *tokens) add(usage []byte) {
	if usage == nil {
		return
	}
	t.asked, t.prompt = true, gjson.GetBytes(usage, "prompt_tokens").Int()
	t.completion += gjson.GetBytes(usage, completionTokens).Int()
	t.reasoning += gjson.GetBytes(usage, reasoningTokens).Int()
}

// with is the usage object of the last reply, with what those before took. Without one it is that of a
// sentence of our own, which took nothing.
func (t *tokens) with(usage []byte) []byte {
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
