package lab

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
func (l *Lab) take(f *File) {
	var past []*trial
	for _, s := range f.Past {
		past = append(past, loaded(s))
	}
	l.past = append(past, l.past...)
	for _, s := range f.Trials {
		switch now := l.trials[s.ID]; {
		case now == nil:
			l.trials[s.ID] = loaded(s)
		case !samePrint(now.Print, s.Print): // the rules have changed meanwhile
			l.past = append(l.past, loaded(s))
		default:
			now.join(loaded(s))
			now.Series, now.Step, now.Shares = s.Series, s.Step, s.Shares
		}
	}
	l.past = slices.Delete(l.past, 0, max(0, len(l.past)-maxPast))
}

// inherit goes on with the file if the process before has ended.
func (l *Lab) inherit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.before == nil {
		return
	}
	select {
	case <-l.Before:
	default:
		return
	}
	l.look()
	l.take(l.before)
	l.before, l.peers, l.arms = nil, nil, nil
	l.dirty, l.published = true, false
}

// look reads what the process before has counted so far. l.mu is held.
func (l *Lab) look() {
	switch f, err := ReadFile(l.Path); {
	case err == nil:
		l.before = f
	case !errors.Is(err, fs.ErrNotExist):
		l.Log.Error("what the process before has counted at last is missing",
			"event", "experiments_not_saved", "detail", err.Error())
	}
}

// begun is a trial that was begun in the process before: what was stopped there stays so, and shares that
// have adapted hold.
func (l *Lab) begun(t *trial) {
	if l.before == nil {
		return
	}
	for _, s := range l.before.Trials {
		if s.ID == t.ID && samePrint(s.Print, t.Print) {
			t.Began, t.Stopped, t.By, t.Ended, t.Shares = s.Began, s.Stopped, s.By, s.Ended, s.Shares
		}
	}
}
