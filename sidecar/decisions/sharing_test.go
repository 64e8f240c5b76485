//go:build unix

package decisions

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// passedOn is a lock as the next process gets it.
func passedOn(t testing.TB, l *Log) *os.File {
	t.Helper()
	lock, err := l.Share()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), lock.Name())
}

// Several processes write one log in turn, over the ends of segments and heads. It is one chain, with every
// record, and nobody else gets in before the last of them has ended.
func TestBeside(t *testing.T) {
	for name, cfg := range map[string]Config{
		"written": {}, "synced": {Mode: Synced}, "required": {Mode: Required, Wait: 10 * time.Second},
		"short segments": {SegmentBytes: 2000, HeadRecords: 7}, "often": {HeadRecords: 1}, "few": {SegmentBytes: 1500, KeepSegments: 4},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Dir = filepath.Join(t.TempDir(), "log")
			cfg.SyncEvery = time.Millisecond
			first := open(t, cfg)
			if err := first.Add(decision(0)); err != nil {
				t.Fatal(err)
			}
			cfg.Lock = passedOn(t, first)
			second := open(t, cfg)
			if first.lock == second.lock {
				t.Fatal("it is no other lock")
			}
			var all sync.WaitGroup
			for n, l := range []*Log{first, second, first, second} {
				all.Go(func() {
					for i := range 60 {
						if err := l.Add(decision(1000*n + i)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if err := second.Add(decision(1)); err != nil {
				t.Error(err)
			}
			shut(t, first)
			if err := second.Alone(); err != nil {
				t.Error(err)
			}
			if _, err := Open(Config{Dir: cfg.Dir}); err == nil ||
				!strings.Contains(err.Error(), "another process writes this log") {
				t.Errorf("a third one: %v", err)
			}
			if err := second.Add(decision(2)); err != nil {
				t.Error(err)
			}
			shut(t, second)
			shut(t, open(t, Config{Dir: cfg.Dir}))
			r := mustBeGood(t, cfg.Dir)
			if want := uint64(1 + 4*60 + 2 + 3); name != "few" && r.Records != want ||
				r.Records+r.Removed < want || r.Lost != 0 {
				t.Errorf("%d records, %d removed, %d lost, want %d", r.Records, r.Removed, r.Lost, want)
			}
		})
	}
}

// One that ends in the middle of a record leaves it to the other, which sets it aside and goes on.
func TestBesideCrash(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "log")}
	first := open(t, cfg)
	cfg.Lock = passedOn(t, first)
	second := open(t, cfg)
	if err := second.Add(decision(1)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(segmentPath(cfg.Dir, 1), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":4,"time":"20`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if err := first.Add(decision(2)); err != nil {
		t.Fatal(err)
	}
	if err := second.Add(decision(3)); err != nil {
		t.Fatal(err)
	}
	shut(t, second)
	if err := first.Alone(); err != nil {
		t.Fatal(err)
	}
	if err := first.Add(decision(4)); err != nil {
		t.Fatal(err)
	}
	shut(t, first)
	r := mustBeGood(t, cfg.Dir)
	if aside, _ := filepath.Glob(filepath.Join(cfg.Dir, "unfinished-*")); r.Records != 2+4+1 || r.Lost != 0 ||
		len(aside) != 1 {
		t.Errorf("%+v, %d set aside", r, len(aside))
	}
}

// A lock of another folder gives no right to this one.
func TestBesideElsewhere(t *testing.T) {
	mine, other := Config{Dir: filepath.Join(t.TempDir(), "log")}, open(t,
		Config{Dir: filepath.Join(t.TempDir(), "log")})
	defer shut(t, other)
	mine.Lock = passedOn(t, other)
	l := open(t, mine)
	if _, err := Open(Config{Dir: mine.Dir}); err == nil {
		t.Error("it did not take the lock of its own folder")
	}
	shut(t, l)
	if err := other.Alone(); err != nil {
		t.Error(err)
	}
}
