package decisions

import (
	"bytes"
	"errors"
	"os"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// batchSize is how many records are written at once, at most.
const batchSize = 128

// writer writes a log. All of it belongs to one goroutine.
type writer struct {
	cfg    Config
	counts *counts

	file  *os.File // the segment that grows; nil: the next record begins one
	size  int64    // of what is good of it
	born  time.Time
	place Checkpoint // the last record

	after   int       // records after the head
	headed  time.Time // when the head moved on
	gap     uint64    // lost records that the log speaks of already
	failing error     // why the last write failed

	head    *Checkpoint // to be written with the next sync
	dirty   bool        // something is not with the disk yet
	at      time.Time   // when the last sync began
	flush   chan error  // the sync that runs; nil: none
	waiting []*entry    // for the next sync
	inFlush []*entry    // for the one that runs
	synced  error       // of the last sync

	turns  *os.File // its lock says which process may write now; nil: this one writes alone
	astray error    // why the records of the other process could not be followed
}

// run takes decisions until quit, and then writes those that wait.
func (w *writer) run(l *Log) (err error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var list []*entry
		select {
		case e := <-l.queue:
			list = gather(e, l.queue)
		case err := <-w.flush:
			w.flushed(err)
		case c := <-l.company:
			c.done <- w.keep(c.company)
		case <-timer.C:
		case <-l.quit:
			w.turn(func() { err = w.last(l.queue) })
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

// last writes what waits, and ends.
func (w *writer) last(queue <-chan *entry) error {
	for {
		select {
		case e := <-queue:
			w.batch(gather(e, queue))
		default:
			return w.end()
		}
	}
}

// gather takes what else waits, up to a batch.
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

// due does what the time has come for, and says when to look again.
func (w *writer) due() time.Duration {
	now := w.cfg.Now()
	if w.after >= w.cfg.HeadRecords || now.Sub(w.headed) >= w.cfg.HeadEvery {
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
		return max(time.Millisecond, w.cfg.HeadEvery-now.Sub(w.headed))
	}
	return w.cfg.HeadEvery
}

// batch writes decisions, and tells those who wait for no more than that.
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

// missing is the record that speaks of those that were lost, if there are more than it
// was said already.
func (w *writer) missing(lost uint64) []*Record {
	if lost == w.gap {
		return nil
	}
	why := errFull
	if w.failing != nil {
		why = w.failing
	}
	return []*Record{{Time: w.cfg.Now(), Gap: &Gap{lost - w.gap, why.Error()}}}
}

func answer(list []*entry, err error) {
	for _, e := range list {
		e.done <- err
	}
}

// write adds records to the chain, all or none of them.
func (w *writer) write(records ...*Record) error {
	if w.astray != nil {
		return w.broken(w.astray)
	}
	if err := w.begin(); err != nil {
		return w.broken(err)
	}
	var buf bytes.Buffer
	place := w.place
	for _, r := range records {
		r.Seq, r.Prev = place.Seq+1, place.Hash
		if err := r.append(&buf); err != nil {
			return w.broken(err)
		}
		place = Checkpoint{r.Seq, r.Hash}
	}
	if _, err := w.file.Write(buf.Bytes()); err != nil {
		return w.broken(errors.Join(err, w.file.Truncate(w.size)))
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

// broken counts an error, and tells the first of several.
func (w *writer) broken(err error) error {
	w.counts.failed.Add(1)
	w.counts.broken.Store(true)
	if w.failing == nil {
		w.cfg.Log.Error("the decision log cannot be written", "event", "decisions_broken",
			"folder", w.cfg.Dir, "detail", err.Error())
	}
	w.failing = err
	return err
}

// begin opens a segment for the next record, if none is open. The end of a write that
// failed and could not be taken back is taken back now.
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

// moveHead names the last record as the head. It counts for the outside when that record is
// with the disk: then the head is written.
func (w *writer) moveHead() {
	if w.after == 0 {
		return
	}
	w.after, w.headed = 0, w.cfg.Now()
	head := w.place
	w.head, w.dirty = &head, true
}
