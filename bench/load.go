//go:build linux

package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// load is the state of callers at work.
type load struct {
	answers atomic.Int64
	asked   atomic.Int64          // runs
	wrong   atomic.Pointer[error] // the first
	stopped atomic.Bool
	callers sync.WaitGroup
	lock    sync.Mutex
	took    []float64 // µs since the request was due
}

// begin starts n callers. Each sends a request after its answer, or when one is due.
func begin(n int, p *process, r *reply, due <-chan time.Time) *load {
	l := &load{}
	for range n {
		l.callers.Go(func() {
			c, err := dial(p.address, r.events != nil)
			if err != nil {
				l.fail(err)
				return
			}
			defer c.conn.Close()
			if due == nil {
				for !l.stopped.Load() {
					l.ask(c, r)
				}
				return
			}
			for from := range due {
				l.ask(c, r)
				l.lock.Lock()
				l.took = append(l.took, float64(time.Since(from).Nanoseconds())/1e3)
				l.lock.Unlock()
			}
		})
	}
	return l
}

func (l *load) ask(c *caller, r *reply) {
	err := c.ask()
	if err == nil {
		err = r.check(c.body.Bytes())
	}
	if err == nil {
		l.answers.Add(1)
	} else {
		l.fail(err)
	}
}

func (l *load) fail(err error) {
	l.wrong.CompareAndSwap(nil, &err)
	l.stopped.Store(true)
}

// end waits for the callers. It returns the first error.
func (l *load) end() error {
	l.stopped.Store(true)
	l.callers.Wait()
	if err := l.wrong.Load(); err != nil {
		return *err
	}
	return nil
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// closed measures 16 callers that ask again after each answer.
func (b *bench) closed(ctx context.Context, r *reply, p *process) (figures, error) {
	l := begin(16, p, r, nil)
	pause(ctx, b.span/4)
	m, before := startMeter(p.pid), l.answers.Load()
	pause(ctx, b.span)
	n, took := float64(l.answers.Load()-before), time.Since(m.began)
	cpu, _ := m.stop()
	each := float64(cpu.Microseconds()) / max(1, n)
	return figures{"requests/s": n / took.Seconds(), "cpu": each,
		"cpu an event": each / float64(max(1, len(r.events)))}, l.end()
}

// open measures 1,000 requests per second, even if answers are late.
func (b *bench) open(ctx context.Context, r *reply, p *process) (figures, error) {
	clock, err := newAlarm()
	if err != nil {
		return nil, err
	}
	defer clock.file.Close()
	due := make(chan time.Time, 1<<16)
	l := begin(64, p, r, due)
	next := time.Now()
	for end := next.Add(b.span); next.Before(end) && ctx.Err() == nil; next = next.Add(time.Millisecond) {
		clock.until(next)
		due <- next
	}
	close(due)
	err = l.end()
	return figures{"p50": median(l.took)}, err
}

// hundred measures the memory of a new process, idle and with 100 callers.
func (b *bench) hundred(ctx context.Context, r *reply, p *process) (figures, error) {
	pause(ctx, time.Second)
	f := figures{"start": p.started.Seconds() * 1e3, "before": resident(p.pid)}
	l := begin(100, p, r, nil)
	for range 10 {
		pause(ctx, b.span/10)
		f["resident"] = max(f["resident"], resident(p.pid))
	}
	return f, l.end()
}
