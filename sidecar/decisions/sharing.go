package decisions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

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
