package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
