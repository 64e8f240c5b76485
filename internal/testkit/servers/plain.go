package servers

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Plain is a model server that cannot call tools. At is the field where it looks for a
// JSON Schema; empty: it ignores all.
type Plain struct {
	At      string
	Refuses bool         // a schema is an error, but for the one that it is tried with
	Late    bool         // errors stand in a stream that has begun
	Why     string       // it calls no tools; empty: vLLM's words
	Tried   atomic.Int32 // how often it was asked for a schema that it is tried with
}

// heron is the answer that only a schema makes a model give.
const heron = "properties.verdict.enum.0"

func (s *Plain) choose(q script.Request) *script.Reply {
	schema := gjson.Result{}
	if s.At != "" {
		schema = gjson.GetBytes(q.Body, s.At)
	}
	last := q.Messages[len(q.Messages)-1].Text
	reply := func(r script.Reply) *script.Reply { return &r }
	fail := func(why string) *script.Reply {
		r := script.Fail(http.StatusBadRequest, why)
		if s.Late {
			r.End = script.Fault
		}
		return &r
	}
	switch {
	case len(q.Tools) > 0:
		return fail(cmp.Or(s.Why,
			`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`))
	case last == "Say hello.":
		s.Tried.Add(1)
		if schema.Get(heron).Exists() {
			return reply(script.Text(fmt.Sprintf(`{"verdict": %q}`, schema.Get(heron).Str)))
		}
		return reply(script.Text("Hello! How can I help?"))
	case s.Refuses && schema.Exists():
		return fail("the grammar is too large")
	case schema.Exists() && strings.Contains(last, "Result of"):
		return reply(script.Text(`{"reasoning": "I know it.", "tool_calls": [], "done": true, "answer": "It is calm."}`))
	case schema.Exists():
		return reply(script.Text(`{"reasoning": "I look.", "tool_calls": [{"name": "read", "arguments": {"path": "notes.md"}}], "done": false}`))
	case strings.Contains(last, "Observation:"):
		return reply(script.Text("Thought: I know enough.\nFinal Answer: It is calm."))
	}
	return reply(script.Text("Thought: I look.\nAction: read\nAction Input: {\"path\": \"notes.md\"}"))
}

// Model plays it.
func (s *Plain) Model() *script.Server {
	return script.New(script.Scenario{Choose: s.choose})
}
