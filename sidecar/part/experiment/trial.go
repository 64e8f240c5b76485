package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// maxCounted is how many units of a trial are remembered as counted, in addition to those with figures: 8
// bytes each.
const maxCounted = 200_000

// countedUnits holds hashes of the counted units.
type countedUnits map[uint64]struct{}

func hashOf(key string) uint64 {
	h, _ := strconv.ParseUint(key, 16, 64)
	return h
}

// countsAnew records a unit, and reports whether it is new. Beyond maxCounted that is unknown, which
// Repeats tells.
func (t *trial) countsAnew(key string) bool {
	h := hashOf(key)
	if _, known := t.counted[h]; known {
		return false
	}
	if len(t.counted) >= maxCounted {
		t.Repeats = true
		return true
	}
	t.counted[h] = struct{}{}
	return true
}

// packed encodes the hashes for the file.
func (m countedUnits) packed() []byte {
	out := make([]byte, 0, 8*len(m))
	for h := range m {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// countedOf decodes the hashes of a file. Files of earlier versions have only the units.
func countedOf(s *Saved) countedUnits {
	out := make(countedUnits, len(s.Counted)/8+len(s.Units))
	for doc := s.Counted; len(doc) >= 8; doc = doc[8:] {
		out[binary.BigEndian.Uint64(doc)] = struct{}{}
	}
	for _, u := range s.Units {
		out[hashOf(u.Key)] = struct{}{}
	}
	return out
}

// readFolders reads the counts in state folders.
func readFolders(dirs []string) (out []*File, err error) {
	var seen []fs.FileInfo
	for _, dir := range dirs {
		path := filepath.Join(dir, CountsFile)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s holds no counts of experiments; is it the state folder of a server that has run one for 20 seconds or more?", dir)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(seen, func(o fs.FileInfo) bool { return os.SameFile(o, info) }) {
			return nil, fmt.Errorf("%s is named twice, and would count twice", dir)
		}
		f, err := ReadCounts(path)
		if err != nil {
			return nil, err
		}
		out, seen = append(out, f), append(seen, info)
	}
	return out, nil
}

// unknownIn returns an error that lists the counts of experiments that these rules do not have, or define
// differently.
func unknownIn(set *ruleset.Set, files ...*File) error {
	var ids []string
	for _, f := range files {
		for _, s := range f.Trials {
			known := slices.ContainsFunc(Of(set).List, func(e Experiment) bool {
				return s.ID == e.ID && samePrint(s.Print, printOf(set, &e))
			})
			if !known {
				ids = append(ids, fmt.Sprintf("%s (%d units)", s.ID, s.sum()))
			}
		}
	}
	if ids == nil {
		return nil
	}
	return fmt.Errorf("there are counts of %s, and the rules do not have that, or not with these arms; name those of the server with --rules DIR", strings.Join(ids, ", "))
}

// together returns the sum of the counts of an experiment, or nil. mine is a copy.
func together(set *ruleset.Set, e *Experiment, mine *Saved, more []*File) *Saved {
	var all *trial
	p := printOf(set, e)
	if mine != nil {
		all = loaded(*mine)
	}
	for _, f := range more {
		for _, s := range f.Trials {
			switch {
			case s.ID != e.ID || !samePrint(s.Print, p) || len(s.Arms) != len(e.Arms):
			case all == nil:
				all = loaded(loaded(s).saved(false))
			default:
				all.join(loaded(s))
			}
		}
	}
	if all == nil {
		return nil
	}
	return &all.Saved
}

// join adds the counts of another replica. A unit that both know, such as a session with requests to both,
// counts once; twice would be too much evidence.
func (t *trial) join(o *trial) {
	for i := range t.Arms {
		t.Arms[i].Units += o.Arms[i].Units
		for m, theirs := range o.Arms[i].Tallies {
			sum := t.Arms[i].Tallies[m]
			sum.Add(theirs)
			t.Arms[i].Tallies[m] = sum
		}
	}
	for k, theirs := range o.units.All() {
		u, first := t.units.Use(k)
		switch {
		case first:
			*u = unit{theirs.arm, theirs.over, maps.Clone(theirs.totals)}
			if !t.countsAnew(k) { // it was counted here before it was dropped
				u.over = true
				t.Arms[u.arm].Units--
			}
			continue
		case u.arm != theirs.arm: // adapted shares gave it another arm there
			continue
		}
		u.over = u.over || theirs.over
		arm := &t.Arms[u.arm]
		arm.Units--
		for m, more := range theirs.totals {
			before := u.totals[m]
			sum := arm.Tallies[m]
			sum.Join(before, more)
			arm.Tallies[m] = sum
			u.totals[m] = Unit{X: before.X + more.X, N: before.N + more.N}
		}
	}
	for h := range o.counted {
		if len(t.counted) < maxCounted {
			t.counted[h] = struct{}{}
		}
	}
	t.Repeats = t.Repeats || o.Repeats
	t.Series = nil // the combined series is unknown
	t.Read, t.Differs = t.Read+o.Read, t.Differs+o.Differs
	if o.Began.Before(t.Began) {
		t.Began = o.Began
	}
	if t.Off = min(t.Off, o.Off); t.Stopped == "" {
		t.Stopped, t.By, t.Ended = o.Stopped, o.By, o.Ended
	}
}
