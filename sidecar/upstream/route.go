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

// Route is one request's way to a server: those of its model in order, but first the one that
// has served its session last. It is for one goroutine.
type Route struct {
	f      *Fleet
	set    *ruleset.Set
	stops  []stop
	at     int  // of stops
	asked  int  // how many servers in this round
	forced bool // no circuit admitted a request when the round began: all servers are tried
	end    time.Time
	home   string // of the session; "": there is none, or no choice
	pass   state.CircuitPass
	inside bool // pass is to be given back
}

// stop is a server on the way.
type stop struct {
	*server
	name  string
	asked bool // in this round
}

// Route begins at the first server that may be asked. session may be "".
func (f *Fleet) Route(set *ruleset.Set, m ruleset.Model, session string) (*Route, error) {
	list := set.UpstreamsOf(m)
	r := &Route{f: f, set: set, stops: make([]stop, 0, len(list))}
	for _, u := range list {
		s, err := f.of(set, u.URL)
		if err != nil {
			return nil, err
		}
		// two names may be one server
		if !slices.ContainsFunc(r.stops, func(known stop) bool { return known.server == s }) {
			r.stops = append(r.stops, stop{server: s, name: u.Name})
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range r.stops {
		r.stops[i].name = f.name(set, m, r.stops[i].name, r.stops[i].server)
	}
	if len(r.stops) > 1 && session != "" {
		r.home = session + "\x00" + m.ID.Value
		if home := f.homes.Get(r.home); home != nil {
			for i := range r.stops {
				if r.stops[i].server == *home {
					s := r.stops[i]
					copy(r.stops[1:i+1], r.stops[:i])
					r.stops[0] = s
				}
			}
		}
	}
	r.begin()
	r.choose()
	return r, nil
}

// begin begins a round. Circuits that are all open tell no server from another. Then each may be asked: a
// server that fails some requests is worth more than none. The lock is held.
func (r *Route) begin() {
	r.asked, r.end, r.forced = 0, time.Time{}, false
	for i := range r.stops {
		r.stops[i].asked = false
	}
	r.forced = !slices.ContainsFunc(r.stops, r.admits)
}

// choose goes to the first server that was not asked in this round and may be. The lock is held.
func (r *Route) choose() bool {
	for i := range r.stops {
		if s := r.stops[i]; !s.asked && r.admits(s) {
			r.at = i
			return true
		}
	}
	return false
}

// admits reports whether a server may be asked: the only one always.
func (r *Route) admits(s stop) bool {
	return len(r.stops) == 1 || r.forced || s.circuit.Admits(r.f.Now(), r.set.Limits.Circuit)
}

// Several says that there is a choice.
func (r *Route) Several() bool { return len(r.stops) > 1 }

// Client is the server where the way stands, and Name what it is called.
func (r *Route) Client() *Client { return r.stops[r.at].client }
func (r *Route) Name() string    { return r.stops[r.at].name }

// Again begins another round, where the way stands.
func (r *Route) Again() {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.begin()
}

// Next goes to the next server that may be asked in this round. It reports whether there is one.
func (r *Route) Next() bool {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.stops[r.at].asked = true
	return r.choose()
}

// Enter takes leave to ask the server where the way stands. It is to be told what became of it,
// by Ended. A server that may be back, or has to be tried, is first asked for its models: if it
// is not there, that costs its caller little.
func (r *Route) Enter(ctx context.Context) bool {
	s := &r.stops[r.at]
	r.f.mu.Lock()
	ok := true
	if len(r.stops) == 1 || r.forced {
		r.pass = s.circuit.Force()
	} else {
		r.pass, ok = s.circuit.Enter(r.f.Now(), r.set.Limits.Circuit)
	}
	r.f.mu.Unlock()
	if r.inside = ok; !ok {
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

// Budget is how often the request may be sent again to the server where the way stands: hardly
// at all, where another one may be asked at once. But a kept connection that the server has
// closed must not cost a session its prompt cache.
func (r *Route) Budget() Budget {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	for i := range r.stops {
		if s := r.stops[i]; i != r.at && !s.asked && r.admits(s) {
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
	Answered Outcome = "answered" // it said why there is none, and that tells nothing against it
	Failed   Outcome = "failed"
	Canceled Outcome = "left" // the caller did, before there was anything
)

// Ended tells what became of the request that Enter has let in, once; later calls do nothing.
func (r *Route) Ended(o Outcome, why string) {
	if !r.inside {
		return
	}
	r.inside = false
	s, bounds := &r.stops[r.at], r.set.Limits.Circuit
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

// Why says of each server of the way why it cannot be asked now, how long it takes until one
// can, and whether all of them are away.
func (r *Route) Why() (why string, wait time.Duration, away bool) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	var each []string
	away = true
	for i := range r.stops {
		s := &r.stops[i]
		each = append(each, fmt.Sprintf("%s failed %d times in a row", s.name, s.circuit.Failures()))
		away = away && s.client.Away(r.set.Limits.Away)
		if left := s.circuit.Wait(r.f.Now(), r.set.Limits.Circuit); i == 0 || left < wait {
			wait = left
		}
	}
	return "none of its model servers can be asked now: " + strings.Join(each, ", "), max(wait, time.Second),
		away
}
