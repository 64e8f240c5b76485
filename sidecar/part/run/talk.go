package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// talk is the request of a run as it grows. What stands in it does not change, so that the
// server finds its prefix cache, until room must be made.
type talk struct {
	head, tail []byte  // the request of the caller: up to where the next message goes, and the rest
	least      float64 // its weight
	turns      []exchange
	folded     int // so many of the first turns are told in one message
}

// exchange is a reply with calls, and their results. Neither is ever there without the other.
type exchange struct {
	reply   []byte // messages begin with a comma
	weight  float64
	results []result
}

// result is what the model reads of one call.
type result struct {
	id, tool, text string
	args           []byte // of its call
	failed         bool
	does           string // in words, with how it ended
	message        []byte
	weight         float64
}

// ours are the members of a request that a run sets itself, or that are none of the model's.
var ours = []string{"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "timeout",
	"executor_metadata"}

// newTalk is the request of a caller with the tools of the run in place of its own.
func newTalk(req *openai.Request, offered []tools.Tool) *talk {
	body := openai.Apply(req.Body, openai.Remove(req.Body, req.Root,
		func(key []byte) bool { return slices.Contains(ours, string(key)) }))
	root := openai.Span{From: 0, To: len(body)}
	var edits []openai.Edit
	if len(offered) > 0 {
		edits = append(edits, openai.Insert(body, root, "tools", toolList(offered)))
	}
	body = openai.Apply(body, edits)
	at := 0
	// ParseRequest has read the request: there are no errors.
	_ = openai.Members(body, openai.Span{From: 0, To: len(body)}, func(key []byte, _, val openai.Span) {
		if string(key) == "messages" {
			at = val.To - 1
		}
	})
	return &talk{head: body[:at], tail: body[at:], least: weigh(body)}
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

// called adds a reply with calls, and their results.
func (t *talk) called(s *modelReply, results []tools.Result) {
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
	e := exchange{reply: m, weight: weigh(m)}
	for i := range results {
		o := result{id: s.ids[i], tool: s.Calls[i].Name, args: s.Calls[i].Arguments,
			failed: results[i].Failed, does: progress(s.Calls[i]) + how(&results[i])}
		o.says(results[i].Text)
		e.results = append(e.results, o)
	}
	t.turns = append(t.turns, e)
}

// how says that a call did not go well; "" where it did.
func how(r *tools.Result) string {
	switch {
	case r.Doubt:
		return " (it is not known whether it took effect)"
	case r.Failed:
		return " (failed)"
	}
	return ""
}

// says sets what the model reads.
func (o *result) says(text string) {
	m := openai.AppendString([]byte(`,{"role":"tool","tool_call_id":`), o.id)
	m = openai.AppendString(append(m, `,"name":`...), o.tool)
	m = openai.AppendString(append(m, `,"content":`...), text)
	o.text, o.message = text, append(m, '}')
	o.weight = weigh(o.message)
}

// body is the request. Where tell is not empty, it is the one for an answer without tools.
func (t *talk) body(tell string) []byte {
	parts := [][]byte{t.head, t.fold()}
	for _, e := range t.turns[t.folded:] {
		parts = append(parts, e.reply)
		for i := range e.results {
			parts = append(parts, e.results[i].message)
		}
	}
	if tell == "" {
		return slices.Concat(append(parts, t.tail)...)
	}
	last := append(openai.AppendString([]byte(`,{"role":"user","content":`), tell), '}')
	body := slices.Concat(append(parts, last, t.tail)...)
	return openai.Apply(body, []openai.Edit{openai.Insert(body, openai.Span{From: 0, To: len(body)},
		"tool_choice", []byte(`"none"`))})
}

// maxFolded is how many calls the message about folded turns names.
const maxFolded = 30

// fold is the message that stands for the first turns: which tools ran, and on what. It is one of the
// assistant, so that the model does not take its own words for those of the user.
func (t *talk) fold() []byte {
	if t.folded == 0 {
		return nil
	}
	var did []string
	for _, e := range t.turns[:t.folded] {
		for i := range e.results {
			did = append(did, e.results[i].does)
		}
	}
	var b strings.Builder
	b.WriteString("Before this, I called these tools:")
	if more := len(did) - maxFolded; more > 0 {
		fmt.Fprintf(&b, "\n- %d calls before these", more)
		did = did[more:]
	}
	for _, line := range did {
		b.WriteString("\n- " + line)
	}
	b.WriteString("\n[What they gave was left out to save room.]")
	return append(openai.AppendString([]byte(`,{"role":"assistant","content":`), b.String()), '}')
}

// weight is that of the request, as weigh gives it.
func (t *talk) weight() float64 {
	all := t.least + weigh(t.fold())
	for _, e := range t.turns[t.folded:] {
		all += e.weight
		for i := range e.results {
			all += e.results[i].weight
		}
	}
	return all
}

// trim shortens the results of all turns but the last ones. It reports whether there was
// something to shorten.
func (t *talk) trim(keep int, short func(tool, text string) string) (did bool) {
	for _, e := range t.turns[t.folded:max(t.folded, len(t.turns)-keep)] {
		for i := range e.results {
			o := &e.results[i]
			if text := short(o.tool, o.text); text != o.text {
				o.says(text)
				did = true
			}
		}
	}
	return did
}

// compact folds all turns but the last ones. It reports whether there were any.
func (t *talk) compact(keep int) bool {
	if len(t.turns)-keep <= t.folded {
		return false
	}
	t.folded = len(t.turns) - keep
	return true
}
