package web

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Memory is the memory of the process. Zero: no limit.
type Memory struct {
	Limit uint64 // bytes; 0: none
	// Used returns the bytes that cannot be collected, as of a number of collections. It is called often.
	Used    func() (bytes, cycles uint64)
	Collect func() // collects garbage, which takes a while
}

// LimiterConfig configures a limiter. Now and Log must be set.
type LimiterConfig struct {
	Memory Memory
	Now    func() time.Time
	Log    *slog.Logger
}

// Why a request was refused.
const (
	MemoryShort   = "memory"  // memory is short
	QueueFull     = "waiting" // too many requests wait
	WaitedTooLong = "late"    // it has waited for as long as it may
)

// Refusal is the reason why a request was not admitted.
type Refusal struct {
	Why   string
	After time.Duration // when the caller may retry
}

func (r *Refusal) Error() string {
	switch r.Why {
	case MemoryShort:
		return "its memory is nearly full"
	case QueueFull:
		return "too many requests wait already"
	}
	return "other requests took too long"
}

// Limiter admits requests. It is safe for concurrent use.
type Limiter struct {
	LimiterConfig

	mu          sync.Mutex
	gate        gate
	readAt      time.Time
	used        uint64    // at that time
	cycles      uint64    // collections at that time
	collectedAt time.Time // when the last collection was seen
	promised    uint64    // estimated bytes of requests admitted since
	collecting  bool      // garbage is being collected because of us

	active int
	most   int // limit of active requests, as of the last request
	queue  queue[*waiter]
}

// waiter is a request that waits. Its channel is closed when it is admitted.
type waiter struct{ in chan struct{} }

// NewLimiter returns a limiter without requests.
func NewLimiter(c LimiterConfig) *Limiter { return &Limiter{LimiterConfig: c} }

const (
	readEvery = 50 * time.Millisecond // age of a reading of memory at which it is repeated
	// age of a collection at which another follows while requests are refused
	stale       = time.Second
	defaultSize = 64 << 10 // bytes for a request of unknown length
	copies      = 2        // of the body of a request, until it is sent
)

// Promise is the memory announced by a request.
type Promise struct {
	size   uint64 // bytes
	cycles uint64 // collections at that time
}

