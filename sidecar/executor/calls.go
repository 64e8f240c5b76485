package executor

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// runAll runs the calls of one reply, in their order; where the rules say so, and all of them
// only read, at the same time. A call that stands twice runs once.
func (r *Run) runAll(ctx context.Context, n int, s *said) []tools.Result {
	results := make([]tools.Result, len(s.Calls))
	keys := make([]string, len(s.Calls))
	for i := range s.Calls {
		keys[i] = keyOf(&s.Calls[i])
	}
	each := func(i int) { results[i] = r.run(ctx, s.ids[i], s.Calls[i], keys[i]) }
	reads := func(c tools.Call) bool { return r.set.Tools.Class(c.Name) == tools.Read }
	var group sync.WaitGroup
	for i := range s.Calls {
		switch {
		case slices.Contains(keys[:i], keys[i]):
		case r.set.Runs.Parallel == "read" && !slices.ContainsFunc(s.Calls, func(c tools.Call) bool { return !reads(c) }):
			group.Go(func() { each(i) })
		default:
			each(i)
		}
	}
	group.Wait()
	for i := range results {
		results[i] = results[slices.Index(keys, keys[i])]
	}
	r.Log.Info("tools have run", "event", "tool_execution_complete", "run", r.ID, "iteration", n, "calls", len(results))
	return results
}

// run runs one call, and gives what the model reads of it.
func (r *Run) run(ctx context.Context, id string, call tools.Call, key string) tools.Result {
	if ctx.Err() != nil {
		return tools.Result{Failed: true, Text: "This call was not run: the run is over."}
	}
	rule := r.set.Runs.Tool(call.Name)
	call.Arguments = r.filled(call, rule.Set)
	written := call.Arguments
	r.tell(progress(call))
	began := r.Now()
	result, refusal := r.cached(ctx, id, &call, rule)
	took := r.Now().Sub(began).Milliseconds()
	if refusal != nil {
		r.tell("It was not run: " + refusal.Why)
		result = tools.Result{Failed: true, Text: refusal.Why}
	} else if r.set.Tools.Class(call.Name) != tools.Read {
		r.acts.add(progress(tools.Call{Name: call.Name, Arguments: written}), &result)
	}
	if result.Failed {
		r.Log.Warn("a tool failed", "event", "tool_execution_failed", "run", r.ID, "call", id, "tool", call.Name, "elapsed_ms", took, "refused", refusal != nil, "detail", masked(result.Text))
	} else {
		r.Log.Info("a tool has run", "event", "tool_execution_success", "run", r.ID, "call", id, "tool", call.Name, "elapsed_ms", took, "bytes", len(result.Text))
	}
	result.Text = r.shown(&result)
	if times := r.acts.seen(key, result.Text); times > 1 && times == r.set.Runs.Same-1 {
		result.Text += fmt.Sprintf("\n\nThis is the same call with the same result, for the %d. time. Do something else, or answer. If it comes once more, no tools can be called.", times)
	}
	return result
}

// shown is what the model reads of a result.
func (r *Run) shown(res *tools.Result) string {
	text := strings.TrimRight(res.Text, "\n")
	switch {
	case text == "":
		text = "(no output)"
	case res.Failed && !strings.HasPrefix(strings.ToLower(text), "error"):
		text = "Error: " + text
	}
	if res.Doubt {
		text += "\n\nIt is not known whether this call took effect. Look first, before you send it again."
	}
	return text
}

// cached runs a call whose result is not known yet.
func (r *Run) cached(ctx context.Context, id string, call *tools.Call, rule ruleset.RunTool) (tools.Result, *tools.Refusal) {
	facts, refusal := r.judge.Weigh(ctx, call, func(e approvals.Entry) {
		r.tell(fmt.Sprintf("Waiting until %s for somebody to allow this: gpt-oss-executor approvals allow %s", e.Until.Format(time.TimeOnly), e.ID))
	})
	if refusal != nil {
		return tools.Result{}, refusal
	}
	key := r.who.Agent + "\x00" + r.who.Session + "\x00" + keyOf(call)
	if rule.Cache > 0 {
		if res, ok := r.cache.get(key); ok {
			return res, nil
		}
	}
	r.Log.Debug("a tool runs", "event", "tool_execution_start", "run", r.ID, "call", id, "tool", call.Name, "args", masked(string(call.Arguments)))
	var res tools.Result
	for try := 0; ; try++ {
		in, cancel := context.WithTimeout(ctx, rule.Timeout)
		res = r.offered[call.Name].Run(in, id, *call, facts)
		late := in.Err() != nil && ctx.Err() == nil
		cancel()
		if late && res.Failed {
			res.Text = fmt.Sprintf("it took longer than %s, and was ended. %s", rule.Timeout, res.Text)
		}
		if !res.Transient || !rule.Again || try == r.set.Limits.Retries || !r.pause(ctx, try, res.After) {
			break
		}
	}
	if rule.Cache > 0 && !res.Failed {
		r.Executor.cache.put(key, res, rule.Cache)
	}
	return res, nil
}

// pause waits before the next try of a call. It reports whether there may be one.
func (r *Run) pause(ctx context.Context, try, seconds int) bool {
	l := r.set.Limits
	wait := min(l.RetryMin<<try, l.RetryMax)
	if asked := time.Duration(seconds) * time.Second; asked > l.RetryMax {
		return false
	} else if asked > wait {
		wait = asked
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// filled are the arguments of a call, with those that the rules set where it leaves them out.
func (r *Run) filled(call tools.Call, set map[string]any) json.RawMessage {
	if len(set) == 0 {
		return call.Arguments
	}
	catalog := tools.NewCatalog(r.set.Tools, r.Turns.Schemas, []tools.Tool{r.schemas[call.Name]})
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

// keyOf is the same for calls that are the same: white space and the order of keys do not
// count.
func keyOf(c *tools.Call) string {
	var v any
	if json.Unmarshal(c.Arguments, &v) == nil {
		if doc, err := json.Marshal(v); err == nil {
			return c.Name + " " + string(doc)
		}
	}
	return c.Name + " " + string(c.Arguments)
}

func sum(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// masked is the beginning of a text for the log.
func masked(text string) string {
	text, _ = secrets.Mask(text)
	return text[:min(len(text), 500)]
}
