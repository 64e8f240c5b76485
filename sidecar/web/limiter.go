package web

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Memory is that of the process. The zero Memory has no limit.
type Memory struct {
	Limit uint64 // bytes; 0: there is none
	// that cannot be collected, as of so many collections; it is asked often
	Used    func() (bytes, cycles uint64)
	Collect func() // collects garbage now, which takes a while
}

// LimiterConfig is what a limiter works with. Now and Log must be set.
type LimiterConfig struct {
	Memory Memory
	Now    func() time.Time
	Log    *slog.Logger
}

// Why a request was refused.
const (
	Memoryless = "memory"  // memory is short
	Crowded    = "waiting" // as many wait as may
	Late       = "late"    // it has waited for as long as it may
)

// Refusal is why a request was not let in.
type Refusal struct {
	Why   string
	After time.Duration // the caller may try again
}

func (r *Refusal) Error() string {
	switch r.Why {
	case Memoryless:
		return "its memory is nearly full"
	case Crowded:
		return "too many requests wait already"
	}
	return "other requests took too long"
}

// Limiter lets requests in. It is safe for concurrent use.
type Limiter struct {
	LimiterConfig

	mu       sync.Mutex
	gate     gate
	looked   time.Time
	used     uint64    // when it was looked at last
	cycles   uint64    // of collections, then
	since    time.Time // the last one was seen
	promised uint64    // what was let in since takes about so much
	collects bool      // garbage is being collected because of us

	inside int
	most   int // that may be, as the last request had it
	queue  queue[*waiter]
}

// waiter is a request that waits. Its channel is closed when it is let in.
type waiter struct{ in chan struct{} }

// NewLimiter makes a limiter with no request in it.
func NewLimiter(c LimiterConfig) *Limiter { return &Limiter{LimiterConfig: c} }

const (
	look   = 50 * time.Millisecond // how old a look at memory may be
	stale  = time.Second           // how old a collection may be while requests are refused
	blank  = 64 << 10              // what a request takes whose length is not known
	copies = 2                     // of the body of a request, until it is sent
)

// Promise is what a request said that it takes.
type Promise struct {
	size   uint64 // bytes
	cycles uint64 // of collections, then
}

// Promise lets in a request whose body has so many bytes (-1: unknown), or says that memory is too short for
// it. It is asked before anything of the body is read.
func (d *Limiter) Promise(size int64, l *Load) (Promise, error) {
	if d.Memory.Limit == 0 {
		return Promise{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.see(l.Shed)
	if size < 0 {
		size = blank
	}
	if d.gate.closed {
		return Promise{}, &Refusal{Memoryless, l.RetryAfter}
	}
	d.promised += uint64(size)
	return Promise{uint64(size), d.cycles}, nil
}

// Broken takes back what of a promise has not come.
func (d *Limiter) Broken(p Promise, came int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.cycles == d.cycles { // else it is forgotten already
		d.promised -= p.size - min(p.size, uint64(came))
	}
}

// Short reports whether memory is short.
func (d *Limiter) Short(l *Load) bool {
	if d.Memory.Limit == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.see(l.Shed)
	return d.gate.closed
}

// see looks at memory, unless that was done a moment ago. What has become free is known after a collection
// only, and nothing may start one while no request is let in. So the limiter does.
func (d *Limiter) see(shed int) {
	now := d.Now()
	if now.Sub(d.looked) >= look {
		used, cycles := d.Memory.Used()
		if cycles != d.cycles || d.looked.IsZero() {
			d.promised, d.cycles, d.since = 0, cycles, now
		}
		d.used, d.looked = used, now
	}
	seen, soon := d.used, d.used+d.promised
	if soon >= d.Memory.Limit {
		seen = soon // it may be garbage by now, but no collection has shown it
	}
	if d.gate.at(seen, d.Memory.Limit, shed) {
		d.tell(shed)
	}
	if d.gate.closed && now.Sub(d.since) >= stale || soon >= mark(d.Memory.Limit, shed) &&
		seen < mark(d.Memory.Limit, shed) {
		d.collect()
	}
}

// collect collects garbage, once at a time.
func (d *Limiter) collect() {
	if d.collects {
		return
	}
	d.collects = true
	go func() {
		d.Memory.Collect()
		d.mu.Lock()
		d.collects = false
		d.mu.Unlock()
	}()
}

func (d *Limiter) tell(shed int) {
	log, text, event := d.Log.Info, "requests are let in again", "load_normal"
	if d.gate.closed {
		log, text, event = d.Log.Warn, "memory is nearly full: new requests get 503, those under way go on",
			"load_shed"
	}
	log(text, "event", event, "in_use", d.used, "limit", d.Memory.Limit, "percent", shed, "inside", d.inside,
		"waiting", d.queue.size)
}

// Wait waits until a request of a session may be served. Leave must be called at its end. The error is a
// *Refusal, or the cause of the context.
func (d *Limiter) Wait(ctx context.Context, session string, l *Load) (leave func(), err error) {
	w := d.come(session, l)
	if w == nil {
		return d.leave, nil
	}
	if w.in == nil {
		return nil, &Refusal{Crowded, l.RetryAfter}
	}
	late := time.NewTimer(l.Wait)
	defer late.Stop()
	select {
	case <-w.in:
		return d.leave, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = &Refusal{Late, l.RetryAfter}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.queue.drop(session, w) { // it was let in just now, and does not want it any more
		d.inside--
		d.letIn()
	}
	return nil, err
}

// come lets a request in at once (nil), or has it wait; without a channel, if it may not.
func (d *Limiter) come(session string, l *Load) *waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.most = l.AtOnce; d.queue.size > 0 {
		d.letIn() // there may be more room now
	}
	switch {
	case d.queue.size == 0 && d.inside < d.most:
		d.inside++
		return nil
	case d.queue.size >= l.Waiting:
		return &waiter{}
	}
	w := &waiter{make(chan struct{})}
	d.queue.put(session, w)
	return w
}

func (d *Limiter) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
	d.letIn()
}

// letIn lets in who is next, as far as there is room.
func (d *Limiter) letIn() {
	for d.inside < d.most {
		w, ok := d.queue.next()
		if !ok {
			return
		}
		d.inside++
		close(w.in)
	}
}

// LoadState is the state of the limiter.
type LoadState struct {
	Short           bool
	Inside, Waiting int
	Used, Limit     uint64 // bytes of memory; no limit: both are 0
}

// LoadState looks, too: there may have been no request for a while.
func (d *Limiter) State(l *Load) LoadState {
	short := d.Short(l)
	d.mu.Lock()
	defer d.mu.Unlock()
	return LoadState{Short: short, Inside: d.inside, Waiting: d.queue.size, Used: d.used,
		Limit: d.Memory.Limit}
}
