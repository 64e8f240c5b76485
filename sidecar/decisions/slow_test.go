package decisions

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a log whose disk takes nothing until the channel is closed.
func stuck(t *testing.T, cfg Config) (l *Log, goOn func()) {
	cfg.Dir = filepath.Join(t.TempDir(), "log")
	shut(t, open(t, cfg))
	cfg = cfg.withDefaults()
	l = &Log{cfg: cfg, queue: make(chan *entry, cfg.Queue), quit: make(chan struct{}),
		ended: make(chan struct{})}
	held, err := lock(cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l.lock = held
	w, err := newWriter(cfg, &l.counts)
	if err != nil {
		t.Fatal(err)
	}
	return l, func() { go func() { defer close(l.ended); l.err = w.run(l) }() }
}

// A disk that hangs costs one call its patience; the others go on, until too many wait.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		waited := 0
		l, goOn := stuck(t, Config{Queue: 2, Wait: patience})
		for i := range 5 {
			began := time.Now()
			if err := l.Add(decision(i)); err != nil {
				t.Error(err)
			}
			if time.Since(began) >= patience {
				waited++
			}
		}
		if s := l.Stats(); waited != 1 || s.Lost != 3 {
			t.Errorf("%d waited, %d lost", waited, s.Lost)
		}
		goOn()
		shut(t, l)
		if r := mustBeGood(t, l.cfg.Dir); r.Lost != 3 || count(t, l.cfg.Dir) != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// In mode Required nothing leaves without its record.
func TestRequired(t *testing.T) {
	l, goOn := stuck(t, Config{Queue: 1, Wait: 20 * time.Millisecond, Mode: Required})
	d := decision(1)
	if err := l.Add(d); !errors.Is(err, errSlow) {
		t.Errorf("a slow disk: %v", err)
	}
	if err := l.Add(d); !errors.Is(err, errFull) {
		t.Errorf("a full queue: %v", err)
	}
	goOn()
	shut(t, l)
	if err := l.Add(d); !errors.Is(err, errClosed) {
		t.Errorf("a closed log: %v", err)
	}
	err := Read(l.cfg.Dir, func(r *Record, _ error) bool {
		if d := r.Decision; d != nil && d.Outcome != Refused {
			t.Errorf("the log says that it %s", d.Outcome)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, mode := range modes {
		for _, callers := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/callers=%d", mode, callers), func(b *testing.B) {
				l := open(b, Config{Dir: b.TempDir(), Mode: mode, Wait: time.Minute})
				b.SetParallelism(callers)
				b.ReportAllocs()
				d := decision(0)
				b.ResetTimer()
				if callers == 1 {
					for b.Loop() {
						_ = l.Add(d)
					}
				} else {
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							_ = l.Add(d)
						}
					})
				}
				b.StopTimer()
				shut(b, l)
			})
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := filled(b, Config{}, 5000)
	b.ReportAllocs()
	for b.Loop() {
		mustBeGood(b, dir)
	}
}

// What is no record is refused, and what parses is what was written.
func FuzzParse(f *testing.F) {
	var buf bytes.Buffer
	r := Record{Seq: 1, Decision: &Decision{Tool: "exec", Arguments: []byte(`{"a":"\u2028<"}`)}}
	if err := r.append(&buf); err != nil {
		f.Fatal(err)
	}
	good := bytes.TrimSpace(buf.Bytes())
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte(`{"seq":1,"hash":"00"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line)
		if err == nil && !bytes.HasSuffix(line, []byte(r.Hash.String()+hashEnds)) {
			t.Errorf("%q has the hash %s", line, r.Hash)
		}
		if err == nil && r.Seq == 0 {
			t.Errorf("%q has no number", line)
		}
	})
}
