package run

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

const (
	fileMode      = 0o600
	dirMode       = 0o700
	journalEnding = ".jsonl"
)

// JournalConfig configures a journal. Zero numbers mean the defaults.
type JournalConfig struct {
	Dir  string
	Now  func() time.Time
	Runs int           // how many are kept; active runs are never removed
	Age  time.Duration // how long they are kept
}

// Journal is a folder of runs. It is safe for concurrent use.
type Journal struct {
	cfg     JournalConfig
	changes *runChanges
	mu      sync.Mutex
	swept   time.Time
}

// ErrUnknownRun means that the journal has no run of this id.
var ErrUnknownRun = errors.New("there is no such run")

var errRunHeld = errors.New("another process goes on with this run")

// OpenJournal opens the folder and makes it if it does not exist.
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
	return &Journal{cfg: cfg, changes: newRunChanges()}, nil
}

// Begin makes the file of a new run.
func (j *Journal) Begin(b BeginRecord) (*runJournal, error) {
	j.sweep()
	f, err := os.OpenFile(j.path(b.ID), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, fmt.Errorf("journal of runs: %w", err)
	}
	r := j.run(b.ID, f)
	if err := errors.Join(lockFile(f), r.Add(JournalRecord{Begin: &b})); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (j *Journal) run(id string, f *os.File) *runJournal {
	return &runJournal{id: id, changes: j.changes, file: f, now: j.cfg.Now, changing: map[string]bool{},
		unsynced: true}
}

func (j *Journal) path(id string) string { return filepath.Join(j.cfg.Dir, id+journalEnding) }

// ids returns the runs of the folder, newest first.
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

const sweepEvery = time.Hour

// sweep removes runs that are too old or too many. Active runs are locked and stay.
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
			if lockFile(f) == nil {
				_ = os.Remove(j.path(id)) // the next sweep tries again
			}
			_ = f.Close()
		}
	}
}

// runJournal is the file of an active run. It is safe for concurrent use.
type runJournal struct {
	id       string
	changes  *runChanges
	mu       sync.Mutex
	file     *os.File
	now      func() time.Time
	changing map[string]bool // ids of calls that may have changed something
	unsynced bool            // the folder was not synced since the file was made
	err      error           // the first failed write: no record follows it
}

// Add writes a record. Records of calls that change something, of their results and of the end of such
// a run are synced to disk. After an error nothing more is written, and nothing more must run.
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
	if err == nil && r.mustSync(&rec) {
		err = r.sync()
	}
	if err != nil {
		r.err = fmt.Errorf("journal of runs: %w", err)
	}
	r.changes.changed(r.id, true)
	return r.err
}

// mustSync reports whether losing the record could make something happen twice.
func (r *runJournal) mustSync(rec *JournalRecord) bool {
	if rec.Call != nil && rec.Call.Changes {
		r.changing[rec.Call.ID] = true
	}
	return rec.Resume != nil || rec.Call != nil && rec.Call.Changes || rec.Result != nil &&
		r.changing[rec.Result.ID] || rec.End != nil && len(r.changing) > 0
}

// sync waits until the file and its name are on disk.
func (r *runJournal) sync() error {
	if err := r.file.Sync(); err != nil || !r.unsynced {
		return err
	}
	r.unsynced = false
	return atomicfile.SyncFolder(filepath.Dir(r.file.Name()))
}

// Close closes the file.
func (r *runJournal) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes.changed(r.id, false)
	return r.file.Close()
}

// unknownRun turns a missing file into ErrUnknownRun.
func unknownRun(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrUnknownRun
	}
	return err
}

// runChanges notes which runs are active in this process, and when each last changed.
type runChanges struct {
	mu   sync.Mutex
	rev  uint64
	revs *recent.Map[uint64]
	open map[string]bool
}

const maxRevs = 256

func newRunChanges() *runChanges {
	return &runChanges{revs: recent.New[uint64](maxRevs, nil), open: map[string]bool{}}
}

func (n *runChanges) changed(id string, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rev++
	kept, _ := n.revs.Use(id)
	*kept = n.rev
	if n.open[id] = open; !open {
		delete(n.open, id)
	}
}

// Rev returns a number that changes whenever the active run of this id does; "": any active run.
func (j *Journal) Rev(id string) uint64 {
	j.changes.mu.Lock()
	defer j.changes.mu.Unlock()
	if id == "" {
		return j.changes.rev
	}
	if rev := j.changes.revs.Get(id); rev != nil {
		return *rev
	}
	return 0
}

// GoesOn reports whether a run is active in this process. A run without an end that is active in no
// process was broken off.
func (j *Journal) GoesOn(id string) bool {
	j.changes.mu.Lock()
	defer j.changes.mu.Unlock()
	return j.changes.open[id]
}

