package experiment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// captureRule says what is recorded of a reply. Which replies, the caller decides.
type captureRule struct {
	Messages bool          // also record the messages of the request, and the last user text
	Bytes    int64         // of all segments; the oldest are removed. 0: 256 MiB
	Age      time.Duration // older segments are removed. 0: 30 days
	Mask     bool          // mask secrets
}

func (r captureRule) filled() captureRule {
	r.Bytes = cmp.Or(r.Bytes, 256<<20)
	r.Age = cmp.Or(r.Age, 30*24*time.Hour)
	return r
}

// captureReply is one reply of the model server and its outcome. Its parts may point into buffers; Put
// copies them.
type captureReply struct {
	At                                                time.Time
	ID, Model, Server, Session, Rules, Style, Profile string
	// as conditions see it; recorded, like Caller, only with messages
	User                   string
	Workspace              string   // the agent's folder, as the gateway says
	Agent, Channel, Caller string   // Caller is the field user of the request
	Arms                   []string // EXPERIMENT/ARM
	Tools                  []tools.Tool
	Messages               json.RawMessage // nil unless requested
	// in the server's own words, like Calls and Finish
	Content, Reasoning string
	Calls              []ServerCall
	Finish             string
	Reading            captureReading
	Outcome            Came
	// the words were too long to keep; there is only the reading
	Lost   bool
	Shadow *shadowOutcome // nil: no other arm read it, or they agree
}

// ServerCall is a call in the server's own format.
type ServerCall struct{ ID, Name, Arguments string }

// SaidOf joins the pieces of such calls, of which there may be very many.
func SaidOf(pieces []parse.CallDelta) []ServerCall {
	at := make(map[int]int)
	var out []ServerCall
	var arguments [][]byte
	for _, p := range pieces {
		i, known := at[p.Index]
		if !known {
			i = len(out)
			at[p.Index], out, arguments = i, append(out, ServerCall{ID: p.ID}), append(arguments, nil)
		}
		if p.Name != "" && len(out[i].Name) <= maxName { // longer names are cut later anyway
			out[i].Name += p.Name
		}
		arguments[i] = append(arguments[i], p.Arguments...)
	}
	for i := range out {
		out[i].Arguments = string(arguments[i])
	}
	return out
}

// captureReading is the reading of a reply.
type captureReading struct {
	Calls              []Call
	Content, Reasoning string
	Finish             string
	Refused            []refusal
	Early              bool // it ended too early
}

// Call is a found call. Repairs holds the kinds of its repairs.
type Call struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy,omitempty"`
	Confidence float64         `json:"confidence,omitempty"`
	Repairs    []string        `json:"repairs,omitempty"`
}

// refusal is a refused call with the code of the refusal.
type refusal struct {
	Code string `json:"code"`
	Name string `json:"name,omitempty"`
	Why  string `json:"why,omitempty"`
}

// shadowOutcome is the reading of a reply by another arm.
type shadowOutcome struct {
	Arm     string
	Reading captureReading
}

// readingOf converts a reading of the parser.
func readingOf(r *parse.Reading) captureReading {
	out := captureReading{Content: r.Content, Reasoning: r.Reasoning, Finish: r.Finish, Early: r.Cut != "" ||
		r.Finish == "length"}
	for i := range r.Calls {
		c := &r.Calls[i]
		out.Calls = append(out.Calls, Call{c.Name, c.Arguments, c.Strategy, c.Confidence, guard.Repairs(c)})
	}
	for _, f := range r.Refused {
		out.Refused = append(out.Refused, refusal{string(f.Code), f.Name, f.Why})
	}
	return out
}

// Limits of a reply in the queue, in bytes. Longer texts are cut, and the record says so. The queue holds a
// little more than is written, so that masking sees secrets whole.
const (
	maxText          = 256 << 10 // of one text, and of all tools
	maxMessages      = 1 << 20
	maxCapturedCalls = 64 // calls or refusals of one reply
	margin           = 8 << 10
	held             = maxText + margin + 1 // bytes of a text that wait; the last shows that there was more
)

// entry is a reply on its way to a segment. Without a reply it carries only a rule.
type entry struct {
	rule  captureRule
	reply *captureReply
	cut   map[string]int // original size of what was cut
	size  int64
}

// intake copies replies, so that they do not keep requests in memory.
type intake struct{ offered ToolLists }

// own returns a copy of a reply that shares no large or changing memory.
func (in *intake) own(rule captureRule, r captureReply) *entry {
	e := &entry{rule: rule, reply: &r}
	r.At = r.At.UTC().Round(0)
	r.Arms = slices.Clone(r.Arms)
	if !rule.Messages {
		r.Messages, r.User, r.Caller = nil, "", ""
	}
	if r.Lost {
		e.say("message", max(1, len(r.Reading.Content)+len(r.Reading.Reasoning)))
	}
	for name, text := range e.texts() {
		*text = e.text(name, *text)
	}
	e.calls()
	e.messages()
	e.reading("reading", &r.Reading)
	if r.Shadow != nil {
		s := *r.Shadow
		s.Arm = e.text("shadow.arm", s.Arm)
		e.reading("shadow", &s.Reading)
		r.Shadow = &s
	}
	e.tools(&in.offered)
	e.size += 1 << 10 // estimated size of the record itself
	return e
}

