package lab

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// PeerCounts keeps what each replica has counted. Nothing that a request waits for asks it.
type PeerCounts interface {
	Publish(doc []byte) error // replaces what this replica said before
	Read() ([][]byte, error)  // what the others said last
}

// tell tells the other replicas what is counted here, if it is anything new.
func (l *Lab) tell() {
	if l.Peers == nil {
		return
	}
	l.mu.Lock()
	if l.published || l.before != nil { // the process before tells of this replica
		l.mu.Unlock()
		return
	}
	l.published = true
	f := File{Version: 1}
	for _, id := range slices.Sorted(maps.Keys(l.trials)) {
		s := l.trials[id].saved(false)
		s.Counted = nil // others cannot know of more than of its units
		f.Trials = append(f.Trials, s)
	}
	l.mu.Unlock()
	doc, err := json.Marshal(f)
	if err == nil {
		err = l.Peers.Publish(doc)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.published = false
		if !l.silent {
			l.Log.Warn("other replicas do not know what is counted here", "event", "experiments_not_shared",
				"detail", err.Error())
		}
	}
	l.silent = err != nil
}

// hear takes over what the other replicas have counted. Where that cannot be asked, what they said
// last holds on.
func (l *Lab) hear() {
	var files []*File
	if l.Peers != nil {
		docs, err := l.Peers.Read()
		if err != nil {
			return
		}
		for _, doc := range docs {
			if f, err := parseFile(doc); err == nil { // or it is of another version
				files = append(files, f)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.before != nil {
		l.look()
		files = append(files, l.before)
	}
	arms := map[string]int{}
	for _, f := range files {
		for i := range f.Trials {
			for _, u := range f.Trials[i].Units {
				arms[f.Trials[i].Print+u.Key] = u.Arm
			}
		}
	}
	l.peers, l.arms = files, arms
}

// reviewed is what all replicas, and more files, have counted of each experiment, by its id. Others
// wait only while what is counted here is copied.
func (l *Lab) reviewed(set *ruleset.Set, more ...*File) map[string]*Saved {
	l.mu.Lock()
	files, mine := append(slices.Clone(l.peers), more...), map[string]*Saved{}
	for i := range set.Experiments.List {
		e := &set.Experiments.List[i]
		if t := l.trials[e.ID]; t != nil && samePrint(t.Print, printOf(set, e)) {
			s := t.saved(len(files) == 0)
			mine[e.ID] = &s
		}
	}
	l.mu.Unlock()
	out := map[string]*Saved{}
	for i := range set.Experiments.List {
		e := &set.Experiments.List[i]
		if s := together(set, e, mine[e.ID], files); s != nil {
			if mine[e.ID] != nil && len(more) == 0 {
				s.Series = mine[e.ID].Series // of all replicas, as of each moment
			}
			out[e.ID] = s
		}
	}
	return out
}
