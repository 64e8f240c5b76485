package experiment

import (
	"errors"
	"io/fs"
	"slices"
)

// While one process takes over from another, the first goes on counting the requests that it still serves,
// and alone writes the file. The second counts for itself, goes by both, and adds the two when the first has
// ended.

// take goes on with what a file has. What was counted here meanwhile is added. l.mu is held, or no other
// goroutine has l yet.
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
		case !samePrint(now.Print, s.Print): // the rules have changed meanwhile
			tr.past = append(tr.past, loaded(s))
		default:
			now.join(loaded(s))
			now.Series, now.Step, now.Shares = s.Series, s.Step, s.Shares
		}
	}
	tr.past = slices.Delete(tr.past, 0, max(0, len(tr.past)-maxPast))
}

// inherit goes on with the file if the process before has ended.
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

// look reads what the process before has counted so far. l.mu is held.
func (tr *Tracker) look() {
	switch f, err := ReadCounts(tr.Path); {
	case err == nil:
		tr.before = f
	case !errors.Is(err, fs.ErrNotExist):
		tr.Log.Error("what the process before has counted at last is missing",
			"event", "experiments_not_saved", "detail", err.Error())
	}
}

// begun is a trial that was begun in the process before: what was stopped there stays so, and shares that
// have adapted hold.
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
