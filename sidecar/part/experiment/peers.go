package experiment

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
