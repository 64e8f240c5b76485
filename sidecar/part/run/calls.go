package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// runCalls runs the calls of one reply in order, or in parallel if the rules allow it and all of them
// only read. After an error nothing more must run: what was done cannot be kept.
func (r *Run) runCalls(ctx context.Context, n int, s *modelReply) ([]tools.Result, error) {
	results, errs := make([]tools.Result, len(s.Calls)), make([]error, len(s.Calls))
	together := r.rules.Parallel == "read" && !slices.ContainsFunc(s.Calls,
		func(c tools.Call) bool { return r.changes(&c) || r.hasReference(&c) })
	var group sync.WaitGroup
	for i := range s.Calls {
		each := func() {
			known := false
			if results[i], known = r.history.result(s.ids[i]); !known {
				results[i], errs[i] = r.runCall(ctx, s, i, results[:i])
			}
		}
		if together {
			group.Go(each)
		} else {
			each()
		}
		if !together && errs[i] != nil {
			break
		}
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	r.countRepeats(s.Calls, results)
	r.Log.Info("tools have run", "event", "tool_execution_complete", "run", r.ID, "iteration", n,
		"calls", len(results))
	return results, nil
}

// countRepeats counts the calls of a reply with their results and warns the model before a repeated
// call ends the run.
func (r *Run) countRepeats(calls []tools.Call, results []tools.Result) {
	for i := range results {
		if times := r.history.countRepeat(calls[i].Key(), &results[i]); times > 1 && times == r.rules.Same-1 {
			results[i].Text += fmt.Sprintf("\n\nYou have sent this call %d times, with the same result. Do something else, or answer. If it comes once more, no tools can be called.", times)
		}
	}
}

// runCall runs one call of a reply and returns what the model reads. Before holds the results of the
// calls before it.
func (r *Run) runCall(ctx context.Context, s *modelReply, i int,
	before []tools.Result) (tools.Result, error) {
	id, call := s.ids[i], s.Calls[i]
	if ctx.Err() != nil {
		return notRun, nil
	}
	rule := r.rules.Tool(call.Name)
	call.Arguments = r.withDefaults(call, rule.Set)
	note, refusal := r.resolve(&call, s, before)
	does := progress(call)
	r.showProgress(does)
	began := r.Now()
	ctx, span := r.span.Tool(ctx, id, call.Name, call.Arguments)
	var result tools.Result
	var err error
	if refusal == nil {
		result, refusal, err = r.judgeAndRun(ctx, id, &call, does, rule, span)
	}
	spent := r.Now().Sub(began)
	took := spent.Milliseconds()
	if err != nil {
		span.End("failed", "")
		return result, err
	}
	if refusal != nil {
		r.showProgress("It was not run: " + refusal.ToPerson())
		result = tools.Result{Failed: true, Text: refusal.Why}
	} else {
		r.history.countRun(call.Name, spent)
		r.applyEdits(&call, &result)
		if r.changes(&call) {
			r.history.addChange(does, &result)
		}
	}
	if result.Failed {
		r.Log.Warn("a tool failed", "event", "tool_execution_failed", "run", r.ID, "call", id,
			"tool", call.Name, "elapsed_ms", took, "refused", refusal != nil, "detail", logText(result.Text))
	} else {
		r.Log.Info("a tool has run", "event", "tool_execution_success", "run", r.ID, "call", id,
			"tool", call.Name, "elapsed_ms", took, "bytes", len(result.Text))
	}
	r.Turns.Metrics.RunCalls.WithLabelValues(telemetry.Labels(r.Model.ID.Value, r.set.Arms, call.Name,
		callOutcome(&result, refusal))...).Inc()
	if refusal != nil { // all of it: it says what the model can do
		result.Text = "Error: " + refusal.Why
	} else {
		result.Text = r.resultText(call.Name, &result) + note
	}
	span.End(callOutcome(&result, refusal), result.Text)
	if refusal == nil { // even if it cannot be kept
		r.history.setResult(id, result)
	}
	err = r.record(JournalRecord{Result: &ResultRecord{ID: id, Text: result.Text, Failed: result.Failed,
		Refused: refusal != nil, Doubt: result.Doubt, Took: took}})
	return result, err
}

func callOutcome(res *tools.Result, refusal *tools.Refusal) string {
	switch {
	case refusal != nil:
		return "refused"
	case res.Doubt:
		return "doubt"
	case res.Failed:
		return "failed"
	}
	return "ok"
}

// resultText returns a result as the model reads it.
func (r *Run) resultText(tool string, res *tools.Result) string {
	text := strings.TrimRight(res.Text, "\n")
	switch {
	case text == "":
		text = "(no output)"
	case res.Failed && !strings.HasPrefix(strings.ToLower(text), "error"):
		text = "Error: " + text
	}
	text, _ = tools.Trim(text, r.set.Results.Bounds(ruleset.OfRuns, tool, r.window,
		utf8.RuneCountInString(text)))
	if res.Doubt {
		text += "\n\nIt is not known whether this call took effect. Look first, before you send it again."
	}
	return text
}

// judgeAndRun runs a call that the guard lets pass, or takes its result from the cache.
func (r *Run) judgeAndRun(ctx context.Context, id string, call *tools.Call, does string, rule RunTool,
	span *telemetry.ToolSpan) (res tools.Result, refusal *tools.Refusal, err error) {
	observer := guard.Observer{Log: r.Log, Decided: func(d guard.CallDecision) {
		span.Decided(telemetry.SpanDecision{Tool: d.Tool, Effect: string(d.Effect), Rule: d.Rule,
			Place:   d.Place,
			Outcome: string(d.Outcome)})
	}}
	passed, refusal := r.judge.Check(ctx, *call, observer, func(e approvals.Entry) {
		r.showProgress(fmt.Sprintf("Waiting until %s for a person to allow this: gpt-oss-executor approvals allow %s",
			e.Until.Format(time.TimeOnly), e.ID))
	})
	if refusal != nil {
		return res, refusal, nil
	}
	key := r.who.Agent + "\x00" + r.who.Session + "\x00" + call.Key()
	if rule.Cache > 0 {
		if res, ok := r.cache.get(key); ok {
			return res, nil, nil
		}
	}
	if err := r.recordCall(id, call, does); err != nil {
		return res, nil, err
	}
	if r.changes(call) {
		r.history.setResult(id, r.doubtful(call.Name))
	}
	r.Log.Debug("a tool runs", "event", "tool_execution_start", "run", r.ID, "call", id, "tool", call.Name,
		"args", logText(string(call.Arguments)))
	for try := 0; ; try++ {
		if res = r.send(ctx, id, passed, rule.Timeout); !res.Transient || !rule.Again ||
			try == r.set.Limits.Retries || !r.waitRetry(ctx, try, res.After) {
			break
		}
	}
	if rule.Cache > 0 && !res.Failed {
		r.cache.put(key, res, rule.Cache)
	}
	return res, nil, nil
}

// send tries a call once, within its time limit.
func (r *Run) send(ctx context.Context, id string, call *guard.AllowedCall,
	within time.Duration) tools.Result {
	in, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res := r.runAtSource(in, id, call)
	if in.Err() != nil && ctx.Err() == nil && res.Failed {
		res.Text = fmt.Sprintf("it took longer than %s, and was ended. %s", within, res.Text)
	}
	return res
}

// runAtSource runs a call at its source. A panic there fails the call but not the run.
func (r *Run) runAtSource(ctx context.Context, id string, call *guard.AllowedCall) (res tools.Result) {
	defer func() {
		if bug := recover(); bug != nil {
			r.Log.Error("a tool has panicked", "event", "tool_panicked", "run", r.ID, "call", id,
				"tool", call.Name, "detail", fmt.Sprint(bug), "stack", string(debug.Stack()))
			res = tools.Result{Failed: true, Doubt: r.changes(&call.Call),
				Text: "this tool has a bug, and broke off."}
		}
	}()
	return r.offered[call.Name].Run(ctx, id, call)
}

// waitRetry waits before the next try of a call and reports whether there may be one.
func (r *Run) waitRetry(ctx context.Context, try, seconds int) bool {
	l := r.set.Limits
	wait := min(l.RetryMin<<try, l.RetryMax)
	asked := time.Duration(seconds) * time.Second
	if asked > l.RetryMax {
		return false
	}
	wait = max(wait, asked)
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// withDefaults returns the arguments of a call, with those of the rules that it leaves out.
func (r *Run) withDefaults(call tools.Call, set map[string]any) json.RawMessage {
	if len(set) == 0 {
		return call.Arguments
	}
	catalog := tools.NewCatalog(r.set.Tools, r.Turns.Schemas, r.tools)
	var args map[string]json.RawMessage
	if json.Unmarshal(call.Arguments, &args) != nil {
		return call.Arguments
	}
	changed := false
	for name, v := range set {
		if _, given := args[name]; given || !catalog.Takes(call.Name, name) {
			continue
		}
		if raw, err := json.Marshal(v); err == nil {
			args[name], changed = raw, true
		}
	}
	if !changed {
		return call.Arguments
	}
	out, err := json.Marshal(args)
	if err != nil {
		return call.Arguments
	}
	return out
}

// logText returns the beginning of a text for the log, with secrets masked.
func logText(text string) string {
	text, _ = secrets.Mask(text)
	return strings.ToValidUTF8(text[:min(len(text), 500)], "")
}

const maxCached = 1024

type cache struct {
	now  func() time.Time
	mu   sync.Mutex
	kept *recent.Map[cached]
}

type cached struct {
	result tools.Result
	until  time.Time
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, kept: recent.New[cached](maxCached, nil)}
}

func (c *cache) get(key string) (tools.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept.Get(key)
	if k == nil || !c.now().Before(k.until) {
		return tools.Result{}, false
	}
	return k.result, true
}

func (c *cache) put(key string, r tools.Result, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.kept.Use(key)
	*k = cached{r, c.now().Add(keep)}
}

// applyEdits changes a result as edits.yaml says, but not a refusal of the guard.
func (r *Run) applyEdits(call *tools.Call, res *tools.Result) {
	var args map[string]any
	if json.Unmarshal(call.Arguments, &args) != nil {
		args = nil // what is no object has no members
	}
	text, done := r.set.Edits.Result(prompt.ResultFacts{Tool: call.Name, Args: args, Text: res.Text,
		Failed: res.Failed, Subject: r.who})
	res.Text = text
	r.history.addEdits(r.Turns.Edited(r.set, r.Model.ID.Value, done))
}

// history counts and lists what a run has done. It is safe for concurrent use: calls may run in
// parallel.
type history struct {
	turns int // replies of the model

	mu         sync.Mutex
	results    map[string]tools.Result // results of the last reply's calls, by call id
	calls      int
	tools      []string      // names of the tools that ran, in order
	toolTime   time.Duration // total time of all calls
	changes    []string      // descriptions of calls that may have changed something
	editRules  []string      // ids of rules that changed what the model reads
	repeats    map[[sha256.Size]byte]int
	maxRepeats int // highest count of one call with one result
}

// setResult keeps the result of a call, so that it is not run again.
func (a *history) setResult(id string, res tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.results == nil {
		a.results = map[string]tools.Result{}
	}
	a.results[id] = res
}

// result returns the result of a call, if it is known.
func (a *history) result(id string) (res tools.Result, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	res, known = a.results[id]
	return res, known
}

// countRun notes that a call ran.
func (a *history) countRun(tool string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools, a.toolTime = append(a.tools, tool), a.toolTime+took
}

func (a *history) addEdits(rules []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.editRules = append(a.editRules, rules...)
}

func (a *history) addChange(what string, r *tools.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes = append(a.changes, what+outcomeNote(r))
}

// countRepeat counts a call with its result and returns how often that pair came. A call in doubt has
// no result and counts as 0.
func (a *history) countRepeat(call string, res *tools.Result) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if res.Doubt {
		return 0
	}
	if a.repeats == nil {
		a.repeats = map[[sha256.Size]byte]int{}
	}
	key := sha256.Sum256([]byte(call + "\x00" + res.Text))
	a.repeats[key]++
	a.maxRepeats = max(a.maxRepeats, a.repeats[key])
	return a.repeats[key]
}

const maxListedChanges = 20

// summary lists for the user what was done; "" if nothing was changed.
func (a *history) summary() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.changes) == 0 {
		return ""
	}
	from := max(0, len(a.changes)-maxListedChanges)
	var b strings.Builder
	b.WriteString("What was done:")
	if from > 0 {
		fmt.Fprintf(&b, "\n- %d more before", from)
	}
	for _, what := range a.changes[from:] {
		b.WriteString("\n- " + what)
	}
	return b.String()
}
