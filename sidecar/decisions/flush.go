package decisions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// sync starts to sync what was written.
func (w *writer) sync() {
	if w.file == nil {
		return
	}
	done := make(chan error, 1)
	w.flush, w.dirty, w.at = done, false, w.cfg.Now()
	w.waiting, w.inFlush = nil, w.waiting
	file, dir, head := w.file, w.cfg.Dir, w.head
	w.head = nil
	go func() { done <- syncFiles(file, dir, head) }()
	if head != nil && w.turns != nil {
		w.syncEnded(<-done) // a head is written within the turn: the other process may write the next one
	}
}

// syncFiles syncs the file first, so that a head never names a missing record.
func syncFiles(file *os.File, dir string, head *Checkpoint) error {
	if err := file.Sync(); err != nil || head == nil {
		return err
	}
	doc, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, headFile), append(doc, '\n'), fileMode)
}

// syncEnded ends a sync. After a failed one the records may be lost, and another sync would not help.
func (w *writer) syncEnded(err error) {
	w.flush, w.synced = nil, err
	if err != nil {
		_ = w.failed(err)
	} else if w.after == 0 {
		w.counts.head.Store(w.headMoved.UnixNano())
	}
	answer(w.inFlush, err)
	w.inFlush = nil
}

// settle waits until everything written is on disk.
func (w *writer) settle() error {
	if w.flush != nil {
		w.syncEnded(<-w.flush)
	}
	if w.file == nil {
		return nil
	}
	if w.sync(); w.flush != nil {
		w.syncEnded(<-w.flush)
	}
	return w.synced
}

// rotate ends a segment. The next record begins a new one.
func (w *writer) rotate() {
	if err := w.closeSegment(); err != nil {
		_ = w.failed(err)
	}
	if err := w.retain(); err != nil {
		_ = w.failed(err)
	}
	if w.turns != nil { // the other process must see that this segment has ended
		if err := w.begin(); err != nil {
			_ = w.failed(err)
		}
	}
}

// closeSegment syncs the segment and the head, and closes the file.
func (w *writer) closeSegment() error {
	w.moveHead()
	err := w.settle()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// end writes the last gap and closes the file.
func (w *writer) end() error {
	if lost := w.missing(w.counts.lost.Load()); lost != nil {
		_ = w.write(lost...) // told by w.failing
	}
	err := w.closeSegment()
	return errors.Join(err, w.failing)
}

// retain removes the oldest segments above the limits. A record says so first, so that Verify does not
// report a cut.
func (w *writer) retain() error {
	list, err := segments(w.cfg.Dir)
	if err != nil {
		return err
	}
	n := w.tooMany(list)
	if n == 0 {
		return nil
	}
	first, err := list[n].firstRecord()
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

// tooMany returns how many segments must go to make room for another one.
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
