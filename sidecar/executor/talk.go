package executor

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// talk is the request of a run as it grows. What stands in it never changes, so that the
// server finds its prefix cache.
type talk struct {
	body []byte
	at   int // where the next message goes
}

// ours are the members of a request that a run sets itself, or that are none of the model's.
var ours = []string{"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "timeout", "executor_metadata"}

// newTalk is the request of a caller with the tools of the run in place of its own.
func newTalk(req *openai.Request, offered []tools.Tool) *talk {
	body := openai.Apply(req.Body, openai.Remove(req.Body, req.Root, func(key []byte) bool { return slices.Contains(ours, string(key)) }))
	root := openai.Span{From: 0, To: len(body)}
	var edits []openai.Edit
	if len(offered) > 0 {
		edits = append(edits, openai.Insert(body, root, "tools", toolList(offered)))
	}
	body = openai.Apply(body, edits)
	t := &talk{body: body}
	// ParseRequest has read the request: there are no errors.
	_ = openai.Members(body, openai.Span{From: 0, To: len(body)}, func(key []byte, _, val openai.Span) {
		if string(key) == "messages" {
			t.at = val.To - 1
		}
	})
	return t
}

// toolList is the member tools.
func toolList(offered []tools.Tool) []byte {
	out := []byte{'['}
	for i, t := range offered {
		if i > 0 {
			out = append(out, ',')
		}
		out = openai.AppendString(append(out, `{"type":"function","function":{"name":`...), t.Name)
		out = openai.AppendString(append(out, `,"description":`...), t.Description)
		if t.Parameters != nil {
			out = append(append(out, `,"parameters":`...), t.Parameters...)
		}
		out = append(out, "}}"...)
	}
	return append(out, ']')
}

// add puts messages at the end; each begins with a comma.
func (t *talk) add(messages []byte) {
	t.body = slices.Concat(t.body[:t.at], messages, t.body[t.at:])
	t.at += len(messages)
}

// called adds a reply with calls, and their results.
func (t *talk) called(s *said, results []tools.Result) {
	m := []byte(`,{"role":"assistant","content":`)
	if s.Content == "" {
		m = append(m, "null"...)
	} else {
		m = openai.AppendString(m, s.Content)
	}
	if s.Reasoning != "" {
		m = openai.AppendString(append(m, `,"reasoning_content":`...), s.Reasoning)
	}
	m = append(m, `,"tool_calls":[`...)
	for i := range s.Calls {
		if i > 0 {
			m = append(m, ',')
		}
		m = openai.AppendString(append(m, `{"id":`...), s.ids[i])
		m = openai.AppendString(append(m, `,"type":"function","function":{"name":`...), s.Calls[i].Name)
		m = openai.AppendString(append(m, `,"arguments":`...), string(s.Calls[i].Arguments))
		m = append(m, "}}"...)
	}
	m = append(m, "]}"...)
	for i := range results {
		m = openai.AppendString(append(m, `,{"role":"tool","tool_call_id":`...), s.ids[i])
		m = openai.AppendString(append(m, `,"name":`...), s.Calls[i].Name)
		m = openai.AppendString(append(m, `,"content":`...), results[i].Text)
		m = append(m, '}')
	}
	t.add(m)
}

// last is the request for an answer without tools.
func (t *talk) last(tell string) []byte {
	m := append(openai.AppendString([]byte(`,{"role":"user","content":`), tell), '}')
	body := slices.Concat(t.body[:t.at], m, t.body[t.at:])
	return openai.Apply(body, []openai.Edit{openai.Insert(body, openai.Span{From: 0, To: len(body)}, "tool_choice", []byte(`"none"`))})
}
