package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// maxSystem bounds the part of the system message that conditions see.
const maxSystem = 64 << 10

// Request returns the request as the model gets it, with the results in it; those of a run are edited
// one by one, by Result. Without edits, it is req itself. defaults are sampling parameters for callers
// that send none. The error is an *openai.Error.
func (e *Edits) Request(req *openai.Request, who policy.Subject,
	defaults map[string]any) (*openai.Request, EditsDone, error) {
	var done EditsDone
	if e.requests.none() && (who.Run || e.results.none()) {
		return req, done, nil
	}
	d := &draft{q: req, done: &done}
	own, locked := e.requests.holding(d.env(who), &done)
	d.messages(own, locked)
	if !who.Run {
		d.results(e, who)
	}
	rules := append(own, locked...)
	d.dropTools(rules)
	d.sampling(rules, defaults)
	if len(d.edits) == 0 {
		return req, done, nil
	}
	out, err := openai.ParseRequest(openai.Apply(req.Body, d.edits))
	return out, done, err
}

// draft collects the edits of one request.
type draft struct {
	q     *openai.Request
	edits []openai.Edit
	done  *EditsDone
}

func (d *draft) env(who policy.Subject) RequestFacts {
	out := RequestFacts{User: d.q.LastUser, Messages: len(d.q.Messages), Size: len(d.q.Body), Subject: who}
	for i := range d.q.Tools {
		out.Tools = append(out.Tools, d.q.Tools[i].Name)
	}
	if i := d.firstSystem(); i >= 0 {
		out.System = d.q.Text(&d.q.Messages[i], maxSystem)
	}
	return out
}

func instructs(m *openai.Message) bool { return m.Role == "system" || m.Role == "developer" }

func (d *draft) firstSystem() int {
	return slices.IndexFunc(d.q.Messages, func(m openai.Message) bool { return instructs(&m) })
}

// byUser reports whether a user wrote a message: the gateway sends its own under that role.
func (d *draft) byUser(m *openai.Message) bool {
	return m.Role == "user" && !strings.HasPrefix(strings.TrimSpace(d.q.Text(m, 256)), openai.RuntimeContext)
}

// messages edits the instructions and the user's messages.
func (d *draft) messages(own, locked []compiled[requestRule, RequestFacts]) {
	first, last := d.firstSystem(), -1
	for i := range d.q.Messages {
		if d.byUser(&d.q.Messages[i]) {
			last = i
		}
	}
	if first < 0 {
		d.lead(append(stepsFor(own, of("system")), stepsFor(locked, of("system"))...))
	}
	for i := range d.q.Messages {
		m := &d.q.Messages[i]
		var fits func(string) bool
		switch {
		case instructs(m):
			fits = of("system")
		case d.byUser(m):
			fits = func(name string) bool { return name == "user" || name == "last_user" && i == last }
		default:
			continue
		}
		mine, theirs := stepsFor(own, fits), stepsFor(locked, fits)
		if instructs(m) && i != first {
			mine, theirs = silent(mine), silent(theirs)
		}
		spans, texts := d.q.Texts(m)
		d.put(m, spans, texts, through(texts, mine, theirs, d.done))
	}
}

func of(name string) func(string) bool { return func(other string) bool { return other == name } }

// stepsFor returns the steps of rules for messages of one kind.
func stepsFor(rules []compiled[requestRule, RequestFacts], fits func(of string) bool) (out []step) {
	for _, r := range rules {
		for i, s := range r.steps {
			if fits(r.says.Messages[i].Of.Value) {
				out = append(out, s)
			}
		}
	}
	return out
}

// silent returns steps without their notes.
func silent(steps []step) []step {
	for i := range steps {
		steps[i].Note = ""
	}
	return steps
}

