package decisions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// sync brings what was written to the disk, beside the writing.
func (w *writer) sync() {
	if w.file == nil {
		return
	}
	done := make(chan error, 1)
	w.flush, w.dirty, w.at = done, false, w.cfg.Now()
	w.waiting, w.inFlush = nil, w.waiting
	file, dir, head := w.file, w.cfg.Dir, w.head
	w.head = nil
	go func() { done <- toDisk(file, dir, head) }()
	if head != nil && w.turns != nil {
		w.flushed(<-done) // a head is written within the turn: the other process may write the next one
	}
}

// toDisk syncs the file first, so that a head never names a record that is not there.
func toDisk(file *os.File, dir string, head *Checkpoint) error {
	if err := file.Sync(); err != nil || head == nil {
		return err
	}
	doc, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, headFile), append(doc, '\n'), fileMode)
}

// flushed ends a sync. One that failed is no promise, and is not repaired by another.
func (w *writer) flushed(err error) {
	w.flush, w.synced = nil, err
	if err != nil {
		_ = w.broken(err)
	} else if w.after == 0 {
		w.counts.head.Store(w.headed.UnixNano())
	}
	answer(w.inFlush, err)
	w.inFlush = nil
}

// settle waits until everything that was written is with the disk.
func (w *writer) settle() error {
	if w.flush != nil {
		w.flushed(<-w.flush)
	}
	if w.file == nil {
		return nil
	}
	if w.sync(); w.flush != nil {
		w.flushed(<-w.flush)
	}
	return w.synced
}

// rotate ends a segment. The next record begins a new one.
func (w *writer) rotate() {
	if err := w.shut(); err != nil {
		_ = w.broken(err)
	}
	if err := w.retain(); err != nil {
		_ = w.broken(err)
	}
	if w.turns != nil { // the other process must see that this segment has ended
		if err := w.begin(); err != nil {
			_ = w.broken(err)
		}
	}
}

// shut brings the segment and the head to the disk, and closes the file.
func (w *writer) shut() error {
	w.moveHead()
	err := w.settle()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// end writes what there is left to say, and closes the file.
func (w *writer) end() error {
	if lost := w.missing(w.counts.lost.Load()); lost != nil {
		_ = w.write(lost...) // told by w.failing
	}
	err := w.shut()
	return errors.Join(err, w.failing)
}

// retain removes the oldest segments where there are too many. A record says so first, so that Verify does
// not take it for a cut.
func (w *writer) retain() error {
	list, err := segments(w.cfg.Dir)
	if err != nil {
		return err
	}
	n := w.tooMany(list)
	if n == 0 {
		return nil
	}
	first, err := list[n].begins()
	if err != nil {
		return err
	}
	if err := w.write(&Record{Time: w.cfg.Now(), Removed: &Checkpoint{first.Seq - 1,
		first.Prev}}); err != nil {
		return err
	}
	w.moveHead()
	if err := w.settle(); err != nil {
		return err
	}
	for _, s := range list[:n] {
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	w.cfg.Log.Info("old decisions were removed", "event", "decisions_removed", "folder", w.cfg.Dir,
		"through", first.Seq-1)
	return atomicfile.SyncFolder(w.cfg.Dir)
}

// tooMany is how many of the segments must go, so that there is room for another one.
func (w *writer) tooMany(list []segment) (n int) {
	var bytes int64
	for _, s := range list {
		bytes += s.bytes
	}
	for n < len(list)-1 && (len(list)-n >= w.cfg.KeepSegments || bytes > w.cfg.KeepBytes) {
		bytes -= list[n].bytes
		n++
	}
	return n
}
