package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

const (
	fileMode      = 0o600
	dirMode       = 0o700
	journalEnding = ".jsonl"
)

// JournalConfig says where runs are kept, and how many. A zero number is the default.
type JournalConfig struct {
	Dir  string
	Now  func() time.Time
	Runs int           // that are kept; older ones are removed, but none that is open
	Age  time.Duration // that they are kept
}

// Journal is a folder of runs. It is safe for concurrent use.
type Journal struct {
	cfg   JournalConfig
	news  *news
	mu    sync.Mutex
	swept time.Time
}

// ErrUnknownRun is for an id that is none of a run here.
var ErrUnknownRun = errors.New("there is no such run")

// errRunHeld is why a run cannot go on here.
var errRunHeld = errors.New("another process goes on with this run")

// OpenJournal makes the folder where there is none.
func OpenJournal(cfg JournalConfig) (*Journal, error) {
	cfg.Runs, cfg.Age = cmp.Or(cfg.Runs, 2000), cmp.Or(cfg.Age, 30*24*time.Hour)
	if err := os.MkdirAll(cfg.Dir, dirMode); err != nil {
		return nil, fmt.Errorf("journal of runs: %w", err)
	}
	info, err := os.Stat(cfg.Dir)
	if err == nil && atomicfile.May(info)&0o022 != 0 {
		err = fmt.Errorf("others may write to %s; run: chmod go-w %s", cfg.Dir, cfg.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("journal of runs: %w", err)
	}
	return &Journal{cfg: cfg, news: newNews()}, nil
}

// Begin makes the file of a new run.
func (j *Journal) Begin(b BeginRecord) (*runJournal, error) {
	j.sweep()
	f, err := os.OpenFile(j.path(b.ID), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fmt.Errorf("journal of runs: %w", err)
	}
	r := j.run(b.ID, f)
	if err := errors.Join(hold(f), r.Add(JournalRecord{Begin: &b})); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// run is the run of an open file.
func (j *Journal) run(id string, f *os.File) *runJournal {
	return &runJournal{id: id, news: j.news, file: f, now: j.cfg.Now, acts: map[string]bool{}, fresh: true}
}

func (j *Journal) path(id string) string { return filepath.Join(j.cfg.Dir, id+journalEnding) }

// ids are the runs in the folder, newest first.
func (j *Journal) ids() ([]string, error) {
	entries, err := os.ReadDir(j.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("journal of runs: %w", err)
	}
	type file struct {
		id string
		at time.Time
	}
	var files []file
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), journalEnding); ok {
			if info, err := e.Info(); err == nil {
				files = append(files, file{id, info.ModTime()})
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.id, b.id)) })
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.id
	}
	return out, nil
}

// sweepEvery is how often old runs are looked for.
const sweepEvery = time.Hour

// sweep removes runs that are too old, or too many. Those that go on are held, and stay.
func (j *Journal) sweep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.cfg.Now()
	if now.Sub(j.swept) < sweepEvery {
		return
	}
	j.swept = now
	ids, err := j.ids()
	if err != nil {
		return // the run that begins tells it
	}
	for i, id := range ids {
		info, err := os.Stat(j.path(id))
		if err != nil || i < j.cfg.Runs && now.Sub(info.ModTime()) < j.cfg.Age {
			continue
		}
		if f, err := os.OpenFile(j.path(id), os.O_WRONLY, 0); err == nil {
			if hold(f) == nil {
				_ = os.Remove(j.path(id)) // the next sweep tries again
			}
			_ = f.Close()
		}
	}
}

// runJournal is the file of a run that goes on. It is safe for concurrent use.
type runJournal struct {
	id    string
	news  *news
	mu    sync.Mutex
	file  *os.File
	now   func() time.Time
	acts  map[string]bool // the ids of calls that may have changed something
	fresh bool            // the disk may not have the name of the file yet
	err   error           // of the first record that could not be written: none follows it
}

// Add writes a record. A call that changes something, its result and the end of a run with such
// a call are with the disk when it returns. After an error nothing more is written, and nothing
// more must run.
func (r *runJournal) Add(rec JournalRecord) error {
	rec.Time = r.now().UTC()
	line, err := rec.line()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err == nil {
		_, err = r.file.Write(line)
	}
	if err == nil && r.matters(&rec) {
		err = r.sync()
	}
	if err != nil {
		r.err = fmt.Errorf("journal of runs: %w", err)
	}
	r.news.changed(r.id, true)
	return r.err
}

// matters reports whether something could be done twice if the machine lost a record.
func (r *runJournal) matters(rec *JournalRecord) bool {
	if rec.Call != nil && rec.Call.Changes {
		r.acts[rec.Call.ID] = true
	}
	return rec.Resume != nil || rec.Call != nil && rec.Call.Changes || rec.Result != nil &&
		r.acts[rec.Result.ID] || rec.End != nil && len(r.acts) > 0
}

// sync waits until the disk has the file, and its name.
func (r *runJournal) sync() error {
	if err := r.file.Sync(); err != nil || !r.fresh {
		return err
	}
	r.fresh = false
	return atomicfile.SyncFolder(filepath.Dir(r.file.Name()))
}

// Close closes the file.
func (r *runJournal) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.changed(r.id, false)
	return r.file.Close()
}

// missing is ErrUnknown for a file that is not there.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrUnknownRun
	}
	return err
}
