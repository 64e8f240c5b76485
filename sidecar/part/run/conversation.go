package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
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

// weigh estimates how many tokens a text takes.
func weigh(text []byte) float64 {
	const ascii, letter, ideograph, symbol = 1 / 3.5, 0.5, 1, 2
	plain, all := 0, 0.0
	for _, b := range text {
		switch { // by the first byte of a character
		case b < 0x80:
			plain++
		case b < 0xC0:
		case b < 0xE0:
			all += letter
		case b < 0xF0:
			all += ideograph
		default:
			all += symbol
		}
	}
	return all + float64(plain)*ascii
}

// tokenCount is how many tokens a conversation takes: the server's count of the last request, and an
// estimate for what has changed since.
type tokenCount struct {
	counted int     // of a request and its reply; 0: unknown
	weight  float64 // estimate for both
	rate    float64 // tokens per estimated token
	prompt  int     // of that request; 0: the conversation was shortened since
}

// Bounds of rate. A request with pictures weighs far more than its tokens.
const minRate, maxRate = 0.5, 2

// count takes the server's count for a request and a reply of these weights.
func (t *tokenCount) count(u usage, request, reply float64) {
	if u.prompt <= 0 {
		t.prompt = 0
		return
	}
	*t = tokenCount{counted: u.prompt + u.completion, weight: request + reply, prompt: u.prompt,
		rate: min(max(float64(u.prompt)/max(request, 1), minRate), maxRate)}
}

// tokens returns the tokens of a conversation of this weight.
func (t *tokenCount) tokens(weight float64) int {
	if t.counted == 0 {
		return int(weight)
	}
	return max(t.counted+int(t.rate*(weight-t.weight)), 0)
}

// contextSize returns how many tokens the server takes.
func (r *Run) contextSize() int { return cmp.Or(r.window, r.rules.Context.Window) }

// share returns which share of the context these tokens are, without what is reserved for a reply.
func (r *Run) share(tokens int) float64 {
	window := r.contextSize()
	return float64(tokens) / float64(max(window-max(r.rules.Context.Reserve, r.maxReply), window/2, 1))
}

// used returns the share of the conversation.
func (r *Run) used() float64 { return r.share(r.tokens.tokens(r.talk.weight())) }

// addTurn adds a reply and the results of its calls to the conversation.
func (r *Run) addTurn(s *modelReply, results []tools.Result) {
	before := r.talk.weight()
	r.talk.addTurn(s, results)
	r.tokens.count(s.usage, before, r.talk.turns[len(r.talk.turns)-1].weight)
	r.pending, r.history.results = nil, nil
}

// fit shortens the conversation before the model is asked, as the rules say. It depends only on the
// rules, the window and the run so far: a run that is resumed after a crash gets the same
// conversation, but for secrets. It returns the share that was used.
func (r *Run) fit() (used float64, shortened bool) {
	c := &r.rules.Context
	used = r.used()
	if used >= c.TrimAt {
		shortened = r.talk.trim(c.Keep, r.shorten)
	}
	if used >= c.CompactAt && r.used() >= c.CompactAt {
		shortened = r.talk.compact(c.Keep) || shortened
	}
	if shortened {
		r.tokens.prompt = 0
	}
	return used, shortened
}

// squeeze leaves only the last turn, shortened, because the server takes less than expected. It
// reports whether anything was left out.
func (r *Run) squeeze() bool {
	was := r.tokens.tokens(r.talk.weight())
	trimmed := r.talk.trim(0, r.shorten)
	if !r.talk.compact(1) && !trimmed {
		return false
	}
	r.window = min(r.contextSize(), was)
	r.tokens.prompt = 0
	return true
}

// shorten shortens an old result.
func (r *Run) shorten(tool, text string) string {
	b := r.set.Results.Bounds(ruleset.OfRuns, tool, r.window, len(text))
	text, _ = tools.Trim(text, tools.TrimBounds{Chars: r.rules.Context.TrimTo, Head: b.Head, Hint: b.Hint})
	return text
}

// overflow returns why a request was too long: the server refused it, or dropped some of it without
// saying so; "" if it was not.
func (r *Run) overflow(s *modelReply, err error) string {
	var failed *openai.Error
	switch {
	case err == nil && r.tokens.dropped(s.usage):
		return "the server has left out some of the messages, and did not say so"
	case errors.As(err, &failed) && failed.Code == openai.OverflowCode:
		return failed.Message
	}
	return ""
}

// dropped reports whether a longer request took fewer tokens than the one before. Less than half means
// a server that does not count cached tokens.
func (t *tokenCount) dropped(u usage) bool {
	return t.prompt > 0 && u.prompt < t.prompt && u.prompt >= t.prompt/2
}

// percent returns a share as a percentage with one decimal.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }
