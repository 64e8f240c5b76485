package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Length is how many sets are remembered.
const Length = 20

// Entry is a set that came into force.
type Entry struct {
	Version string           `json:"version"`
	At      time.Time        `json:"at"`
	By      string           `json:"by"` // what brought it: start, watch, put, rollback, promote
	Who     string           `json:"who,omitempty"`
	Counts  ruleset.Counts   `json:"counts"`
	Taken   []rulefile.Taken `json:"taken_away,omitempty"`
	Files   rulefile.Files   `json:"files"` // all, with those of the program and of the locked folder
}

// History holds the latest sets, in memory and, with a folder, on disk. It is safe for concurrent use.
type History struct {
	mu      sync.Mutex
	dir     string // empty: in memory only
	number  int    // of the newest file
	entries []Entry
}

// OpenHistory reads the history in a folder, which it creates if needed; "": none. The history is always
// usable: the error lists what could not be read.
func OpenHistory(dir string) (*History, error) {
	h := &History{dir: dir}
	if dir == "" {
		return h, nil
	}
	return h, stateError(h.read())
}

// Add remembers a set as the newest, unless it is already. After an error it is remembered in memory only.
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
	return stateError(h.write(e))
}

// stateError says what an error is about.
func stateError(err error) error {
	if err != nil {
		err = fmt.Errorf("state: %w", err)
	}
	return err
}

// All returns the entries, newest first.
func (h *History) All() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.entries)
	slices.Reverse(out)
	return out
}

// Find returns the newest entry of a version.
func (h *History) Find(version string) (Entry, bool) {
	return h.newest(func(e Entry) bool { return e.Version == version })
}

// Before returns the newest entry of another version.
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

// Modes of what is written. Rules are no secret, but who may write here decides what runs after a bad start,
// and no other user needs to read.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// fileName matches the file of an entry: its number and version.
var fileName = regexp.MustCompile(`^(\d{8})-[0-9a-f]{12}\.json$`)

// read reads the entries of the folder, except for damaged ones.
func (h *History) read() error {
	if err := os.MkdirAll(h.dir, folderMode); err != nil {
		return err
	}
	info, err := os.Stat(h.dir)
	if err != nil {
		return err
	}
	if atomicfile.May(info)&0o022 != 0 {
		dir := h.dir
		h.dir = "" // what others may change is not run, and nothing is left there
		return fmt.Errorf("others may write to %s, so it is not used; run: chmod go-w %s", dir, dir)
	}
	names, err := h.names()
	if err != nil {
		return err
	}
	wrong := atomicfile.Sweep(h.dir)
	for _, name := range names {
		h.number = number(name)
		e, err := readEntry(filepath.Join(h.dir, name))
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s is left out: %w", name, err))
			continue
		}
		h.entries = append(h.entries, e)
	}
	h.entries = slices.Delete(h.entries, 0, max(0, len(h.entries)-Length))
	return wrong
}

// names returns the names of the entries, oldest first.
func (h *History) names() (names []string, err error) {
	list, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if fileName.MatchString(f.Name()) {
			names = append(names, f.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, nil
}

func number(name string) int {
	n, _ := strconv.Atoi(fileName.FindStringSubmatch(name)[1]) // eight digits
	return n
}

// readEntry reads a file, whose texts must match its name and version.
func readEntry(path string) (e Entry, err error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(doc, &e); err != nil {
		return e, err
	}
	if v := e.Files.Version(); v != e.Version || !strings.HasSuffix(path, v+".json") {
		return e, fmt.Errorf("its files are %s and not %s", v, e.Version)
	}
	return e, nil
}

// write writes an entry completely or not at all, and removes the oldest.
func (h *History) write(e Entry) error {
	doc, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%08d-%s.json", h.number+1, e.Version)
	if err := os.MkdirAll(h.dir, folderMode); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(h.dir, name), doc, fileMode); err != nil {
		return err
	}
	h.number++
	names, err := h.names()
	if err != nil {
		return err
	}
	for _, old := range names[:max(0, len(names)-Length)] {
		if err := os.Remove(filepath.Join(h.dir, old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
