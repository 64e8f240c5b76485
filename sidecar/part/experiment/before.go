package experiment

import (
	"errors"
	"io/fs"
	"slices"
)

// While one process takes over from another, the first still counts its open requests and alone writes the
// file. The second counts separately, adds the first one's file for decisions, and merges both when the
// first has ended.

// take continues from a file, and keeps what was counted meanwhile. l.mu is held, or no other goroutine has
// l yet.
func (tr *Tracker) take(f *File) {
	var past []*trial
	for _, s := range f.Past {
		past = append(past, loaded(s))
	}
	tr.past = append(past, tr.past...)
	for _, s := range f.Trials {
		switch now := tr.trials[s.ID]; {
		case now == nil:
			tr.trials[s.ID] = loaded(s)
		case !samePrint(now.Print, s.Print): // the rules have changed since
			tr.past = append(tr.past, loaded(s))
		default:
			now.join(loaded(s))
			now.Series, now.Step, now.Shares = s.Series, s.Step, s.Shares
		}
	}
	tr.past = slices.Delete(tr.past, 0, max(0, len(tr.past)-maxPast))
}

// inherit takes over the file once the previous process has ended.
func (tr *Tracker) inherit() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.before == nil {
		return
	}
	select {
	case <-tr.Before:
	default:
		return
	}
	tr.look()
	tr.take(tr.before)
	tr.before, tr.peers, tr.arms = nil, nil, nil
	tr.dirty, tr.published = true, false
}

// look reads the counts of the previous process. l.mu is held.
func (tr *Tracker) look() {
	switch f, err := ReadCounts(tr.Path); {
	case err == nil:
		tr.before = f
	case !errors.Is(err, fs.ErrNotExist):
		tr.Log.Error("what the process before has counted at last is missing",
			"event", "experiments_not_saved", "detail", err.Error())
	}
}

// begun continues a trial of the previous process, with its stop and its adapted shares.
func (tr *Tracker) begun(t *trial) {
	if tr.before == nil {
		return
	}
	for _, s := range tr.before.Trials {
		if s.ID == t.ID && samePrint(s.Print, t.Print) {
			t.Began, t.Stopped, t.By, t.Ended, t.Shares = s.Began, s.Stopped, s.By, s.Ended, s.Shares
		}
	}
}