// JournalRecord is one line of a run's file. Time and exactly one other member are set.
type JournalRecord struct {
	Time   time.Time     `json:"time"`
	Begin  *BeginRecord  `json:"begin,omitempty"`  // always first
	Turn   *TurnRecord   `json:"turn,omitempty"`   // a reply of the model
	Call   *CallRecord   `json:"call,omitempty"`   // a call that is about to run
	Result *ResultRecord `json:"result,omitempty"` // of a call that ran or was refused
	Resume *ResumeRecord `json:"resume,omitempty"` // another process goes on
	End    *EndRecord    `json:"end,omitempty"`    // always last
}

// BeginRecord is what a run was asked for.
type BeginRecord struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"` // id that the caller asked for
	Session string          `json:"session,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Channel string          `json:"channel,omitempty"`
	Rules   string          `json:"rules"`   // version
	Sum     string          `json:"sum"`     // hash of caller and request
	Request json.RawMessage `json:"request"` // as the caller sent it, secrets masked
}

// TurnRecord is a reply of the model.
type TurnRecord struct {
	N         int             `json:"n"`
	Content   string          `json:"content,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	Calls     []RequestedCall `json:"calls,omitempty"`
	Prompt    int             `json:"prompt_tokens,omitempty"`
	Answer    int             `json:"completion_tokens,omitempty"`
	Squeezed  bool            `json:"squeezed,omitempty"` // the request was too long and was shortened
	Finish    string          `json:"finish,omitempty"`   // finish_reason
	Done      bool            `json:"done,omitempty"`     // it says in its own form that the work is done
	Over      bool            `json:"over,omitempty"`     // it ends the run, and the work is not finished
	Why       string          `json:"why,omitempty"`      // why, if the reply does not say it
}

// RequestedCall is a call of a reply. CallRecord and ResultRecord have the same id.
type RequestedCall struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// CallRecord is a call that was allowed. From here on it may have taken effect.
type CallRecord struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	Does    string `json:"does"`    // description for people
	Changes bool   `json:"changes"` // its tool does more than read
}

// ResultRecord is the result of a call.
type ResultRecord struct {
	ID      string `json:"id"`
	Text    string `json:"text"` // as the model reads it
	Failed  bool   `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty"` // it did not run
	Doubt   bool   `json:"doubt,omitempty"`   // it may have taken effect
	Took    int64  `json:"took_ms"`
}

// ResumeRecord says that a broken run goes on.
type ResumeRecord struct {
	Rules string   `json:"rules"`
	Doubt []string `json:"doubt,omitempty"` // ids of the calls that were about to run
	By    string   `json:"by,omitempty"`    // the person who wanted it
}

// The states of a run.
const (
	Answered   = "answered"   // the model has answered
	Unfinished = "unfinished" // the rules have ended the run
	Failed     = "failed"     // the caller got an error
	Departed   = "left"       // the caller left
	running    = "open"       // active, or broken off
)

// EndRecord is how a run ended.
type EndRecord struct {
	Status string `json:"status"`
	Finish string `json:"finish,omitempty"` // finish_reason of the answer
	Text   string `json:"text,omitempty"`   // the answer, or the error
}

// line returns the record as JSON on one line, secrets masked.
func (r *JournalRecord) line() ([]byte, error) {
	masked, err := r.masked()
	if err != nil {
		return nil, fmt.Errorf("mask a record: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(masked); err != nil {
		return nil, fmt.Errorf("write a record: %w", err)
	}
	return out.Bytes(), nil
}

// masked returns a copy without secrets in what the caller, the model and tools wrote.
func (r JournalRecord) masked() (JournalRecord, error) {
	var err error
	if r.Begin != nil {
		b := *r.Begin
		maskAll(&b.Model, &b.Session, &b.Agent, &b.Channel)
		b.Request, _, err = secrets.MaskJSON(b.Request)
		r.Begin = &b
	}
	if r.Turn != nil {
		t := *r.Turn
		maskAll(&t.Content, &t.Reasoning, &t.Why)
		t.Calls = slices.Clone(t.Calls)
		for i := range t.Calls {
			maskAll(&t.Calls[i].Tool, &t.Calls[i].Arguments)
		}
		r.Turn = &t
	}
	if r.Call != nil {
		c := *r.Call
		maskAll(&c.Tool, &c.Does)
		r.Call = &c
	}
	if r.Result != nil {
		o := *r.Result
		maskAll(&o.Text)
		r.Result = &o
	}
	if r.End != nil {
		e := *r.End
		maskAll(&e.Text)
		r.End = &e
	}
	return r, err
}

func maskAll(texts ...*string) {
	for _, text := range texts {
		*text, _ = secrets.Mask(*text)
	}
}

// lockFile keeps other processes from writing to a run until the file is closed.
func lockFile(f *os.File) error {
	err := atomicfile.Lock(f, 0)
	if errors.Is(err, atomicfile.ErrHeld) {
		return fmt.Errorf("%s: %w", f.Name(), errRunHeld)
	}
	return err
}
