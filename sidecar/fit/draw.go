package fit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/trial"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Drawn are the samples of made-up replies.
type Drawn struct {
	All Samples
	Of  map[string]Samples // those of replies with a damage, by its id
}

// Draw reads n made-up replies from a seed on. Every second one makes no call. The others are
// damaged up to four times.
func Draw(set *ruleset.Set, seed uint64, n int) (Drawn, error) {
	workers := runtime.GOMAXPROCS(0)
	parts, errs := make([]Drawn, workers), make([]error, workers)
	var all sync.WaitGroup
	for at := range workers {
		all.Go(func() { parts[at], errs[at] = draw(set, seed, n, at, workers) })
	}
	all.Wait()
	out := newDrawn()
	for _, p := range parts {
		out.All.join(p.All)
		for op, s := range p.Of {
			out.of(op).join(s)
		}
	}
	return out, errors.Join(errs...)
}

func newDrawn() Drawn { return Drawn{Samples{}, map[string]Samples{}} }

func (d *Drawn) of(op string) Samples {
	if d.Of[op] == nil {
		d.Of[op] = Samples{}
	}
	return d.Of[op]
}

// draw reads every so many-th of the replies.
func draw(set *ruleset.Set, seed uint64, n, at, every int) (Drawn, error) {
	out := newDrawn()
	for i := at; i < n; i += every {
		c := noise.New(seed+uint64(i), noise.Options{Chain: -1, Negatives: i%2 == 1})
		_, weighed, err := Read(set, c)
		if err != nil {
			return out, fmt.Errorf("seed %d: %w", c.Seed, err)
		}
		out.All.label(weighed, meant(c))
		for _, op := range c.Ops {
			out.of(op).label(weighed, meant(c))
		}
	}
	return out, nil
}

// meant says which calls the model made, and did not break off.
func meant(c noise.Case) func(string, json.RawMessage) bool {
	return func(tool string, args json.RawMessage) bool {
		return slices.ContainsFunc(c.Truth, func(t noise.Call) bool {
			return t.Name == tool && t.Standing != noise.Never && (args == nil || tools.SameJSON(t.Args,
				args))
		})
	}
}

// Read reads a made-up reply, and says what was weighed in it. What the policy denies was
// read, too.
func Read(set *ruleset.Set, c noise.Case) (noise.Got, []parse.Weighed, error) {
	line, err := trial.Line(c)
	if err != nil {
		return noise.Got{}, nil, err
	}
	var rec replay.Record
	if err := json.Unmarshal(line, &rec); err != nil {
		return noise.Got{}, nil, err
	}
	rec.Finish = cmp.Or(rec.Finish, "length") // a whole message does not show that its stream broke
	e, err := replay.Explain(set, guard.World{}, "", &rec)
	if err != nil {
		return noise.Got{}, nil, err
	}
	got := noise.Got{Content: e.Content, Reasoning: e.Reasoning, Finish: e.Finish}
	for _, r := range e.Refused {
		if r.Code == "denied" {
			got.Calls = append(got.Calls, noise.GotCall{Name: r.Name, Args: json.RawMessage(r.Text)})
		} else {
			got.Refused++
		}
	}
	for _, call := range e.Calls {
		got.Calls = append(got.Calls, noise.GotCall{Name: call.Name, Args: call.Arguments})
	}
	return got, e.Texts, nil
}
