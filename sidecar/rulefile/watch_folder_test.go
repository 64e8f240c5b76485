package rulefile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestWatchReplacedSubfolder: a folder inside that was replaced is watched again, also
// when the new one has the number of the old one.
func TestWatchReplacedSubfolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inside := filepath.Join(dir, TestFolder)
	mkdir(t, inside)
	n, err := fsnotify.NewWatcher()
	check(t, err)
	defer n.Close()
	w := watch{src: Source{Dir: dir}, notify: n, folders: map[string]os.FileInfo{}}
	w.rewatch()
	for range 3 {
		check(t, os.RemoveAll(inside))
		mkdir(t, inside)
		w.rewatch()
		if !w.sees(t, filepath.Join(inside, "x.yaml")) {
			t.Fatal("edits in the new folder give no event")
		}
	}
}

// TestWatchByEvents: an edit is taken up by its event, and need not wait for the next poll.
func TestWatchByEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/exec.yaml", "a: 0\n")
	files, err := ReadDir(dir)
	check(t, err)
	applied, done := make(chan Files), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	w := watch{src: Source{Dir: dir}, last: files.Version(), poll: time.Hour, folders: map[string]os.FileInfo{},
		apply: func(f Files, _ error) bool { applied <- f; return true }}
	go func() { w.run(ctx); close(done) }()
	for _, text := range []string{"a: 1\n", "a: 2\n", "a: 3\n"} {
		time.Sleep(5 * quiet) // the looks at the start, and behind an edit, are over
		write(t, dir+"/exec.yaml", text)
		if f := <-applied; f["exec.yaml"] != text {
			t.Errorf("%q is in force, not %q", f["exec.yaml"], text)
		}
	}
	cancel()
	<-done
}

// sees writes a file now and then until there is an event about it.
func (w *watch) sees(t *testing.T, path string) bool {
	t.Helper()
	for range 50 {
		write(t, path, time.Now().String())
		for more := true; more; {
			select {
			case e := <-w.notify.Events:
				if e.Name == path {
					return true
				}
			case <-time.After(50 * time.Millisecond):
				more = false
			}
		}
		w.rewatch() // as each look does
	}
	return false
}

// TestWatchBesideNoise: a file that is no rule and is written all the time does not
// keep an edit waiting for ever.
func TestWatchBesideNoise(t *testing.T) {
	t.Parallel()
	dir, applied := watched(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := byte(0); ; i++ {
			_ = os.WriteFile(dir+"/notes.log", []byte{i}, 0o600)
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	time.Sleep(200 * time.Millisecond) // the noise has begun
	write(t, dir+"/exec.yaml", "b: 2\n")
	got := collect(applied, true)
	close(stop)
	<-done
	if len(got) != 1 || got[0].files["exec.yaml"] != "b: 2\n" {
		t.Errorf("applied %v", got)
	}
}
