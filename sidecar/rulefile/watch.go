package rulefile

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Intervals of Watch. An editor saves in several steps, and a half-written file may be unchanged for a
// moment, so it is read twice.
const (
	quiet  = 50 * time.Millisecond // without an event, before the first read
	settle = 25 * time.Millisecond // between the two reads
	poll   = 5 * time.Second       // for network drives, bind mounts and lost events
)

// Watch calls apply after each change of the rule files of src, and returns when ctx ends. seen is the
// version that was read last; equal content is no change. If the files cannot be read, apply gets each new
// error once. apply reports whether it is finished with the files, accepted or refused; otherwise it gets
// them again. It runs in the goroutine of Watch, which sees later changes afterwards.
//
// Events are only hints: editors rename, Kubernetes swaps links, and some file systems send none.
func Watch(ctx context.Context, src Source, seen string, apply func(Files, error) bool) {
	w := watch{src: src, last: seen, apply: apply, poll: poll, folders: map[string]os.FileInfo{}}
	w.run(ctx)
}

// watch is the state of one Watch.
type watch struct {
	src     Source
	apply   func(Files, error) bool
	poll    time.Duration // interval without events
	last    string        // version or error of the last apply
	first   string        // version of the first of two reads; empty: none yet
	waiting time.Time     // start of the current delay
	notify  *fsnotify.Watcher
	folders map[string]os.FileInfo // watched by notify, with their state then
}

func (w *watch) run(ctx context.Context) {
	var events <-chan fsnotify.Event
	var errs <-chan error
	if n, err := fsnotify.NewWatcher(); err == nil { // else the poll alone must do
		defer n.Close()
		w.notify, events, errs = n, n.Events, n.Errors
	}
	w.rewatch()
	tick := time.NewTicker(w.poll)
	defer tick.Stop()
	look := time.NewTimer(quiet) // once at the start: an edit may have come before the watch
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			w.wait(look)
		case <-errs: // unread, it would stop fsnotify for good
			w.wait(look)
		case <-tick.C:
			w.rewatch()
			w.read(look)
		case <-look.C:
			w.rewatch()
			w.read(look)
		}
	}
}

// wait delays the next read until there are no events, but not forever.
func (w *watch) wait(look *time.Timer) {
	if w.first != "" {
		return // the second read says whether it goes on
	}
	now := time.Now()
	if w.waiting.IsZero() {
		w.waiting = now
	}
	if now.Sub(w.waiting) < 20*quiet {
		look.Reset(quiet)
	}
}

// read reads the files, and applies what two reads in a row agree on.
func (w *watch) read(look *time.Timer) {
	w.waiting = time.Time{}
	files, err := w.src.Read()
	now := files.Version()
	if err != nil {
		now = err.Error() + w.src.lockedVersion() // what is locked does not wait for the rest
		look.Reset(10 * quiet)                    // a folder that is being replaced
	}
	switch {
	case now == w.last:
		w.first = ""
	case w.first == "":
		w.first = now
		look.Reset(settle)
	case now != w.first: // still being written
		w.first = ""
		look.Reset(quiet)
	default:
		w.first = ""
		if w.apply(files, err) {
			w.last = now
		}
		look.Reset(settle) // for an edit that came meanwhile
	}
}

// rewatch watches the folders that have the names now: a replaced folder takes its watch with it.
func (w *watch) rewatch() {
	if w.notify == nil {
		return
	}
	for _, dir := range w.src.Folders() {
		before, watched := w.folders[dir]
		now, err := os.Stat(dir)
		// it went with the folder, whose number the new one has
		if watched && !slices.Contains(w.notify.WatchList(), dir) {
			delete(w.folders, dir)
			watched = false
		}
		if watched && err == nil && os.SameFile(before, now) {
			continue
		}
		if watched {
			_ = w.notify.Remove(dir) // gone already, where the folder is
			delete(w.folders, dir)
		}
		if err == nil && w.notify.Add(dir) == nil {
			w.folders[dir] = now
		}
	}
}