// lead inserts a system message with the notes if there is none.
func (d *draft) lead(steps []step) {
	var notes []string
	for _, s := range steps {
		if s.Note != "" {
			notes = append(notes, s.Note)
			d.done.made(s.rule)
		}
	}
	if len(notes) == 0 {
		return
	}
	at := d.q.Messages[0].From
	message := openai.AppendString([]byte(`{"role":"system","content":`), strings.Join(notes, "\n\n"))
	d.edits = append(d.edits, openai.Edit{Span: openai.Span{From: at, To: at},
		With: append(message, "},"...)})
}

// put replaces the texts of a message.
func (d *draft) put(m *openai.Message, spans []openai.Span, was, now []string) {
	switch {
	case slices.Equal(was, now):
	case len(was) != len(now):
		d.edits = append(d.edits, openai.Set(d.q.Body, m.Span, m.Content, "content",
			openai.AppendString(nil, strings.Join(now, "\n"))))
	default:
		for i, at := range spans {
			if was[i] != now[i] {
				d.edits = append(d.edits, openai.Edit{Span: at, With: openai.AppendString(nil, now[i])})
			}
		}
	}
}

// results edits the results of tools that the caller sends.
func (d *draft) results(e *Edits, who policy.Subject) {
	if e.results.none() {
		return
	}
	d.eachResult(who, func(m *openai.Message, r ResultFacts, spans []openai.Span, texts []string) {
		d.put(m, spans, texts, e.parts(r, texts, d.done))
	})
}

// eachResult iterates over results with their calls.
func (d *draft) eachResult(who policy.Subject,
	each func(m *openai.Message, r ResultFacts, spans []openai.Span, texts []string)) {
	calls := map[string]*openai.MessageCall{}
	for i := range d.q.Messages {
		m := &d.q.Messages[i]
		for j := range m.Calls {
			calls[m.Calls[j].ID] = &m.Calls[j]
		}
		if m.Role != "tool" {
			continue
		}
		r := ResultFacts{Tool: m.Name, Subject: who}
		if c := calls[m.CallID]; c != nil {
			if r.Tool == "" {
				r.Tool = c.Name
			}
			if args, ok := openai.Text(d.q.Body, c.ArgsSpan); ok && json.Unmarshal([]byte(args),
				&r.Args) != nil {
				r.Args = nil // only an object has members
			}
		}
		spans, texts := d.q.Texts(m)
		r.Failed = len(texts) > 0 && failed(texts[0])
		each(m, r, spans, texts)
	}
}

// dropTools removes tools from the request.
func (d *draft) dropTools(rules []compiled[requestRule, RequestFacts]) {
	gone := map[string]bool{}
	for _, r := range rules {
		for i := range d.q.Tools {
			name := d.q.Tools[i].Name
			if slices.ContainsFunc(r.says.Tools,
				func(p rulefile.Text) bool { return matches(p.Value, name) }) {
				gone[name] = true
				d.done.made(r.editRule)
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	var kept [][]byte
	// ParseRequest has read the tools: there are no errors
	_ = openai.Elements(d.q.Body, d.q.ToolsSpan, func(tool openai.Span) {
		raw := tool.Of(d.q.Body)
		if !gone[gjson.GetBytes(raw, "function.name").String()] {
			kept = append(kept, raw)
		}
	})
	d.edits = append(d.edits, openai.Edit{Span: d.q.ToolsSpan, With: slices.Concat([]byte("["),
		bytes.Join(kept, []byte(",")), []byte("]"))})
	at, chosen := d.q.Field("tool_choice")
	switch {
	case !chosen:
	case len(kept) == 0:
		d.edits = append(d.edits, openai.Edit{Span: at, With: []byte(`"none"`)})
	case d.wants(at, gone):
		d.edits = append(d.edits, openai.Edit{Span: at, With: []byte(`"auto"`)})
	}
}

// wants reports whether a tool_choice names one of the tools.
func (d *draft) wants(at openai.Span, tools map[string]bool) bool {
	raw := at.Of(d.q.Body)
	for name := range tools {
		if raw[0] == '{' && bytes.Contains(raw, openai.AppendString(nil, name)) {
			return true
		}
	}
	return false
}
