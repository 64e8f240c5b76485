package decisions

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// tail is the end of a log.
type tail struct {
	segment *segment // for the next record; nil: a new one
	size    int64    // of its valid records
	place   Checkpoint
	born    time.Time // time of the segment's first record
	head    uint64    // number of the head's record
	aside   *Aside
}

// newWriter continues a log where its last process stopped, or joins the process that shares its lock.
func newWriter(cfg Config, counts *counts) (w *writer, err error) {
	w = &writer{cfg: cfg, counts: counts}
	if cfg.Lock != nil {
		if w.turns, err = openTurns(cfg.Dir); err != nil {
			return nil, err
		}
		if err := waitFor(w.turns); err != nil {
			return nil, errors.Join(err, w.turns.Close())
		}
		defer func() { err = errors.Join(err, release(w.turns)) }()
	}
	if err := w.resume(); err != nil && w.turns != nil {
		return nil, errors.Join(err, w.turns.Close())
	} else if err != nil {
		return nil, err
	}
	return w, nil
}

// resume continues at the end of the log.
func (w *writer) resume() error {
	if err := atomicfile.Sweep(w.cfg.Dir); err != nil {
		return err
	}
	list, err := segments(w.cfg.Dir)
	if err != nil {
		return err
	}
	head, err := readHead(w.cfg.Dir)
	if err != nil {
		return err
	}
	t, err := findTail(w.cfg, list, head)
	if err != nil {
		return err
	}
	w.place, w.size, w.born = t.place, t.size, t.born
	full := t.segment != nil && (t.size >= w.cfg.SegmentBytes || w.cfg.Now().Sub(t.born) >= w.cfg.SegmentAge)
	if t.segment != nil && !full {
		if w.file, err = os.OpenFile(t.segment.path, os.O_RDWR|os.O_APPEND, 0); err != nil {
			return err
		}
	}
	err = w.start(t)
	if err == nil && full {
		err = w.retain()
	}
	if err != nil && w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// start writes the first record of a process, and the head.
func (w *writer) start(t tail) error {
	if err := w.write(&Record{Time: w.cfg.Now(), Start: &Start{AfterHead: t.place.Seq - t.head,
		Aside: t.aside}}); err != nil {
		return err
	}
	w.moveHead()
	return w.settle()
}

// findTail finds the last valid record. What follows it, and the head, was left by a crash and is set
// aside. Any other damage is an error: a segment is complete before the next one begins, so a crash
// damages only the last one.
func findTail(cfg Config, list []segment, head *Checkpoint) (t tail, err error) {
	if head == nil && len(list) > 1 {
		return t, noHead(cfg.Dir)
	}
	if head != nil {
		t.head = head.Seq
	}
	if len(list) == 0 {
		return t, t.reaches(cfg.Dir, 0)
	}
	last := list[len(list)-1]
	bad, err := t.read(last, head)
	if err != nil {
		return t, err
	}
	if t.size > 0 {
		t.segment = &last
	} else if len(list) > 1 {
		before := tail{head: t.head}
		if err := before.readComplete(list[len(list)-2], head); err != nil {
			return t, err
		}
		t.place = before.place
	}
	if head == nil && t.place.Seq > 1 { // only the first record is written before there is one
		return t, noHead(cfg.Dir)
	}
	if err := t.reaches(last.path, bad); err != nil {
		return t, err
	}
	if bad != 0 || t.size == 0 {
		err = t.setAside(cfg, last)
	}
	return t, err
}

func noHead(dir string) error {
	return fmt.Errorf("%s is missing, so it is unknown where the log ended; %s", filepath.Join(dir, headFile),
		headAdvice)
}

// reaches returns an error if a log ends before its head. Line is the first invalid one of the file
// place; 0: there is none.
func (t *tail) reaches(place string, line int) error {
	switch {
	case t.place.Seq >= t.head:
		return nil
	case line == 0:
		return fmt.Errorf("%s: the log ends with record %d, and its head is record %d: it was cut; run: decisions verify", place, t.place.Seq, t.head)
	}
	return fmt.Errorf("%s:%d: record %d was changed or cut; run: decisions verify", place, line,
		t.place.Seq+1)
}

// read finds the last valid record of a segment. bad is the first invalid line; 0: there is none.
func (t *tail) read(s segment, head *Checkpoint) (bad int, err error) {
	var chain chainChecker
	err = s.lines(func(l line) bool {
		r, broken := l.record()
		foreign := head != nil && r.Seq == head.Seq && r.Hash != head.Hash
		if !l.whole || broken != nil || foreign || chain.nextSeq == 0 && r.Seq != s.first ||
			chain.next(&r, nil) != "" {
			bad = l.n
			return false
		}
		if r.Seq == s.first {
			t.born = r.Time
		}
		t.place, t.size = Checkpoint{r.Seq, r.Hash}, l.at+int64(len(l.text))+1
		return true
	})
	return bad, err
}

// readComplete reads a segment that no crash can have damaged.
func (t *tail) readComplete(s segment, head *Checkpoint) error {
	bad, err := t.read(s, head)
	if err == nil && bad != 0 {
		err = fmt.Errorf("%s:%d: this is not a record, and not the end of the log; run: decisions verify",
			s.path, bad)
	}
	return err
}

// setAside moves the incomplete end of a segment to a file of its own.
func (t *tail) setAside(cfg Config, s segment) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	rest, err := io.ReadAll(io.NewSectionReader(f, t.size, s.bytes-t.size))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if len(rest) > 0 {
		name := fmt.Sprintf("unfinished-%012d-%d", max(t.place.Seq+1, s.first), cfg.Now().UnixNano())
		t.aside = &Aside{File: name, Bytes: len(rest), Sum: sha256.Sum256(rest)}
		if err := atomicfile.Write(filepath.Join(cfg.Dir, name), rest, fileMode); err != nil {
			return err
		}
		cfg.Log.Warn("the end of the decision log was not finished; it was set aside",
			"event", "decisions_aside", "file", name, "bytes", len(rest))
	}
	if t.size == 0 {
		return os.Remove(s.path)
	}
	return os.Truncate(s.path, t.size)
}
