package decisions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// Sum is a SHA-256 hash.
type Sum [sha256.Size]byte

// String returns hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns hex digits.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hex digits.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return errors.New("a hash has 64 hex digits")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// A line is {…,"hash":"<64 digits>"}. The hash covers Prev and the bytes of the line without its last
// member, so a verifier need not know how JSON is written here.
const (
	hashOpens = `,"hash":"`
	hashEnds  = `"}`
	hashTail  = len(hashOpens) + 2*sha256.Size + len(hashEnds)
)

// chainHash returns the hash of a record from the previous hash and its line up to hashOpens.
func chainHash(prev Sum, body []byte) (s Sum) {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(body)
	h.Write([]byte("}"))
	h.Sum(s[:0])
	return s
}

// append writes the record as a line to buf and sets its hash.
func (r *Record) append(buf *bytes.Buffer) error {
	from := buf.Len()
	r.Time = r.Time.UTC().Round(0)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		buf.Truncate(from)
		return fmt.Errorf("record %d: %w", r.Seq, err)
	}
	buf.Truncate(buf.Len() - len("}\n"))
	r.Hash = chainHash(r.Prev, buf.Bytes()[from:])
	buf.WriteString(hashOpens + r.Hash.String() + hashEnds + "\n")
	return nil
}

var (
	errNoRecord = errors.New("this is not a record")
	errChanged  = errors.New("it was changed: its hash does not fit")
)

// parse reads a line without its newline. With errChanged, the record is what the changed line says.
func parse(line []byte) (r Record, err error) {
	cut := len(line) - hashTail
	if cut < 0 || json.Unmarshal(line, &r) != nil || r.Seq == 0 {
		return r, errNoRecord
	}
	sum := chainHash(r.Prev, line[:cut])
	if string(line[cut:]) == hashOpens+sum.String()+hashEnds {
		r.Hash = sum
		return r, nil
	}
	var stored struct{ Hash Sum } // what the record after it goes on from, most likely
	_ = json.Unmarshal(line, &stored)
	r.Hash = stored.Hash
	return r, errChanged
}

// chainChecker knows which record comes next in a chain.
type chainChecker struct {
	nextSeq uint64 // 0: any
	prev    Sum
	open    bool // prev is unknown: the record before is damaged
}

// next returns what is wrong with the place of a record, or "". broken is the error of parse: such a
// record has a place if the one that it says fits.
func (f *chainChecker) next(r *Record, broken error) string {
	if broken != nil && r.Seq != f.nextSeq { // what it says of its place may be what was changed
		r.Seq = f.nextSeq
		f.nextSeq, f.open = f.nextSeq+1, true
		return broken.Error()
	}
	problem := f.place(r)
	if problem == "" && broken != nil {
		problem = broken.Error()
	}
	if r.Seq >= f.nextSeq {
		f.nextSeq, f.prev, f.open = r.Seq+1, r.Hash, r.Hash == Sum{}
	}
	return problem
}

// place compares the place that a record says with its real one.
func (f *chainChecker) place(r *Record) string {
	switch {
	case f.nextSeq == 0:
		if r.Seq == 1 && r.Prev != (Sum{}) {
			return "the first record follows on something"
		}
	case r.Seq == f.nextSeq+1:
		return fmt.Sprintf("record %d is missing before it", f.nextSeq)
	case r.Seq > f.nextSeq:
		return fmt.Sprintf("records %d to %d are missing before it", f.nextSeq, r.Seq-1)
	case r.Seq == f.nextSeq-1:
		return fmt.Sprintf("record %d stands here a second time", r.Seq)
	case r.Seq < f.nextSeq:
		return fmt.Sprintf("record %d stands here, after record %d", r.Seq, f.nextSeq-1)
	case !f.open && r.Prev != f.prev:
		return fmt.Sprintf("it does not follow on record %d: one of the two was changed, or put here",
			f.nextSeq-1)
	}
	return ""
}

// Files of a log besides its segments.
const (
	headFile  = "head.json"
	lockFile  = "lock"
	turnsFile = "turns"
	fileMode  = 0o600
	dirMode   = 0o700
)

// headAdvice is what helps if the head of a log is missing.
const headAdvice = "put it back, or begin a new log in another folder"

// readHead reads the head of a log, a record up to which everything was synced; nil if there is none.
// It is in a file of its own, so that a truncated log shows.
func readHead(dir string) (*Checkpoint, error) {
	name := filepath.Join(dir, headFile)
	doc, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var h Checkpoint
	if err := json.Unmarshal(doc, &h); err != nil || h.Seq == 0 {
		return nil, fmt.Errorf("%s: this is not the head of a log; %s", name, headAdvice)
	}
	return &h, nil
}

