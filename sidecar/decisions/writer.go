package decisions

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// batchSize is the largest number of records per write.
const batchSize = 128

// writer writes a log. It belongs to one goroutine.
type writer struct {
	cfg    Config
	counts *counts

	file  *os.File // current segment; nil: the next record begins one
	size  int64    // of its valid records
	born  time.Time
	place Checkpoint // of the last record

	after     int       // records after the head
	headMoved time.Time // time when the head moved
	gap       uint64    // lost records that the log has reported
	failing   error     // error of the last write

	head    *Checkpoint // written with the next sync
	dirty   bool        // something is not synced
	at      time.Time   // start of the last sync
	flush   chan error  // current sync; nil: none
	waiting []*entry    // for the next sync
	inFlush []*entry    // for the current sync
	synced  error       // error of the last sync

	turns     *os.File // its lock says which process may write; nil: only this one writes
	lostTrack error    // why the other process's records could not be followed
}

// run writes decisions until quit, and then those that wait.
func (w *writer) run(l *Log) (err error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var list []*entry
		select {
		case e := <-l.queue:
			list = gather(e, l.queue)
		case err := <-w.flush:
			w.syncEnded(err)
		case c := <-l.shares:
			c.done <- w.setShared(c.company)
		case <-timer.C:
		case <-l.quit:
			w.turn(func() { err = w.finish(l.queue) })
			return err
		}
		w.turn(func() {
			if len(list) > 0 && w.batch(list) {
				l.slow.Store(false)
			}
			timer.Reset(w.due())
		})
	}
}

// finish writes what waits, and ends.
func (w *writer) finish(queue <-chan *entry) error {
	for {
		select {
		case e := <-queue:
			w.batch(gather(e, queue))
		default:
			return w.end()
		}
	}
}

// gather takes more entries from the queue, up to a batch.
func gather(first *entry, queue <-chan *entry) []*entry {
	list := []*entry{first}
	for len(list) < batchSize {
		select {
		case e := <-queue:
			list = append(list, e)
		default:
			return list
		}
	}
	return list
}

// due does what is due and returns when to call it again.
func (w *writer) due() time.Duration {
	now := w.cfg.Now()
	if w.after >= w.cfg.HeadRecords || now.Sub(w.headMoved) >= w.cfg.HeadEvery {
		w.moveHead()
	}
	if w.file != nil && (w.size >= w.cfg.SegmentBytes || now.Sub(w.born) >= w.cfg.SegmentAge) {
		w.rotate()
	}
	if w.dirty && w.flush == nil {
		if wait := w.cfg.SyncEvery - now.Sub(w.at); wait > 0 && w.cfg.Mode == Written && w.head == nil {
			return min(wait, w.cfg.SyncEvery) // also where the clock was set back
		}
		w.sync()
	}
	if w.after > 0 {
		return max(time.Millisecond, w.cfg.HeadEvery-now.Sub(w.headMoved))
	}
	return w.cfg.HeadEvery
}

// batch writes decisions and answers those that need no sync.
func (w *writer) batch(list []*entry) bool {
	lost := w.counts.lost.Load()
	records := w.missing(lost)
	for _, e := range list {
		records = append(records, e.record(w.cfg.Mode))
	}
	if err := w.write(records...); err != nil {
		w.counts.lost.Add(uint64(len(list)))
		answer(list, err)
		return false
	}
	w.gap = lost
	w.counts.written.Add(uint64(len(list)))
	if w.cfg.Mode == Written {
		answer(list, nil)
	} else {
		w.waiting = append(w.waiting, list...)
	}
	return true
}

// missing returns a record of lost records, if there are more than reported.
func (w *writer) missing(lost uint64) []*Record {
	if lost == w.gap {
		return nil
	}
	why := cmp.Or(w.failing, errFull).Error()
	return []*Record{{Time: w.cfg.Now(), Gap: &Gap{lost - w.gap, why}}}
}

func answer(list []*entry, err error) {
	for _, e := range list {
		e.done <- err
	}
}

// write adds records to the chain, all or none.
func (w *writer) write(records ...*Record) error {
	if w.lostTrack != nil {
		return w.failed(w.lostTrack)
	}
	if err := w.begin(); err != nil {
		return w.failed(err)
	}
	var buf bytes.Buffer
	place := w.place
	for _, r := range records {
		r.Seq, r.Prev = place.Seq+1, place.Hash
		if err := r.append(&buf); err != nil {
			return w.failed(err)
		}
		place = Checkpoint{r.Seq, r.Hash}
	}
	if _, err := w.file.Write(buf.Bytes()); err != nil {
		return w.failed(errors.Join(err, w.file.Truncate(w.size)))
	}
	if w.failing != nil {
		w.cfg.Log.Info("the decision log is written again", "event", "decisions_written", "folder", w.cfg.Dir)
	}
	w.failing = nil
	w.counts.broken.Store(false)
	w.size += int64(buf.Len())
	w.place, w.dirty = place, true
	w.after += len(records)
	return nil
}

// failed counts an error and logs the first of several.
func (w *writer) failed(err error) error {
	w.counts.failed.Add(1)
	w.counts.broken.Store(true)
	if w.failing == nil {
		w.cfg.Log.Error("the decision log cannot be written", "event", "decisions_broken",
			"folder", w.cfg.Dir, "detail", err.Error())
	}
	w.failing = err
	return err
}

// begin opens a segment for the next record, if none is open. It removes the rest of a failed write.
func (w *writer) begin() error {
	if w.file == nil {
		f, err := os.OpenFile(segmentPath(w.cfg.Dir, w.place.Seq+1), os.O_RDWR|os.O_APPEND|os.O_CREATE,
			fileMode)
		if err != nil {
			return err
		}
		w.file, w.size, w.born = f, 0, w.cfg.Now()
		if err := atomicfile.SyncFolder(w.cfg.Dir); err != nil {
			return err
		}
	}
	if w.failing == nil {
		return nil
	}
	return w.file.Truncate(w.size)
}

// moveHead makes the last record the head. The head is written when that record is on disk.
func (w *writer) moveHead() {
	if w.after == 0 {
		return
	}
	w.after, w.headMoved = 0, w.cfg.Now()
	head := w.place
	w.head, w.dirty = &head, true
}
