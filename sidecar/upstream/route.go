package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

// Route leads a request to a server: to those of its model in order, but first to the one that served its
// session last. It is for one goroutine.
type Route struct {
	f          *Fleet
	set        *ruleset.Set
	candidates []candidate
	at         int  // index of the current server
	asked      int  // servers asked in this round
	forced     bool // no circuit admitted a request at the start of the round, so all servers are tried
	end        time.Time
	home       string // key of the session; "": none, or no choice
	pass       state.CircuitPass
	entered    bool // pass must be given back
}

// candidate is a server that may be asked.
type candidate struct {
	*server
	name  string
	asked bool // in this round
}

// Route returns a route at the first server that may be asked. session may be "".
func (f *Fleet) Route(set *ruleset.Set, m ruleset.Model, session string) (*Route, error) {
	list := set.UpstreamsOf(m)
	r := &Route{f: f, set: set, candidates: make([]candidate, 0, len(list))}
	for _, u := range list {
		s, err := f.server(set, u.URL)
		if err != nil {
			return nil, err
		}
		// two names may be one server
		if !slices.ContainsFunc(r.candidates, func(known candidate) bool { return known.server == s }) {
			r.candidates = append(r.candidates, candidate{server: s, name: u.Name})
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range r.candidates {
		r.candidates[i].name = f.name(set, m, r.candidates[i].name, r.candidates[i].server)
	}
	if len(r.candidates) > 1 && session != "" {
		r.home = session + "\x00" + m.ID.Value
		if home := f.homes.Get(r.home); home != nil {
			for i := range r.candidates {
				if r.candidates[i].server == *home {
					s := r.candidates[i]
					copy(r.candidates[1:i+1], r.candidates[:i])
					r.candidates[0] = s
				}
			}
		}
	}
	r.begin()
	r.choose()
	return r, nil
}

// begin begins a round. If all circuits are open, each server may be asked: one that fails some requests is
// worth more than none. The lock is held.
func (r *Route) begin() {
	r.asked, r.end, r.forced = 0, time.Time{}, false
	for i := range r.candidates {
		r.candidates[i].asked = false
	}
	r.forced = !slices.ContainsFunc(r.candidates, r.admits)
}

// choose moves to the first server that may be asked and was not in this round. The lock is held.
func (r *Route) choose() bool {
	for i := range r.candidates {
		if s := r.candidates[i]; !s.asked && r.admits(s) {
			r.at = i
			return true
		}
	}
	return false
}

// admits reports whether a server may be asked. A single one always may.
func (r *Route) admits(s candidate) bool {
	return len(r.candidates) == 1 || r.forced || s.circuit.Admits(r.f.Now(), r.set.Limits.Circuit)
}

// Several reports whether there is a choice of servers.
func (r *Route) Several() bool { return len(r.candidates) > 1 }

// Client returns the current server, Name its name.
func (r *Route) Client() *Client { return r.candidates[r.at].client }
func (r *Route) Name() string    { return r.candidates[r.at].name }

// Again begins another round at the current server.
func (r *Route) Again() {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.begin()
}

// Next moves to the next server of this round and reports whether there is one.
func (r *Route) Next() bool {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.candidates[r.at].asked = true
	return r.choose()
}

// Enter reserves a request to the current server; Ended must follow. A server that may be back is first
// asked for its models, which costs the caller little if it is not.
func (r *Route) Enter(ctx context.Context) bool {
	s := &r.candidates[r.at]
	r.f.mu.Lock()
	ok := true
	if len(r.candidates) == 1 || r.forced {
		r.pass = s.circuit.Force()
	} else {
		r.pass, ok = s.circuit.Enter(r.f.Now(), r.set.Limits.Circuit)
	}
	r.f.mu.Unlock()
	if r.entered = ok; !ok {
		return false
	}
	if r.end.IsZero() {
		r.end = Retries(&r.set.Limits).End
	}
	r.asked++
	if !r.pass.Trial && !r.forced {
		return true
	}
	if err := s.client.Ready(ctx, r.set.Limits.ProbeTimeout); err != nil {
		r.Ended(Failed, err.Error())
		return false
	}
	return true
}

// Budget returns how often the request may be sent again to the current server: hardly at all if another
// one may be asked. But a kept connection that the server has closed must not cost a session its prompt
// cache.
func (r *Route) Budget() Budget {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	for i := range r.candidates {
		if s := r.candidates[i]; i != r.at && !s.asked && r.admits(s) {
			return Budget{Retries: 1, End: r.end, Next: true}
		}
	}
	return Budget{Retries: max(0, r.set.Limits.Retries-r.asked+1), End: r.end}
}

// Outcome is what became of a request to a server.
type Outcome string

// The outcomes.
const (
	Served   Outcome = "served"   // a reply has begun
	Answered Outcome = "answered" // it said why there is no reply, which is no fault of the server
	Failed   Outcome = "failed"
	Canceled Outcome = "left" // the caller left before there was anything
)

// Ended reports the outcome of an entered request. Later calls do nothing.
func (r *Route) Ended(o Outcome, why string) {
	if !r.entered {
		return
	}
	r.entered = false
	s, bounds := &r.candidates[r.at], r.set.Limits.Circuit
	r.f.mu.Lock()
	now := r.f.Now()
	was := s.circuit.State(now, bounds)
	switch o {
	case Failed:
		s.circuit.Failed(r.pass, now, bounds)
	case Canceled:
		s.circuit.Cancel(r.pass)
	default:
		s.circuit.Succeeded(r.pass)
	}
	if o == Served && r.home != "" {
		home, _ := r.f.homes.Use(r.home)
		*home = s.server
	}
	is, failures := s.circuit.State(now, bounds), s.circuit.Failures()
	r.f.mu.Unlock()
	r.f.Metrics.Upstreams.WithLabelValues(s.name, string(o)).Inc()
	switch {
	case is == was || !r.Several():
	case is == state.CircuitOpen:
		r.f.Log.Warn("a model server is left alone for a while", "event", "circuit_opened",
			"upstream", s.name, "failures", failures, "for", bounds.Open, "detail", why)
	case is == state.CircuitClosed:
		r.f.Log.Info("a model server is back", "event", "circuit_closed", "upstream", s.name)
	}
}

// Why returns why each server cannot be asked now, how long until one can, and whether all of them are
// away.
func (r *Route) Why() (why string, wait time.Duration, away bool) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	var each []string
	away = true
	for i := range r.candidates {
		s := &r.candidates[i]
		each = append(each, fmt.Sprintf("%s failed %d times in a row", s.name, s.circuit.Failures()))
		away = away && s.client.Away(r.set.Limits.Away)
		if delay := s.circuit.Wait(r.f.Now(), r.set.Limits.Circuit); i == 0 || delay < wait {
			wait = delay
		}
	}
	return "none of its model servers can be asked now: " + strings.Join(each, ", "), max(wait, time.Second),
		away
}
