package upstream

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// overflow is what is known about a request that was too long, in tokens; 0 is
// unknown.
type overflow struct {
	limit, requested, prompt, output int
	fits                             int // output that would fit, where only the output was too long
}

// overflowNumbers takes the numbers from the text, then from the body's own
// fields (llama.cpp), then from what probing showed.
func overflowNumbers(srv *ruleset.Server, a Answer, fault openai.Fault) overflow {
	groups := match(srv.Overflow, fault.Message)
	tooLarge := match(srv.OutputTooLarge, fault.Message)
	if tooLarge != nil {
		groups = tooLarge
	}
	number := func(group string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(groups[group], ",", ""))
		return n
	}
	n := overflow{limit: number("limit"), requested: number("requested"), prompt: number("prompt"),
		output: number("output")}
	n.limit = cmp.Or(n.limit, int(gjson.GetBytes(a.Body, "error.n_ctx").Int()), a.Window)
	n.prompt = cmp.Or(n.prompt, int(gjson.GetBytes(a.Body, "error.n_prompt_tokens").Int()))
	n.requested = cmp.Or(n.requested, n.prompt+n.output)
	if tooLarge != nil && n.prompt > 0 && n.limit-n.prompt >= leastOutput {
		n.fits = n.limit - n.prompt
	}
	return n
}

// leastOutput is the room, in tokens, below which lowering max_tokens would only
// bring a reply that ends inside its reasoning.
const leastOutput = 1024

// sentence is the wording by which OpenClaw knows that it must compact: vLLM's.
// The upstream's own text follows, unless it already is that.
func (n overflow) sentence(said string) string {
	const known = "This model's maximum context length is "
	if at := strings.Index(said, known); at >= 0 && n.limit > 0 {
		return said[at:]
	}
	if n.limit <= 0 {
		return "This request is longer than the model's maximum context length (context_length_exceeded). " +
			said
	}
	asked := "more"
	if n.requested > 0 {
		asked = strconv.Itoa(n.requested) + " tokens"
	}
	if n.prompt > 0 && n.output > 0 {
		asked += fmt.Sprintf(" (%d in the messages, %d in the completion)", n.prompt, n.output)
	}
	return fmt.Sprintf("%s%d tokens. However, you requested %s. Please reduce the length of the messages. %s",
		known, n.limit, asked, sentence(said, http.StatusBadRequest))
}

// capTokens lowers the limits on the reply that a request sets.
func capTokens(body []byte, most int) []byte {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if gjson.GetBytes(body, name).Int() <= int64(most) {
			continue
		}
		if lower, err := sjson.SetBytes(body, name, most); err == nil {
			body = lower
		}
	}
	return body
}