// Promise admits a request whose body has so many bytes (-1: unknown), unless memory is too short. It
// precedes the reading of the body.
func (d *Limiter) Promise(size int64, l *Load) (Promise, error) {
	if d.Memory.Limit == 0 {
		return Promise{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readMemory(l.Shed)
	if size < 0 {
		size = defaultSize
	}
	if d.gate.closed {
		return Promise{}, &Refusal{MemoryShort, l.RetryAfter}
	}
	d.promised += uint64(size)
	return Promise{uint64(size), d.cycles}, nil
}

// Release returns the part of a promise that did not come.
func (d *Limiter) Release(p Promise, came int) {
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
	d.readMemory(l.Shed)
	return d.gate.closed
}

// readMemory updates the memory in use, unless that was done just now. Freed memory shows only after a
// collection, which nothing may start while no request is admitted; so the limiter does.
func (d *Limiter) readMemory(shed int) {
	now := d.Now()
	if now.Sub(d.readAt) >= readEvery {
		used, cycles := d.Memory.Used()
		if cycles != d.cycles || d.readAt.IsZero() {
			d.promised, d.cycles, d.collectedAt = 0, cycles, now
		}
		d.used, d.readAt = used, now
	}
	seen, soon := d.used, d.used+d.promised
	if soon >= d.Memory.Limit {
		seen = soon // it may be garbage by now, but no collection has shown it
	}
	if d.gate.update(seen, d.Memory.Limit, shed) {
		d.logGate(shed)
	}
	if d.gate.closed && now.Sub(d.collectedAt) >= stale || soon >= mark(d.Memory.Limit, shed) &&
		seen < mark(d.Memory.Limit, shed) {
		d.collect()
	}
}

// collect collects garbage, once at a time.
func (d *Limiter) collect() {
	if d.collecting {
		return
	}
	d.collecting = true
	go func() {
		d.Memory.Collect()
		d.mu.Lock()
		d.collecting = false
		d.mu.Unlock()
	}()
}

func (d *Limiter) logGate(shed int) {
	log, text, event := d.Log.Info, "requests are let in again", "load_normal"
	if d.gate.closed {
		log, text, event = d.Log.Warn, "memory is nearly full: new requests get 503, those under way go on",
			"load_shed"
	}
	log(text, "event", event, "in_use", d.used, "limit", d.Memory.Limit, "percent", shed, "inside", d.active,
		"waiting", d.queue.size)
}

// Wait waits until a request of a session may be served. leave must be called at its end. The error is a
// *Refusal or the cause of the context.
func (d *Limiter) Wait(ctx context.Context, session string, l *Load) (leave func(), err error) {
	w := d.enter(session, l)
	if w == nil {
		return d.leave, nil
	}
	if w.in == nil {
		return nil, &Refusal{QueueFull, l.RetryAfter}
	}
	late := time.NewTimer(l.Wait)
	defer late.Stop()
	select {
	case <-w.in:
		return d.leave, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = &Refusal{WaitedTooLong, l.RetryAfter}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.queue.drop(session, w) { // it was let in just now, and does not want it any more
		d.active--
		d.admitNext()
	}
	return nil, err
}

// enter admits a request (nil) or lets it wait; a waiter without a channel may not even wait.
func (d *Limiter) enter(session string, l *Load) *waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.most = l.AtOnce; d.queue.size > 0 {
		d.admitNext() // there may be more room now
	}
	switch {
	case d.queue.size == 0 && d.active < d.most:
		d.active++
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
	d.active--
	d.admitNext()
}

// admitNext admits waiting requests as far as there is room.
func (d *Limiter) admitNext() {
	for d.active < d.most {
		w, ok := d.queue.next()
		if !ok {
			return
		}
		d.active++
		close(w.in)
	}
}

// LoadState is the state of a limiter.
type LoadState struct {
	Short           bool
	Inside, Waiting int
	Used, Limit     uint64 // bytes of memory; without a limit both are 0
}

// State returns the current state. It reads memory, as there may have been no request for a while.
func (d *Limiter) State(l *Load) LoadState {
	short := d.Short(l)
	d.mu.Lock()
	defer d.mu.Unlock()
	return LoadState{Short: short, Inside: d.active, Waiting: d.queue.size, Used: d.used,
		Limit: d.Memory.Limit}
}

// slack is how far, in percent of the limit, memory must fall below the mark before requests are admitted
// again. With one mark, every other request would be refused.
const slack = 10

// gate is closed while memory is short. Zero: open.
type gate struct{ closed bool }

// update takes the memory in use and the mark in percent, and reports whether the gate has moved.
func (g *gate) update(used, limit uint64, shed int) bool {
	full := limit > 0 && used >= mark(limit, shed)
	free := limit == 0 || used < mark(limit, shed-slack)
	was := g.closed
	g.closed = full || was && !free
	return g.closed != was
}

// mark returns a percentage of a limit.
func mark(limit uint64, percent int) uint64 { return limit / 100 * uint64(max(percent, 0)) }

// queue holds waiting requests: a line for each session, and the sessions in a ring. The head of a line
// waits for at most one request of each other session. Zero: empty.
type queue[T comparable] struct {
	lines map[string][]T
	ring  []string // sessions with a line; the first is next
	size  int
}

func (q *queue[T]) put(session string, t T) {
	if q.lines == nil {
		q.lines = map[string][]T{}
	}
	if len(q.lines[session]) == 0 {
		q.ring = append(q.ring, session)
	}
	q.lines[session] = append(q.lines[session], t)
	q.size++
}

// next removes the next request and moves its session to the end of the ring.
func (q *queue[T]) next() (t T, ok bool) {
	if q.size == 0 {
		return t, false
	}
	session := q.ring[0]
	q.ring = q.ring[1:]
	line := q.lines[session]
	t = line[0]
	if q.size--; len(line) == 1 {
		delete(q.lines, session)
	} else {
		q.lines[session] = line[1:]
		q.ring = append(q.ring, session)
	}
	return t, true
}

// drop removes a request that no longer waits and reports whether it was there.
func (q *queue[T]) drop(session string, t T) bool {
	line := q.lines[session]
	for i, each := range line {
		if each != t {
			continue
		}
		q.size--
		if len(line) > 1 {
			q.lines[session] = append(line[:i:i], line[i+1:]...)
			return true
		}
		delete(q.lines, session)
		for n, name := range q.ring {
			if name == session {
				q.ring = append(q.ring[:n:n], q.ring[n+1:]...)
				break
			}
		}
		return true
	}
	return false
}

// Load is the section load of limits.yaml.
type Load struct {
	Shed       int           `rule:"shed" min:"10" max:"100" doc:"From how many percent of the memory limit on new requests get 503. They are let in again ten percent below. Where there is no limit, nothing is refused." eg:"85"`
	RetryAfter time.Duration `rule:"retry_after" min:"1s" doc:"The header Retry-After of that 503." eg:"5s"`
	AtOnce     int           `rule:"at_once" min:"1" max:"1000000" doc:"How many requests are served at once. More wait, and one of each session is let in, in turn." eg:"10000"`
	Waiting    int           `rule:"waiting" min:"0" max:"1000000" doc:"How many requests may wait. Any more get 503." eg:"1000"`
	Wait       time.Duration `rule:"wait" min:"10ms" doc:"How long one may wait. Then it gets 503." eg:"30s"`
}

// UsualLoad returns the defaults of limits.yaml.
func UsualLoad() Load {
	return Load{Shed: 85, RetryAfter: 5 * time.Second, AtOnce: 10_000, Waiting: 1000, Wait: 30 * time.Second}
}

// Pace limits the requests of a session or a caller.
type Pace struct {
	AtOnce    int `rule:"at_once" min:"1" max:"1000000" doc:"Requests at the same time." eg:"32"`
	PerMinute int `rule:"per_minute" min:"1" max:"10000000" doc:"Requests in a minute, on average. As many may come in one burst." eg:"600"`
}
