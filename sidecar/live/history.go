package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Length is how many sets are remembered.
const Length = 20

// Entry is one set that came into force.
type Entry struct {
	Version string           `json:"version"`
	At      time.Time        `json:"at"`
	By      string           `json:"by"` // what brought it: start, watch, put, rollback, promote
	Who     string           `json:"who,omitempty"`
	Counts  ruleset.Counts   `json:"counts"`
	Taken   []rulefile.Taken `json:"taken_away,omitempty"`
	Files   rulefile.Files   `json:"files"` // all of them, also those of the program and of the locked folder
}

// History is the last sets, in memory and, where it has a folder, on disk. Safe
// for concurrent use.
type History struct {
	mu      sync.Mutex
	dir     string // empty: in memory only
	number  int    // of the newest file in dir
	entries []Entry
}

// Open reads what was remembered in a folder, and makes the folder where there
// is none; "" stands for none. The history can always be used: the error lists
// what could not be read.
func OpenHistory(dir string) (*History, error) {
	h := &History{dir: dir}
	if dir == "" {
		return h, nil
	}
	return h, ofState(h.read())
}

// Add remembers a set as the newest. Is it the newest already, nothing is done.
// An error means that it is remembered in memory, and not on disk.
func (h *History) Add(e Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.entries); n > 0 && h.entries[n-1].Version == e.Version {
		return nil
	}
	h.entries = append(h.entries, e)
	h.entries = slices.Delete(h.entries, 0, max(0, len(h.entries)-Length))
	if h.dir == "" {
		return nil
	}
	return ofState(h.write(e))
}

// ofState says what an error is about.
func ofState(err error) error {
	if err != nil {
		err = fmt.Errorf("state: %w", err)
	}
	return err
}

// All gives the sets, newest first.
func (h *History) All() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.entries)
	slices.Reverse(out)
	return out
}

// Find gives the newest entry of a version.
func (h *History) Find(version string) (Entry, bool) {
	return h.newest(func(e Entry) bool { return e.Version == version })
}

// Before gives the newest entry of any other version.
func (h *History) Before(version string) (Entry, bool) {
	return h.newest(func(e Entry) bool { return e.Version != version })
}

func (h *History) newest(want func(Entry) bool) (Entry, bool) {
	all := h.All()
	i := slices.IndexFunc(all, want)
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
