package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// tally counts the outcomes of turns. It holds only numbers and the project's own words: nothing of a
// request, a reply or an address.
type tally struct {
	From  time.Time       `json:"from"`
	To    time.Time       `json:"to"`
	Turns map[Outcome]int `json:"turns"`
	// outcomes by dialect of the model server and class of damage
	Damage map[string]map[string]map[Outcome]int `json:"damage,omitempty"`
	// calls that the policy asked about, denied, or confined
	Asked    int `json:"asked"`
	Denied   int `json:"denied"`
	Confined int `json:"confined"`
	// of all turns, and the part after a first reply that was not good
	Took  time.Duration `json:"took_ns"`
	Again time.Duration `json:"again_ns"`
}

// All returns the number of turns.
func (t *tally) All() (n int) {
	for _, turns := range t.Turns {
		n += turns
	}
	return n
}

// add adds another tally.
func (t *tally) add(o *tally) {
	if t.From.IsZero() || !o.From.IsZero() && o.From.Before(t.From) {
		t.From = o.From
	}
	if o.To.After(t.To) {
		t.To = o.To
	}
	for outcome, n := range o.Turns {
		put(&t.Turns, outcome, n)
	}
	for server, classes := range o.Damage {
		for class, outcomes := range classes {
			for outcome, n := range outcomes {
				t.damaged(server, class, outcome, n)
			}
		}
	}
	t.Asked, t.Denied, t.Confined = t.Asked+o.Asked, t.Denied+o.Denied, t.Confined+o.Confined
	t.Took, t.Again = t.Took+o.Took, t.Again+o.Again
}

func (t *tally) damaged(server, class string, outcome Outcome, n int) {
	if t.Damage == nil {
		t.Damage = map[string]map[string]map[Outcome]int{}
	}
	if t.Damage[server] == nil {
		t.Damage[server] = map[string]map[Outcome]int{}
	}
	outcomes := t.Damage[server][class]
	put(&outcomes, outcome, n)
	t.Damage[server][class] = outcomes
}

func put(in *map[Outcome]int, outcome Outcome, n int) {
	if *in == nil {
		*in = map[Outcome]int{}
	}
	(*in)[outcome] += n
}

// tallyFile is a file of the state folder, with one line of JSON for some minutes each.
const tallyFile = "turns.jsonl"

const (
	tallyAge   = 32 * 24 * time.Hour // after which a line goes
	tallyEvery = 5 * time.Minute
)

// Counter counts the outcomes of turns for metrics and in a file. It is safe for concurrent use, and two
// programs may share a file.
type Counter struct {
	path    string // empty: only metrics
	metrics *telemetry.Metrics
	now     func() time.Time

	mu  sync.Mutex
	sum tally
}

// newCounter opens a counter that continues a file. Old lines are dropped, unless another program may still
// write.
func newCounter(path string, m *telemetry.Metrics, alone bool, now func() time.Time) (*Counter, error) {
	c := &Counter{path: path, metrics: m, now: now}
	if !alone {
		return c, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what turns came to: %w", err)
	}
	var kept []byte
	eachTally(text, now().Add(-tallyAge), func(line []byte, _ *tally) { kept = append(kept, line...) })
	if len(kept) < len(text) {
		err = atomicfile.Replace(path, kept)
	}
	return c, err
}

// eachTally parses the lines that end after a time. It skips incomplete ones.
func eachTally(text []byte, since time.Time, take func(line []byte, t *tally)) {
	for line := range bytes.Lines(text) {
		var t tally
		if json.Unmarshal(line, &t) == nil && t.To.After(since) {
			take(line, &t)
		}
	}
}

// readTally sums the lines since a time. A missing file is empty.
func readTally(path string, since time.Time) (sum tally, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err != nil {
		return sum, fmt.Errorf("read what turns came to: %w", err)
	}
	eachTally(text, since, func(_ []byte, t *tally) { sum.add(t) })
	return sum, nil
}

// Flush appends the counts since the last call to the file.
func (c *Counter) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sum.All() == 0 {
		return nil
	}
	line, err := json.Marshal(&c.sum)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep what turns came to: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		c.sum = tally{}
	}
	return err
}

// Run flushes regularly and at the end. It calls trouble with errors.
func (c *Counter) Run(ctx context.Context, trouble func(error)) {
	tick := time.NewTicker(tallyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := c.Flush(); err != nil {
				trouble(err)
			}
		}
	}
}

// Since returns the sum from a time until now.
func (c *Counter) Since(since time.Time) (tally, error) {
	if err := c.Flush(); err != nil {
		return tally{}, err
	}
	return readTally(c.path, since)
}

// Watch counts a request, as a turn.Watch.
func (c *Counter) Watch(context.Context, *turn.Request) turn.Watcher {
	return &countedRequest{counter: c}
}

// countedRequest counts one request when it ends. Its methods are called for one turn after the other.
type countedRequest struct {
	counter                 *Counter
	server                  string
	classes                 []string
	denied, repaired        bool
	asked, refused, wrapped int
	first                   time.Time // when the first reply had ended
}

func (w *countedRequest) Asked(*openai.Request, string) {}

// Listens reports false: words are not needed.
func (w *countedRequest) Listens() bool { return false }

// Replied counts the repairs of a reply, and the decisions about its calls.
func (w *countedRequest) Replied(r *turn.Reply) {
	w.server = r.Server
	if w.first.IsZero() {
		w.first = w.counter.now()
	}
	w.denied = w.denied || r.Reading.Denied()
	for i := range r.Reading.Calls {
		call := &r.Reading.Calls[i]
		for _, kind := range guard.Repairs(call) {
			w.repaired = true
			w.class(kind)
		}
		switch guard.OutcomeOf(call) {
		case decisions.Asked:
			w.asked++
		case decisions.Confined:
			w.wrapped++
		}
	}
	for i := range r.Reading.Refused {
		switch refused := &r.Reading.Refused[i]; {
		case refused.Waits:
			w.asked++
		case refused.Code == tools.Denied:
			w.refused++
		}
	}
}

// class records a class of damage: a fault, or the kind of a repair up to its dot.
func (w *countedRequest) class(kind string) {
	group, _, _ := strings.Cut(kind, ".")
	if !slices.Contains(w.classes, group) {
		w.classes = append(w.classes, group)
	}
}

func (w *countedRequest) Ended(o *turn.Outcome) {
	for _, f := range o.Account.Faults {
		if f.Fault != ruleset.Denied { // which is a decision, and no damage
			w.class(string(f.Fault))
		}
	}
	outcome := outcomeOf(o.Status, &o.Account, w.denied, w.repaired)
	c := w.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	one := tally{From: now.Add(-o.Took), To: now, Turns: map[Outcome]int{outcome: 1}, Asked: w.asked,
		Denied: w.refused, Confined: w.wrapped, Took: o.Took}
	c.metrics.Turns.WithLabelValues(string(outcome)).Inc()
	if o.Account.Again > 0 && !w.first.IsZero() {
		one.Again = now.Sub(w.first)
		c.metrics.Again.Add(one.Again.Seconds())
	}
	for _, class := range w.classes {
		one.damaged(w.server, class, outcome, 1)
		c.metrics.Damaged.WithLabelValues(w.server, class, string(outcome)).Inc()
	}
	c.sum.add(&one)
}
