package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// conversation is the request of a run as it grows. Earlier messages do not change, so that the server
// finds its prefix cache, until the context must be shortened.
type conversation struct {
	head, tail []byte  // the caller's request, up to where the next message goes
	baseWeight float64 // weight of head and tail
	turns      []exchange
	folded     int // how many of the first turns one message stands for
}

// exchange is a reply with calls and their results.
type exchange struct {
	reply   []byte // JSON message after a comma
	weight  float64
	results []callResult
}

// callResult is what the model reads of one call.
type callResult struct {
	id, tool, text string
	args           []byte // of the call
	failed         bool
	summary        string // description with its outcome
	message        []byte
	weight         float64
}

// runMembers are the members of a request that the run sets, or that are not for the model.
var runMembers = []string{"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call",
	"timeout", "executor_metadata"}

// newConversation returns a caller's request with the tools of the run.
func newConversation(req *openai.Request, offered []tools.Tool) *conversation {
	body := openai.Apply(req.Body, openai.Remove(req.Body, req.Root,
		func(key []byte) bool { return slices.Contains(runMembers, string(key)) }))
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
	return &conversation{head: body[:at], tail: body[at:], baseWeight: weigh(body)}
}

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

// addTurn adds a reply with calls, and their results.
func (t *conversation) addTurn(s *modelReply, results []tools.Result) {
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
		o := callResult{id: s.ids[i], tool: s.Calls[i].Name, args: s.Calls[i].Arguments,
			failed: results[i].Failed, summary: progress(s.Calls[i]) + outcomeNote(&results[i])}
		o.setText(results[i].Text)
		e.results = append(e.results, o)
	}
	t.turns = append(t.turns, e)
}

func outcomeNote(r *tools.Result) string {
	switch {
	case r.Doubt:
		return " (it is not known whether it took effect)"
	case r.Failed:
		return " (failed)"
	}
	return ""
}

// setText sets what the model reads.
func (o *callResult) setText(text string) {
	m := openai.AppendString([]byte(`,{"role":"tool","tool_call_id":`), o.id)
	m = openai.AppendString(append(m, `,"name":`...), o.tool)
	m = openai.AppendString(append(m, `,"content":`...), text)
	o.text, o.message = text, append(m, '}')
	o.weight = weigh(o.message)
}

// body returns the request; with tell, one for an answer without tools.
func (t *conversation) body(tell string) []byte {
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

// fold returns the message for the folded turns: which tools ran, and on what. Its role is assistant,
// so that the model does not take its own words for the user's.
func (t *conversation) fold() []byte {
	if t.folded == 0 {
		return nil
	}
	var did []string
	for _, e := range t.turns[:t.folded] {
		for i := range e.results {
			did = append(did, e.results[i].summary)
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

func (t *conversation) weight() float64 {
	all := t.baseWeight + weigh(t.fold())
	for _, e := range t.turns[t.folded:] {
		all += e.weight
		for i := range e.results {
			all += e.results[i].weight
		}
	}
	return all
}

// trim shortens the results of all turns but the last keep. It reports whether anything changed.
func (t *conversation) trim(keep int, short func(tool, text string) string) (did bool) {
	for _, e := range t.turns[t.folded:max(t.folded, len(t.turns)-keep)] {
		for i := range e.results {
			o := &e.results[i]
			if text := short(o.tool, o.text); text != o.text {
				o.setText(text)
				did = true
			}
		}
	}
	return did
}

// compact folds all turns but the last keep. It reports whether anything changed.
func (t *conversation) compact(keep int) bool {
	if len(t.turns)-keep <= t.folded {
		return false
	}
	t.folded = len(t.turns) - keep
	return true
}
