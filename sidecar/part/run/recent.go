package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/refer"
)

// recentRuns holds recent runs by request. A caller that repeats a request because the answer got lost
// must not have everything done twice.
type recentRuns struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[string]*recentRun
}

// recentRun is a run that is active or ended recently.
type recentRun struct {
	id, sum string // sum is the hash of its request
	run     *Run
	ended   chan struct{} // closed at its end; the fields below are set then
	until   time.Time
	end     *ending // nil: it broke off, and another run may go on
	resumed bool    // another run does
}

// ending is how a run ended.
type ending struct {
	reply        modelReply
	text, finish string
}

func newRecentRuns(now func() time.Time) *recentRuns {
	return &recentRuns{now: now, runs: map[string]*recentRun{}}
}

// begin adds a run, or returns the other one with the same request.
func (c *recentRuns) begin(r *Run) (mine, other *recentRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.runs, func(_ string, m *recentRun) bool { return m.over() && !now.Before(m.until) })
	if other := c.runs[r.begin.Sum]; other != nil {
		return nil, other
	}
	return c.add(r, r.begin.ID), nil
}

// over reports whether the run has ended.
func (m *recentRun) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

func (c *recentRuns) add(r *Run, id string) *recentRun {
	m := &recentRun{id: id, sum: r.begin.Sum, run: r, ended: make(chan struct{})}
	c.runs[m.sum] = m
	return m
}

// finish notes how a run ended. A run that changed nothing is forgotten: the same request may have
// another answer.
func (c *recentRuns) finish(m *recentRun, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.until = c.now().Add(keep)
	if len(m.run.history.changes) == 0 && c.runs[m.sum] == m {
		delete(c.runs, m.sum)
	}
	if m.end != nil { // no run goes on with its messages, which may be many
		m.run.talk = &conversation{baseWeight: m.run.talk.weight()}
	}
	close(m.ended)
}

// follow lets one run go on in place of a broken one. It returns nil if another run does.
func (c *recentRuns) follow(broken *recentRun, r *Run) *recentRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.runs[broken.sum]; broken.resumed || now != nil && now != broken {
		return nil
	}
	broken.resumed = true
	return c.add(r, broken.id)
}

// register looks for a recent run with the same request. If there is one, this run takes its id, and
// will return its answer or go on with its work.
func (r *Run) register() {
	if r.entry, r.other = r.recent.begin(r); r.other != nil {
		r.ID = r.other.id
	} else {
		r.ID = r.begin.ID
	}
}

// join waits for the run with the same request and returns its end. If there is none, this run begins,
// or goes on in place of one that broke off.
func (r *Run) join(ctx context.Context) (*ending, error) {
	if r.entry == nil && r.other == nil {
		r.register()
	}
	for r.entry == nil {
		select {
		case <-r.other.ended:
		case <-ctx.Done():
			return nil, callerLeft()
		}
		if r.other.end != nil {
			r.Log.Info("the request was answered before, and gets the same answer", "event", "run_repeated",
				"run", r.ID)
			r.runState = r.other.run.runState
			return r.other.end, nil
		}
		if r.entry = r.recent.follow(r.other, r); r.entry == nil {
			r.register()
			continue
		}
		r.Log.Info("the request was broken off before; this run goes on with its work",
			"event", "run_continued", "run", r.ID)
		r.begin, r.runState = r.other.run.begin, r.other.run.runState
		return nil, r.reopen()
	}
	return nil, nil
}

// callerLeft is the error of a run that its caller left.
func callerLeft() *openai.Error {
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request",
		Message: "the caller left"}
}

// reopen goes on with the journal of a run that broke off, if it has one.
func (r *Run) reopen() (err error) {
	if r.Journal == nil {
		return nil
	}
	if r.journal, _, err = r.Journal.Continue(r.ID, r.set.Version, r.by); errors.Is(err, ErrUnknownRun) {
		return nil // it had not begun
	}
	return err
}

const unresolved tools.RefusalCode = "unresolved_argument"

const maxCandidates = 8

