package state

import (
	"regexp"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

const (
	maxWrapped = 4096
	// unconfinedTime is how long a gateway is believed to run commands where they cannot be confined.
	// Then one call tests it again.
	unconfinedTime = 24 * time.Hour
)

// Fate is what the result of a confined call shows.
type Fate uint8

const (
	unknown Fate = iota // it did not run confined, or its result was seen before
	Ran
	Held   // the kernel refused something that it did
	NotRun // the program that confines is not where the gateway runs commands
)

// Wrapped finds out whether confined commands really run so: a gateway that runs them in a sandbox or
// on another machine has no program there that confines, and nothing else shows that. It is safe for
// concurrent use.
type Wrapped struct {
	mu    sync.Mutex
	asked *recent.Map[string]    // asker by call id
	away  *recent.Map[time.Time] // since when, by asker
}

// NewWrapped returns Wrapped without calls.
func NewWrapped() *Wrapped {
	return &Wrapped{asked: recent.New[string](maxWrapped, nil), away: recent.New[time.Time](maxAskers, nil)}
}

// Add notes that a confined call of by has left.
func (w *Wrapped) Add(id, by string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call, _ := w.asked.Use(id)
	*call = by
}

// Knows reports whether the result of a call is still to come.
func (w *Wrapped) Knows(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked.Get(id) != nil
}

// Result returns what the result of a call shows. If the call did not run, calls of the same asker are
// not confined for a while.
func (w *Wrapped) Result(id, text string, now time.Time) (by string, fate Fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := w.asked.Get(id)
	if call == nil {
		return "", unknown
	}
	by = *call
	w.asked.Drop(id)
	switch {
	case missing.MatchString(text):
		since, _ := w.away.Use(by)
		*since = now
		return by, NotRun
	case held.MatchString(text):
		return by, Held
	}
	return by, Ran
}

// CanConfine reports whether commands of by can be confined, as far as known.
func (w *Wrapped) CanConfine(by string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := w.away.Get(by)
	return since == nil || now.Sub(*since) >= unconfinedTime
}

// Results of commands that did not run, because the program that confines or its ticket is missing
// there, and of commands that the kernel stopped.
var (
	missing = regexp.MustCompile(`(?s)gpt-oss-executor['"]?: (?:[^\n]*: )?(?:not found|command not found|No such file or directory|Permission denied|cannot execute).*(?:code 12[67]\)|Command not found|Command not executable \(permission denied\))\s*$` +
		`|gpt-oss-executor confine: [^\n]*(?:no ticket|cannot confine).*code 125\)\s*$`)
	held = regexp.MustCompile(`(?is)(?:permission denied|operation not permitted|eacces|eperm|read-only file system|network is unreachable|temporary failure in name resolution).*code \d+\)\s*$`)
)
