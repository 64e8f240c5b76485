package state

import (
	"regexp"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

const (
	maxWrapped = 4096
	// elsewhere is how long it is believed that a gateway runs commands where they cannot be
	// confined. Then one call finds out again.
	elsewhere = 24 * time.Hour
)

// Fate is what the result of a call that has left confined shows.
type Fate uint8

// The fates of a call.
const (
	unknown Fate = iota // it did not leave confined, or its result was seen before
	Ran
	Held   // it failed at what the kernel does not let it do
	NotRun // the program that confines is not where the gateway runs commands
)

// Wrapped finds out whether commands that leave confined really run so: a gateway that runs
// them in a sandbox or on another machine has no program that confines there, and nothing
// else shows that. It is safe for concurrent use.
type Wrapped struct {
	mu    sync.Mutex
	asked *recent.Map[string]    // by call id: who asked
	away  *recent.Map[time.Time] // by who asks: since when
}

// NewWrapped knows of no call yet.
func NewWrapped() *Wrapped {
	return &Wrapped{asked: recent.New[string](maxWrapped, nil), away: recent.New[time.Time](maxAskers, nil)}
}

// Add notes that a call of by has left confined.
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

// Result looks at the result of a call, and says what became of it. If it did not run, then
// those of the same asker are not confined for a while.
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

// Here reports whether commands of by can be confined, as far as is known.
func (w *Wrapped) Here(by string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := w.away.Get(by)
	return since == nil || now.Sub(*since) >= elsewhere
}

// How results look of commands that were not run, because the program that confines is not
// there or has no ticket there; and of such that failed at the kernel.
var (
	missing = regexp.MustCompile(`(?s)gpt-oss-executor['"]?: (?:[^\n]*: )?(?:not found|command not found|No such file or directory|Permission denied|cannot execute).*(?:code 12[67]\)|Command not found|Command not executable \(permission denied\))\s*$` +
		`|gpt-oss-executor confine: [^\n]*(?:no ticket|cannot confine).*code 125\)\s*$`)
	held = regexp.MustCompile(`(?is)(?:permission denied|operation not permitted|eacces|eperm|read-only file system|network is unreachable|temporary failure in name resolution).*code \d+\)\s*$`)
)
