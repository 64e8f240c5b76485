package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Source is a source of tools with results from the test. It records what has run.
type Source struct {
	mu     sync.Mutex
	ran    []string // name and arguments
	Result func(name string, times int) tools.Result
}

// SchemaOf is the format of a schema with one required text.
const SchemaOf = `{"type":"object","properties":{"%s":{"type":"string"},"content":{"type":"string"},"count":{"type":"integer"}},"required":["%s"]}`

// Tools are four tools.
func (b *Source) Tools(context.Context, *ruleset.Set, policy.Subject) (out []tools.Tool) {
	for name, arg := range map[string]string{"web_search": "query", "web_fetch": "url", "write": "path",
		"read": "path"} {
		out = append(out, tools.Tool{Name: name, Description: "It is for tests.", Parameters: fmt.Appendf(nil,
			SchemaOf, arg, arg)})
	}
	slices.SortFunc(out, func(a, b tools.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Run notes a call, and says its result.
func (b *Source) Run(ctx context.Context, _ string, c *guard.AllowedCall) tools.Result {
	b.mu.Lock()
	b.ran = append(b.ran, c.Name+" "+string(c.Arguments))
	times := len(b.ran)
	b.mu.Unlock()
	if b.Result == nil {
		return tools.Result{Text: "result of " + c.Name}
	}
	return b.Result(c.Name, times)
}

// Calls returns the calls that have run.
func (b *Source) Calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ran)
}

// Run asks the model executor, for a stream or a whole answer.
func (r *Server) Run(stream bool, more string) *Answer {
	if more != "" {
		more = "," + more
	}
	if stream {
		more += "," + Streaming
	}
	return r.Chat(`{"model":"executor","messages":[{"role":"user","content":"find news, fetch the first, save a summary"}]` + more + `}`)
}