// While one process takes over from another, both write. They hold the folder with one lock, which the
// first gave to the second, so no third one gets in. Each batch has its turn: a process first follows what
// the other has written, and then adds to the end. So there is one chain, and no record is in it twice.

// shareChange says whether another process writes to the folder too.
type shareChange struct {
	company bool
	done    chan error
}

// Share returns the lock with which another process may write to the folder too, as Config.Lock.
func (l *Log) Share() (lock *os.File, err error) {
	if l == nil {
		return nil, nil
	}
	if err := l.setShared(true); err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	return l.lock, nil
}

// Alone means that no other process writes any more.
func (l *Log) Alone() error {
	if l == nil {
		return nil
	}
	if err := l.setShared(false); err != nil {
		return fmt.Errorf("decision log: %w", err)
	}
	return nil
}

func (l *Log) setShared(company bool) error {
	c := shareChange{company, make(chan error, 1)}
	select {
	case l.shares <- c:
		return <-c.done
	case <-l.ended:
		return errClosed
	}
}

// takeLock returns the lock of the folder: the given one, or a new one.
func (c *Config) takeLock() (*os.File, error) {
	if c.Lock != nil {
		given, err := c.Lock.Stat()
		if err != nil {
			return nil, fmt.Errorf("the lock of the process before: %w", err)
		}
		if mine, err := os.Stat(filepath.Join(c.Dir, lockFile)); err == nil && os.SameFile(given, mine) {
			return c.Lock, nil
		}
		c.Lock = nil // the process before writes to another folder
	}
	return lock(c.Dir)
}

// lock makes this the only process that writes to a folder, until the file is closed. Readers hold the lock
// for a moment, so it is tried for half a second.
func lock(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err = atomicfile.Lock(f, 500*time.Millisecond); err == nil {
		return f, nil
	}
	if errors.Is(err, atomicfile.ErrHeld) {
		err = errors.New("another process writes this log")
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
}

// setShared begins or ends the time in which another process writes too.
func (w *writer) setShared(company bool) (err error) {
	if company == (w.turns != nil) {
		return nil
	}
	if !company {
		if w.turn(func() {}); w.lostTrack != nil {
			return w.lostTrack
		}
		err = w.turns.Close()
		w.turns = nil
		return err
	}
	w.moveHead()
	if err := w.settle(); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	w.turns, err = openTurns(w.cfg.Dir)
	return err
}

// turn calls do; if another process writes too, they alternate.
func (w *writer) turn(do func()) {
	if w.turns == nil {
		do()
		return
	}
	if w.lostTrack = waitFor(w.turns); w.lostTrack == nil {
		w.lostTrack = w.follow()
	}
	do()
	if err := release(w.turns); err != nil {
		_ = w.failed(err)
	}
}

// errTorn means that a segment ends with an invalid record.
var errTorn = errors.New("the other process has left something that is no record")

// follow goes to the end of what the other process has written. An incomplete record there is set
// aside, as after a crash.
func (w *writer) follow() error {
	for {
		err := w.readNew()
		if errors.Is(err, errTorn) {
			err = errors.Join(w.settle(), w.file.Close())
			w.file = nil
			return errors.Join(err, w.resume())
		}
		if err != nil {
			return err
		}
		next := segmentPath(w.cfg.Dir, w.place.Seq+1)
		if w.file != nil && w.file.Name() == next {
			return nil // it is the one that grows, and empty
		}
		f, err := os.OpenFile(next, os.O_RDWR|os.O_APPEND, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist) && w.file == nil:
			return w.resume() // the segment of the other process is unknown
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		err = w.settle() // what waits for the disk is in the segment before
		if w.file != nil {
			err = errors.Join(err, w.file.Close())
		}
		if w.file, w.size, w.born = f, 0, w.cfg.Now(); err != nil {
			return err
		}
	}
}

// readNew moves to the end of the records that were added to the current segment.
func (w *writer) readNew() (err error) {
	if w.file == nil {
		return nil
	}
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	defer func() {
		// A process that resumes removes an empty segment, and retention an old one.
		if there, gone := os.Stat(w.file.Name()); err == nil && (gone != nil || !os.SameFile(info, there)) {
			err = errors.Join(w.settle(), w.file.Close())
			w.file = nil
		}
	}()
	if info.Size() < w.size {
		return fmt.Errorf("%s: it is shorter than before: it was cut; run: decisions verify", w.file.Name())
	}
	torn := false
	err = lines(io.NewSectionReader(w.file, w.size, info.Size()-w.size), func(l line) bool {
		r, broken := l.record()
		if torn = !l.whole || broken != nil || r.Seq != w.place.Seq+1 || r.Prev != w.place.Hash; !torn {
			w.place, w.size = Checkpoint{r.Seq, r.Hash}, w.size+int64(len(l.text))+1
		}
		return !torn
	})
	if torn {
		return errTorn
	}
	return err
}
