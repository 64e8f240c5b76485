package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

func TestGate(t *testing.T) {
	var g gate
	for i, row := range []struct {
		used  uint64
		moves bool
		shut  bool
	}{{0, false, false}, {84, false, false}, {85, true, true}, {100, false, true}, {80, false, true},
		{75, false, true}, {74, true, false}, {84, false, false}, {200, true, true}} {
		if moved := g.update(row.used*mib, 100*mib, 85); moved != row.moves || g.closed != row.shut {
			t.Errorf("%d: at %d: moved %v, closed %v", i, row.used, moved, g.closed)
		}
	}
	if (&gate{closed: true}).update(100, 0, 85); g.update(1, 0, 85) && g.closed {
		t.Error("without a limit it is closed")
	}
}

// While memory is short nobody new is let in; it is told once, and garbage is collected until there is room.
func TestShedding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used, cycles, collected atomic.Uint64
		var told strings.Builder
		d := NewLimiter(LimiterConfig{Now: time.Now, Log: slog.New(slog.NewTextHandler(&told, nil)), Memory: Memory{
			Limit: 100 * mib, Used: func() (uint64, uint64) { return used.Load() * mib, cycles.Load() },
			Collect: func() { collected.Add(1); cycles.Add(1) },
		}})
		l := UsualLoad()
		refused := func(want bool) {
			t.Helper()
			time.Sleep(readEvery)
			_, err := d.Promise(10<<10, &l)
			var r *Refusal
			if got := errors.As(err, &r); got != want || d.Short(&l) != want ||
				want && (r.Why != MemoryShort || r.After != l.RetryAfter) {
				t.Errorf("at %d MiB: %v", used.Load(), err)
			}
		}
		refused(false)
		used.Store(90)
		refused(true)
		used.Store(80)
		refused(true)
		if collected.Load() != 0 {
			t.Error("garbage is collected at once")
		}
		time.Sleep(stale)
		refused(true)
		synctest.Wait()
		if collected.Load() == 0 {
			t.Error("no garbage is collected")
		}
		used.Store(70)
		refused(false)
		if n, m := strings.Count(told.String(), "event=load_shed"), strings.Count(told.String(),
			"event=load_normal"); n != 1 || m != 1 {
			t.Errorf("told %d and %d times: %s", n, m, &told)
		}
		for range 40 { // what never came does not count
			p, _ := d.Promise(mib, &l)
			d.Release(p, 1)
		}
		if _, err := d.Promise(mib, &l); err != nil {
			t.Errorf("promises that were broken count: %v", err)
		}
		for range 40 { // nobody can know what becomes of large bodies until garbage is collected
			_, _ = d.Promise(mib, &l)
		}
		if _, err := d.Promise(mib, &l); err == nil {
			t.Error("more is let in than there is room for")
		}
		synctest.Wait()
		refused(false)
	})
}

// As many are inside as may be, all come in, and whoever leaves or waits too long is forgotten.
func TestWait(t *testing.T) {
	d, l := NewLimiter(LimiterConfig{Now: time.Now, Log: slog.New(slog.DiscardHandler)}), UsualLoad()
	l.AtOnce, l.Waiting = 3, 1<<20
	var inside, most, served, left atomic.Int64
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			ctx, stop := context.WithCancel(t.Context())
			if i%5 == 0 {
				go stop() // some leave at any moment
			}
			defer stop()
			leave, err := d.Wait(ctx, fmt.Sprint(i%7), &l)
			if err != nil {
				left.Add(1)
				return
			}
			if n := inside.Add(1); n > most.Load() {
				most.Store(n)
			}
			served.Add(1)
			inside.Add(-1)
			leave()
		})
	}
	all.Wait()
	if most.Load() > 3 || served.Load() < 320 || served.Load()+left.Load() != 400 {
		t.Errorf("%d at once; %d served, %d left", most.Load(), served.Load(), left.Load())
	}
	if s := d.State(&l); s.Inside != 0 || s.Waiting != 0 || len(d.queue.ring) != 0 {
		t.Errorf("left behind: %+v", s)
	}
}

func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, l := NewLimiter(LimiterConfig{Now: time.Now, Log: slog.New(slog.DiscardHandler)}), UsualLoad()
		l.AtOnce, l.Waiting = 1, 1
		leave, err := d.Wait(t.Context(), "a", &l)
		if err != nil {
			t.Fatal(err)
		}
		why := func(err error, want string) {
			t.Helper()
			var r *Refusal
			if !errors.As(err, &r) || r.Why != want || r.After != l.RetryAfter || r.Error() == "" {
				t.Errorf("%v, want %s", err, want)
			}
		}
		late := make(chan error)
		go func() { _, err := d.Wait(t.Context(), "b", &l); late <- err }()
		synctest.Wait()
		_, err = d.Wait(t.Context(), "c", &l)
		why(err, QueueFull)
		why(<-late, WaitedTooLong) // after half a minute
		in := make(chan error)
		go func() {
			leave, err := d.Wait(t.Context(), "d", &l)
			if err == nil {
				leave()
			}
			in <- err
		}()
		synctest.Wait()
		more := l
		more.AtOnce = 2 // the rules were edited: there is room, and nobody has left
		leave2, err := d.Wait(t.Context(), "e", &more)
		if err != nil || <-in != nil {
			t.Errorf("with more room: %v", err)
		}
		leave2()
		leave()
		if s := d.State(&l); s.Inside != 0 || s.Waiting != 0 {
			t.Errorf("left behind: %+v", s)
		}
	})
}