// texts iterates over the texts of the reply outside of lists.
func (e *entry) texts() func(func(string, *string) bool) {
	r := e.reply
	return func(yield func(string, *string) bool) {
		for _, t := range [...]struct {
			name string
			text *string
		}{
			{"id", &r.ID}, {"model", &r.Model}, {"server", &r.Server}, {"session", &r.Session}, {"rules", &r.Rules}, {"style", &r.Style},
			{"profile", &r.Profile}, {"agent", &r.Agent}, {"channel", &r.Channel}, {"caller", &r.Caller}, {"user", &r.User}, {"workspace", &r.Workspace}, {"content", &r.Content}, {"reasoning", &r.Reasoning}, {"finish_reason", &r.Finish},
		} {
			if !yield(t.name, t.text) {
				return
			}
		}
	}
}

// text returns a copy of a text or of its beginning, never a part of a larger text.
func (e *entry) text(name, s string) string {
	if len(s) > held {
		e.say(name, len(s))
		s = strings.Clone(s[:held])
	}
	e.size += int64(len(s))
	return s
}

// say records a cut.
func (e *entry) say(name string, was int) {
	if e.cut == nil {
		e.cut = make(map[string]int)
	}
	e.cut[name] = max(e.cut[name], was)
}

func (e *entry) calls() {
	r := e.reply
	if len(r.Calls) > maxCapturedCalls {
		e.say("calls", len(r.Calls))
	}
	r.Calls = slices.Clone(r.Calls[:min(len(r.Calls), maxCapturedCalls)])
	remaining := maxText
	for i := range r.Calls {
		c := &r.Calls[i]
		n := len(c.ID) + len(c.Name) + len(c.Arguments)
		if remaining -= n; remaining < 0 {
			e.say("calls", len(r.Calls))
			r.Calls = slices.Clip(r.Calls[:i])
			return
		}
		e.size += int64(n)
	}
}

// reading copies a reading, whose arguments may point into a buffer.
func (e *entry) reading(name string, r *captureReading) {
	r.Content, r.Reasoning, r.Finish = e.text(name+".content", r.Content), e.text(name+".reasoning",
		r.Reasoning), e.text(name+".finish_reason", r.Finish)
	if n := max(len(r.Calls), len(r.Refused)); n > maxCapturedCalls {
		e.say(name+".calls", n)
	}
	r.Calls, r.Refused = slices.Clone(r.Calls[:min(len(r.Calls),
		maxCapturedCalls)]), slices.Clone(r.Refused[:min(len(r.Refused), maxCapturedCalls)])
	remaining := maxText
	for i := range r.Calls {
		c := &r.Calls[i]
		if remaining -= len(c.Name) + len(c.Arguments); remaining < 0 {
			e.say(name+".calls", len(r.Calls))
			r.Calls = slices.Clip(r.Calls[:i])
			break
		}
		c.Arguments, c.Repairs = bytes.Clone(c.Arguments), slices.Clone(c.Repairs[:min(len(c.Repairs),
			maxCapturedCalls)])
		e.size += int64(len(c.Name) + len(c.Arguments) + 16*len(c.Repairs))
	}
	for i := range r.Refused {
		f := &r.Refused[i]
		f.Name, f.Why = strings.Clone(f.Name[:min(len(f.Name), held)]), strings.Clone(f.Why[:min(len(f.Why),
			held)])
		e.size += int64(len(f.Name) + len(f.Why))
	}
}

func (e *entry) messages() {
	if r := e.reply; len(r.Messages) > maxMessages {
		e.say("messages", len(r.Messages))
		r.Messages = nil
	} else {
		r.Messages = bytes.Clone(r.Messages)
		e.size += int64(len(r.Messages))
	}
}

// tools copies the tools, which point into the body of the request. A list that is too long is dropped, and
// what was offered is then unknown.
func (e *entry) tools(in *ToolLists) {
	kept, all := in.Copy(e.reply.Tools, maxText)
	if e.reply.Tools = kept; all > maxText {
		e.say("tools", all)
		return
	}
	e.size += int64(all)
}

// ToolLists copies lists of tools, which otherwise would keep the whole body of a request in memory. It
// remembers the last lists, since most requests repeat one of them.
type ToolLists struct {
	lists [8]atomic.Pointer[[]tools.Tool]
	next  atomic.Uint32
}

// Copy returns a copy of a list, and the bytes of the list; nil if these are more than most.
func (in *ToolLists) Copy(list []tools.Tool, most int) (kept []tools.Tool, bytes int) {
	for _, t := range list {
		bytes += len(t.Name) + len(t.Parameters)
	}
	if bytes > most {
		return nil, bytes
	}
	for i := range in.lists {
		if had := in.lists[i].Load(); had != nil && slices.EqualFunc(*had, list, sameTool) {
			return *had, bytes
		}
	}
	kept, buf := slices.Clone(list), make([]byte, 0, bytes)
	for i, t := range list {
		from := len(buf)
		buf = append(buf, t.Parameters...)
		kept[i] = tools.Tool{Name: strings.Clone(t.Name)}
		if len(buf) > from {
			kept[i].Parameters = buf[from:len(buf):len(buf)]
		}
	}
	in.lists[in.next.Add(1)%uint32(len(in.lists))].Store(&kept)
	return kept, bytes
}

func sameTool(a, b tools.Tool) bool {
	return a.Name == b.Name && bytes.Equal(a.Parameters, b.Parameters)
}
