package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// CountsFile is the file of counts in a state folder.
const CountsFile = "experiments.json"

// File is the file of counts.
type File struct {
	Version int     `json:"version"`
	Trials  []Saved `json:"trials"`
	Past    []Saved `json:"past,omitempty"`
}

// ReadCounts reads a file of counts, and refuses impossible ones.
func ReadCounts(path string) (*File, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parseFile(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; move it away to begin anew", path, err)
	}
	return f, nil
}

func parseFile(doc []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(doc, &f); err != nil {
		return nil, err
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("version %d is not known here", f.Version)
	}
	for _, s := range append(slices.Clone(f.Trials), f.Past...) {
		if !s.sound() {
			return nil, fmt.Errorf("the counts of %s are not sound", s.ID)
		}
	}
	return &f, nil
}

// sound reports whether such counts are possible.
func (s *Saved) sound() bool {
	for _, a := range s.Arms {
		for _, t := range a.Tallies {
			if a.Units < 0 || !t.Sound() {
				return false
			}
		}
	}
	for _, p := range s.Series {
		if len(p.Arms) != len(s.Arms) {
			return false
		}
		for _, a := range p.Arms {
			odd := func(t Tally) bool { return !t.Sound() }
			if a.Units < 0 || slices.ContainsFunc(slices.Collect(maps.Values(a.Tallies)), odd) {
				return false
			}
		}
	}
	return s.ID != "" && len(s.Counted) <= 8*(maxCounted+maxUnits) && len(s.Counted)%8 == 0 &&
		len(s.Series) <= maxPoints && s.Step >= 0 && len(s.Arms) > 1 && !slices.ContainsFunc(s.Units,
		func(u Known) bool { return u.Arm < 0 || u.Arm >= len(s.Arms) })
}

func (tr *Tracker) load() error {
	if tr.Path == "" {
		return nil
	}
	f := &File{}
	doc, err := os.ReadFile(tr.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if f, err = parseFile(doc); err != nil {
			to, failed := atomicfile.Aside(tr.Path, tr.Now())
			if failed != nil {
				return errors.Join(err, failed)
			}
			tr.Log.Error("what experiments have counted is damaged, so they count anew",
				"event", "experiments_damaged", "detail", tr.Path+": "+err.Error(), "kept_as", to)
			f = &File{}
		}
	}
	if tr.Before != nil {
		tr.before = f
		return nil
	}
	tr.take(f)
	return nil
}

func loaded(s Saved) *trial {
	t := &trial{Saved: s, units: recent.New[unit](maxUnits, nil), counted: countedOf(&s)}
	for _, k := range s.Units {
		u, _ := t.units.Use(k.Key)
		if u.arm, u.over, u.totals = k.Arm, k.Over, k.Totals; u.totals == nil {
			u.totals = map[string]Unit{}
		}
	}
	if t.Units, t.Counted = nil, nil; t.Off == 0 { // older files lack it
		t.Off = 1
	}
	t.Arms = slices.Clone(t.Arms) // several trackers may read the same file
	for i := range t.Arms {
		if t.Arms[i].Tallies == nil {
			t.Arms[i].Tallies = map[string]Tally{}
		}
	}
	return t
}

// saved returns an independent copy, without units if the trial has ended.
func (t *trial) saved(past bool) Saved {
	s := t.Saved
	s.Arms, s.Series = slices.Clone(s.Arms), slices.Clone(s.Series)
	for i := range s.Arms {
		s.Arms[i].Tallies = maps.Clone(s.Arms[i].Tallies)
	}
	if past {
		return s
	}
	for k, u := range t.units.All() {
		s.Units = append(s.Units, Known{k, u.arm, u.over, maps.Clone(u.totals)})
	}
	s.Counted = t.counted.packed()
	return s
}

// Save writes the counts if they have changed.
func (tr *Tracker) Save() error {
	tr.mu.Lock()
	if !tr.dirty || tr.Path == "" || tr.before != nil {
		tr.mu.Unlock()
		return nil
	}
	tr.dirty = false
	f := File{Version: 1}
	for _, id := range slices.Sorted(maps.Keys(tr.trials)) {
		f.Trials = append(f.Trials, tr.trials[id].saved(false))
	}
	for _, t := range tr.past {
		f.Past = append(f.Past, t.saved(true))
	}
	tr.mu.Unlock()
	doc, err := json.Marshal(f)
	if err == nil {
		err = atomicfile.Write(tr.Path, doc, 0o600)
	}
	if err != nil {
		tr.mu.Lock()
		tr.dirty = true
		tr.mu.Unlock()
		return fmt.Errorf("save what experiments have counted: %w", err)
	}
	return nil
}

