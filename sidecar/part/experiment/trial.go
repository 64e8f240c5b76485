package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// trial holds the counts of an experiment in one phase and definition. Another phase or definition is
// another trial.
type trial struct {
	Saved
	units   *recent.Map[unit]
	counted countedUnits
}

// Saved is a trial in the file.
type Saved struct {
	ID      string        `json:"id"`
	Print   string        `json:"print"` // of what it tries
	Phase   int           `json:"phase"`
	Began   time.Time     `json:"began"`
	Stopped string        `json:"stopped,omitempty"` // why; empty: it was not stopped
	By      string        `json:"by,omitempty"`      // who stopped it; empty: unknown or not stopped
	Ended   time.Time     `json:"ended,omitzero"`
	Arms    []Counts      `json:"arms"`
	Shares  []float64     `json:"shares,omitempty"` // if they adapt
	Off     float64       `json:"split_p"`          // the least result of Split so far
	Differs int           `json:"differs,omitempty"`
	Read    int           `json:"read,omitempty"` // replies that shadows read
	Units   []Known       `json:"units,omitempty"`
	Counted []byte        `json:"met,omitempty"`     // hashes of all counted units
	Repeats bool          `json:"repeats,omitempty"` // some may have been counted twice
	Series  []Point       `json:"series,omitempty"`
	Step    time.Duration `json:"step,omitempty"` // distance of points, in nanoseconds
}

// Counts are the sums of an arm's units.
type Counts struct {
	Name    string           `json:"name"`
	Units   int              `json:"units"`
	Tallies map[string]Tally `json:"measures"`
}

// Known is a unit of the trial.
type Known struct {
	Key    string          `json:"key"`
	Arm    int             `json:"arm"`
	Over   bool            `json:"over,omitempty"` // no longer counted
	Totals map[string]Unit `json:"totals,omitempty"`
}

// unit holds the sums of a unit by measure.
type unit struct {
	arm    int
	over   bool // its sums were dropped, so it is no longer counted
	totals map[string]Unit
}

// printOf returns a fingerprint of a definition: counts of different ones must not be mixed. After a dot it
// covers the texts that running arms name; ended ones keep theirs, and earlier versions had none.
func printOf(set *ruleset.Set, e *Experiment) string {
	h, texts := sha256.New(), sha256.New()
	named := false
	fmt.Fprintf(h, "%d %s %v", e.Phase, e.Unit, e.Shadow)
	for _, a := range e.Arms {
		share := a.Share
		if e.Floor > 0 {
			share = 0 // adapts, so it is not part of the definition
		}
		fmt.Fprintf(h, "\n%s %g", a.Name, share)
		for _, s := range a.Set {
			fmt.Fprintf(h, " %s=%v", s.Key.Value, s.Value)
			if text := textOf(set, s.Key.Value, s.Value); text != "" {
				named = true
				fmt.Fprintf(texts, "%d %s", len(text), text)
			}
		}
	}
	print := hex.EncodeToString(h.Sum(nil))[:12]
	if named && e.Status == Running {
		print += "." + hex.EncodeToString(texts.Sum(nil))[:12]
	}
	return print
}

// textOf returns the file that an arm names, or "".
func textOf(set *ruleset.Set, key string, value any) string {
	name, _ := value.(string)
	if p := set.Prompts[name]; p != nil && strings.HasSuffix(key, "prompt") {
		return p.Text()
	}
	if strings.HasSuffix(key, "style") {
		if s, _ := set.Style(ruleset.Model{Style: rulefile.Text{Value: name}}, ruleset.StyleEnv{}); s != nil {
			return s.Form.Text()
		}
	}
	return ""
}

// samePrint reports whether two fingerprints agree as far as both go.
func samePrint(a, b string) bool {
	a, textsA, _ := strings.Cut(a, ".")
	b, textsB, _ := strings.Cut(b, ".")
	return a == b && (textsA == textsB || textsA == "" || textsB == "")
}

// maxPast is how many ended trials are kept.
const maxPast = 32

// trial returns the trial of an experiment, and starts it if necessary. l.mu is held.
func (tr *Tracker) trial(set *ruleset.Set, e *Experiment) *trial {
	now := tr.trials[e.ID]
	p := printOf(set, e)
	if now != nil && samePrint(now.Print, p) {
		now.Print = p
		return now
	}
	if now != nil {
		tr.Log.Info("an experiment is another one than before, so counting begins anew",
			"event", "experiment_changed", "experiment", e.ID, "phase", e.Phase)
		now.Ended = tr.Now()
		tr.past = append(tr.past, now)
		tr.past = tr.past[max(0, len(tr.past)-maxPast):]
	}
	now = &trial{Saved: Saved{ID: e.ID, Print: p, Phase: e.Phase, Began: tr.Now(), Off: 1},
		units: recent.New[unit](maxUnits, nil), counted: countedUnits{}}
	for _, a := range e.Arms {
		now.Arms = append(now.Arms, Counts{Name: a.Name, Tallies: map[string]Tally{}})
	}
	tr.begun(now)
	tr.trials[e.ID] = now
	tr.dirty, tr.published = true, false
	return now
}

// shares returns the current shares.
func (t *trial) shares(e *Experiment) []float64 {
	if e.Floor > 0 && len(t.Shares) == len(e.Arms) {
		return t.Shares
	}
	return e.Shares()
}

// assign returns the arm of a unit: the previous one, here or at another replica, or by share.
func (t *trial) assign(e *Experiment, name string, elsewhere map[string]int) place {
	k := key(e.ID, name)
	u, first := t.units.Use(k)
	if first {
		if !e.Shadow { // the first arm serves all requests
			u.arm = max(e.Pick(name, t.shares(e)), 0)
		}
		// adapted shares may give it another arm here
		if arm, known := elsewhere[t.Print+k]; known && e.Floor > 0 && arm < len(t.Arms) {
			u.arm = arm
		}
		u.totals = map[string]Unit{}
		if u.over = !t.countsAnew(k); !u.over {
			t.Arms[u.arm].Units++
		}
	}
	return place{t, k, u.arm}
}

// count adds a value of a measure to a unit.
func (p place) count(measure string, x float64) { p.add(measure, x, 1) }

// add changes the sums of a unit.
func (p place) add(measure string, x, n float64) {
	u, first := p.of.units.Use(p.unit)
	if first { // it was dropped
		u.arm, u.over, u.totals = p.arm, true, map[string]Unit{}
	}
	if u.over {
		return
	}
	before := u.totals[measure]
	now := Unit{X: max(0, before.X+x), N: before.N + n}
	u.totals[measure] = now
	tally := p.of.Arms[u.arm].Tallies[measure]
	tally.Grow(before, now)
	p.of.Arms[u.arm].Tallies[measure] = tally
}

// sum returns the number of units.
func (s *Saved) sum() (n int) {
	for i := range s.Arms {
		n += s.Arms[i].Units
	}
	return n
}
