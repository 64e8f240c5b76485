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

// tail is where a log ends.
type tail struct {
	segment *segment // the last one; nil: there is none
	size    int64    // of what is good of it
	place   Checkpoint
	born    time.Time // its first record
	head    uint64    // the record of the head
	aside   *Aside
}

// newWriter continues a log where its last process stopped.
func newWriter(cfg Config, counts *counts) (*writer, error) {
	if err := atomicfile.Sweep(cfg.Dir); err != nil {
		return nil, err
	}
	list, err := segments(cfg.Dir)
	if err != nil {
		return nil, err
	}
	head, err := readHead(cfg.Dir)
	if err != nil {
		return nil, err
	}
	t, err := findTail(cfg, list, head)
	if err != nil {
		return nil, err
	}
	w := &writer{cfg: cfg, counts: counts, place: t.place, size: t.size, born: t.born}
	full := t.segment != nil && (t.size >= cfg.SegmentBytes || cfg.Now().Sub(t.born) >= cfg.SegmentAge)
	if t.segment != nil && !full {
		if w.file, err = os.OpenFile(t.segment.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return nil, err
		}
	}
	err = w.start(t)
	if err == nil && full {
		err = w.retain()
	}
	if err != nil && w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	return w, err
}

// start writes the first record of a process, and the head behind it.
func (w *writer) start(t tail) error {
	if err := w.write(&Record{Time: w.cfg.Now(), Start: &Start{Behind: t.place.Seq - t.head, Aside: t.aside}}); err != nil {
		return err
	}
	w.moveHead()
	return w.settle()
}

// findTail looks for the last good record. What stands behind it and behind the head is
// what a crash left; anything else is damage, which is an error.
func findTail(cfg Config, list []segment, head *Checkpoint) (t tail, err error) {
	var cuts []segment // to be cut, from the last one to that of the tail
	damaged := 0
	for i := len(list) - 1; i >= 0 && t.segment == nil; i-- {
		s := list[i]
		bad, err := t.read(s, head)
		if err == nil {
			err = t.check(s, bad, head)
		}
		if err != nil {
			return t, err
		}
		if bad != 0 {
			damaged++
		}
		if damaged > 1 {
			return t, fmt.Errorf("%s:%d: two files end unfinished, which no crash does; run: decisions verify", s.path, bad)
		}
		if t.size > 0 {
			t.segment = &s
		}
		if bad != 0 || t.size == 0 {
			cuts = append(cuts, s)
		}
	}
	if err := t.against(head, cfg.Dir, len(list)); err != nil {
		return t, err
	}
	for _, s := range cuts {
		if err := t.setAside(cfg, s); err != nil {
			return t, err
		}
	}
	return t, nil
}

// against compares the end of the log with its head. Without one there is at most the
// record that is written before it.
func (t *tail) against(head *Checkpoint, dir string, files int) error {
	if head == nil {
		if t.place.Seq > 1 || files > 1 {
			return fmt.Errorf("%s: it is missing, so nobody knows where the log ended; put it back, or begin a new log in another folder", filepath.Join(dir, headFile))
		}
		return nil
	}
	t.head = head.Seq
	if t.place.Seq < head.Seq {
		return fmt.Errorf("%s: the log ends with record %d, and its head is record %d: it was cut; run: decisions verify", dir, t.place.Seq, head.Seq)
	}
	return nil
}

// read finds the last good record of a segment. bad is the first line that is none; 0:
// all are good.
func (t *tail) read(s segment, head *Checkpoint) (bad int, err error) {
	var chain follower
	t.place, t.size = Checkpoint{}, 0
	err = s.lines(func(l line) bool {
		r, broken := parse(l.text)
		foreign := head != nil && r.Seq == head.Seq && r.Hash != head.Hash
		if !l.whole || broken != nil || foreign || chain.next == 0 && r.Seq != s.first || chain.follow(&r, nil) != "" {
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

// check refuses a segment that is damaged before the head.
func (t *tail) check(s segment, bad int, head *Checkpoint) error {
	if bad == 0 || head == nil {
		return nil
	}
	next := max(t.place.Seq+1, s.first)
	if next <= head.Seq {
		return fmt.Errorf("%s:%d: record %d was changed or cut; run: decisions verify", s.path, bad, next)
	}
	return nil
}

// setAside keeps the unfinished end of a segment in a file of its own, and cuts it off.
func (t *tail) setAside(cfg Config, s segment) error {
	keep := int64(0)
	if t.segment != nil && t.segment.path == s.path {
		keep = t.size
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	rest, err := io.ReadAll(io.NewSectionReader(f, keep, s.bytes-keep))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if len(rest) > 0 {
		name := fmt.Sprintf("unfinished-%012d-%d", max(t.place.Seq+1, s.first), cfg.Now().UnixNano())
		t.aside = &Aside{File: name, Bytes: len(rest), Sum: sha256.Sum256(rest)}
		if err := atomicfile.Write(filepath.Join(cfg.Dir, name), rest, fileMode); err != nil {
			return err
		}
		cfg.Log.Warn("the end of the decision log was not finished; it was set aside", "event", "decisions_aside", "file", name, "bytes", len(rest))
	}
	if keep == 0 {
		return os.Remove(s.path)
	}
	return os.Truncate(s.path, keep)
}