// resolve replaces arguments that refer to earlier results, as references.yaml says, and returns a
// note for the model. The refusal names the candidates. Earlier results are those of the conversation
// and of the calls before this one in the same reply.
func (r *Run) resolve(call *tools.Call, s *modelReply,
	before []tools.Result) (note string, refusal *tools.Refusal) {
	rules := &r.set.References
	names, how := rules.Of(call.Name)
	for i, name := range names {
		v := gjson.GetBytes(call.Arguments, gjson.Escape(name))
		if v.Type != gjson.String {
			continue
		}
		kind := refer.Kind(how[i].Kind)
		ref, open := rules.Words.Read(v.Str, kind)
		var is string
		switch {
		case open && kind == refer.Path && r.judge.Exists(v.Str):
			continue
		case open:
			found := refer.Find(kind, r.earlierResults(s, before))
			one, ok := ref.Choose(found, how[i].Resolve == "first")
			if !ok || ref.Exact == "" && (how[i].Resolve == "refuse" || r.changes(call)) {
				return "", &tools.Refusal{Code: unresolved, Name: call.Name, Text: string(call.Arguments),
					Why: ambiguous(name, v.Str, kind, found.All)}
			}
			is, note = one, note+fmt.Sprintf("\n\n[The %s %q was taken for %s.]", name, v.Str, one)
		case how[i].HTTPS:
			var lacked bool
			if is, lacked = refer.AddScheme(v.Str, rules.Files); !lacked {
				continue
			}
		default:
			continue
		}
		args, err := sjson.SetBytes(call.Arguments, gjson.Escape(name), is)
		if err != nil { // the name comes from the rules: such a call stays as it is
			continue
		}
		call.Arguments = args
		r.Log.Info("an argument was filled in", "event", "argument_resolved", "run", r.ID, "tool", call.Name,
			"argument", name, "was", logText(v.Str), "is", logText(is))
	}
	return note, nil
}

// hasReference reports whether an argument refers to an earlier result.
func (r *Run) hasReference(call *tools.Call) bool {
	names, how := r.set.References.Of(call.Name)
	for i, name := range names {
		if v := gjson.GetBytes(call.Arguments, gjson.Escape(name)); v.Type == gjson.String {
			if _, open := r.set.References.Words.Read(v.Str, refer.Kind(how[i].Kind)); open {
				return true
			}
		}
	}
	return false
}

// earlierResults returns the results of the run before a call, as the model reads them.
func (r *Run) earlierResults(s *modelReply, before []tools.Result) (out []refer.Result) {
	for _, e := range r.talk.turns {
		for i := range e.results {
			if o := &e.results[i]; !o.failed {
				out = append(out, r.referenced(o.tool, o.args, o.text))
			}
		}
	}
	for i := range before {
		if c := &s.Calls[i]; !before[i].Failed {
			out = append(out, r.referenced(c.Name, c.Arguments, before[i].Text))
		}
	}
	return out
}

// referenced returns one result with the files or URLs that its call names.
func (r *Run) referenced(tool string, args []byte, text string) refer.Result {
	out := refer.Result{Text: text, Ranked: r.set.References.List(tool)}
	names, how := r.set.References.Of(tool)
	for i, name := range names {
		v := gjson.GetBytes(args, gjson.Escape(name))
		if _, open := r.set.References.Words.Read(v.Str, refer.Kind(how[i].Kind)); v.Type == gjson.String &&
			!open {
			out.Names = append(out.Names, v.Str)
		}
	}
	return out
}

// ambiguous tells the model what to send in place of an argument.
func ambiguous(name, value string, kind refer.Kind, all []refer.Candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %q. That stands for something which was not said, so nothing was called.", name,
		value)
	switch {
	case len(all) > 0:
		b.WriteString(" Send the call again with what you mean. The results before have:")
		for i, c := range all[:min(len(all), maxCandidates)] {
			fmt.Fprintf(&b, "\n%d. %s", i+1, c.Text)
			if c.Title != "" {
				b.WriteString(" (" + c.Title + ")")
			}
		}
		if more := len(all) - maxCandidates; more > 0 {
			fmt.Fprintf(&b, "\nand %d more.", more)
		}
	case kind == refer.URL:
		b.WriteString(" No result before has an address. Find one first, and write it out.")
	default:
		b.WriteString(" No result before names a file. Write the name out.")
	}
	if kind == refer.Path {
		b.WriteString("\nA file that is really named so is written with ./ before it.")
	}
	return b.String()
}