// Close saves the counts and the recorded replies. No request may be assigned any more.
func (tr *Tracker) Close() error {
	tr.inherit()
	if tr.before != nil {
		tr.Log.Warn("what experiments have counted here is lost: the process before still counts",
			"event", "experiments_not_saved")
	}
	return errors.Join(tr.Save(), tr.Store.Close())
}

// every is the interval of saving and reviewing counts.
const every = 20 * time.Second

// Run maintains the experiments of the rules in force until ctx ends: shadows read, counts are saved, and
// experiments stop. At the end it saves everything.
func (tr *Tracker) Run(ctx context.Context, rules func() *ruleset.Set) {
	tr.ended.Go(func() { tr.Shadows(ctx) })
	tick := time.NewTicker(every)
	defer tick.Stop()
	tr.readPeers()
	for broken, before := false, tr.Before; ; {
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-before:
			before = nil
		}
		tr.inherit()
		tr.publish()
		tr.readPeers()
		tr.Review(rules())
		err := tr.Save()
		if err != nil && !broken {
			tr.Log.Error("the counts of experiments are in memory only", "event", "experiments_not_saved",
				"detail", err.Error())
		}
		broken = err != nil
		if ctx.Err() != nil {
			tr.ended.Wait()
			return
		}
	}
}

// peerCounts exchanges counts between replicas. Requests never wait for it.
type peerCounts interface {
	Publish(doc []byte) error // replaces what this replica published before
	Read() ([][]byte, error)  // last counts of the other replicas
}

// publish sends new counts to the other replicas.
func (tr *Tracker) publish() {
	if tr.Peers == nil {
		return
	}
	tr.mu.Lock()
	if tr.published || tr.before != nil { // the previous process publishes for this replica
		tr.mu.Unlock()
		return
	}
	tr.published = true
	f := File{Version: 1}
	for _, id := range slices.Sorted(maps.Keys(tr.trials)) {
		s := tr.trials[id].saved(false)
		s.Counted = nil // others need to know only its units
		f.Trials = append(f.Trials, s)
	}
	tr.mu.Unlock()
	doc, err := json.Marshal(f)
	if err == nil {
		err = tr.Peers.Publish(doc)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if err != nil {
		tr.published = false
		if !tr.unshared {
			tr.Log.Warn("other replicas do not know what is counted here", "event", "experiments_not_shared",
				"detail", err.Error())
		}
	}
	tr.unshared = err != nil
}

// readPeers reads the counts of the other replicas. If that fails, their last counts stay valid.
func (tr *Tracker) readPeers() {
	var files []*File
	if tr.Peers != nil {
		docs, err := tr.Peers.Read()
		if err != nil {
			return
		}
		for _, doc := range docs {
			if f, err := parseFile(doc); err == nil { // nil for a file of another version
				files = append(files, f)
			}
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.before != nil {
		tr.look()
		files = append(files, tr.before)
	}
	arms := map[string]int{}
	for _, f := range files {
		for i := range f.Trials {
			for _, u := range f.Trials[i].Units {
				arms[f.Trials[i].Print+u.Key] = u.Arm
			}
		}
	}
	tr.peers, tr.arms = files, arms
}

// reviewed returns the sum of all replicas and more files for each experiment, by id. The lock is held only
// while local counts are copied.
func (tr *Tracker) reviewed(set *ruleset.Set, more ...*File) map[string]*Saved {
	x := Of(set)
	tr.mu.Lock()
	files, mine := append(slices.Clone(tr.peers), more...), map[string]*Saved{}
	for i := range x.List {
		e := &x.List[i]
		if t := tr.trials[e.ID]; t != nil && samePrint(t.Print, printOf(set, e)) {
			s := t.saved(len(files) == 0)
			mine[e.ID] = &s
		}
	}
	tr.mu.Unlock()
	out := map[string]*Saved{}
	for i := range x.List {
		e := &x.List[i]
		if s := together(set, e, mine[e.ID], files); s != nil {
			if mine[e.ID] != nil && len(more) == 0 {
				s.Series = mine[e.ID].Series // it already covers all replicas
			}
			out[e.ID] = s
		}
	}
	return out
}
