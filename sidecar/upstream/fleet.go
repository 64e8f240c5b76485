package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// maxHomes is of how many sessions is remembered where they were served last.
const maxHomes = 4096

// FleetConfig is what a fleet works with. Main, Metrics, Now and Log must be set.
type FleetConfig struct {
	Main    *Client   // of the settings; it stays the caller's to close
	Keys    FleetKeys // of the other servers
	Metrics *telemetry.Metrics
	Now     func() time.Time
	Log     *slog.Logger
}

// Fleet is all model servers that requests were sent to. A server is one base URL, by whatever
// name. Each gets the key that was set for it, and no other. Safe for concurrent use.
type Fleet struct {
	FleetConfig

	mu     sync.Mutex
	byURL  map[string]*server   // as the rules spell it; "": the one of the settings
	byBase map[string]*server   // the same, once each
	homes  *recent.Map[*server] // by session and model
}

// server is one of them.
type server struct {
	client  *Client
	circuit state.Circuit // under Fleet.mu
}

// NewFleet begins with the server of the settings.
func NewFleet(c FleetConfig) *Fleet {
	main := &server{client: c.Main}
	return &Fleet{
		FleetConfig: c, byURL: map[string]*server{"": main}, byBase: map[string]*server{c.Main.Base(): main},
		homes: recent.New[*server](maxHomes, nil),
	}
}

// Close drops the idle connections of all but the server of the settings.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.byBase {
		if s.client != f.Main {
			s.client.Close()
		}
	}
}

// of is the server with a base URL; it comes into being with the first request for it.
func (f *Fleet) of(set *ruleset.Set, url string) (*server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.byURL[url]; s != nil {
		return s, nil
	}
	client, err := New(Config{
		BaseURL: url, Key: f.Keys.of(url), Connect: set.Limits.Connect,
		IdleConnections: set.Limits.IdleConnections, Log: f.Log,
	})
	if err != nil {
		return nil, err
	}
	s := f.byBase[client.Base()]
	if s == nil {
		s = &server{client: client}
		f.byBase[client.Base()] = s
	}
	f.byURL[url] = s
	return s, nil
}

// FleetState is how a server of the rules is.
type FleetState struct {
	Name     string             `json:"name"`
	State    state.CircuitState `json:"state"`
	Failures int                `json:"failures"`         // in a row
	Server   string             `json:"server,omitempty"` // its dialect, where it can be reached
	Why      string             `json:"detail,omitempty"` // why it cannot
	Window   int                `json:"-"`                // of its context, in tokens; 0: it does not say
	Address  string             `json:"-"`                // for the operator alone
	Models   []string           `json:"-"`                // that it lists
	Learnt   []string           `json:"-"`                // of it while it was asked, in sentences

	client *Client
}

// States are all servers that the models of a set may be asked at, each once.
func (f *Fleet) States(set *ruleset.Set) []FleetState {
	var out []FleetState
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			s, err := f.of(set, u.URL)
			if err != nil || slices.ContainsFunc(out,
				func(o FleetState) bool { return o.client == s.client }) {
				continue // the rules have checked the URL
			}
			f.mu.Lock()
			out = append(out, FleetState{
				Name: f.name(set, m, u.Name, s), State: s.circuit.State(f.Now(), set.Limits.Circuit),
				Failures: s.circuit.Failures(), Address: s.client.Address(), client: s.client,
			})
			f.mu.Unlock()
		}
	}
	return out
}

// name is what a server is called. Its address is the operator's alone.
func (f *Fleet) name(set *ruleset.Set, m ruleset.Model, said string, s *server) string {
	for _, known := range set.Upstreams {
		if f.byURL[known.URL] == s {
			return known.Name
		}
	}
	if said != "" {
		return said
	}
	for _, first := range set.Models {
		if first.Upstream.Value != "" && f.byURL[first.Upstream.Value] == s {
			m = first
			break
		}
	}
	return "of " + m.ID.Value
}

// Look is States after each server was asked whether it can be reached, all at once.
func (f *Fleet) Look(ctx context.Context, set *ruleset.Set) []FleetState {
	out := f.States(set)
	var all sync.WaitGroup
	for i := range out {
		all.Go(func() {
			s := &out[i]
			if err := s.client.Ready(ctx, set.Limits.ProbeTimeout); err != nil {
				s.Why = err.Error()
				return
			}
			srv := s.client.Server(ctx, set)
			sent, _ := s.client.Model(ctx, set, set.Models[0], set.Models[0].ID.Value)
			s.Server, s.Window = srv.ID.Value, s.client.Window(srv, sent.Name)
			s.Models, s.Learnt = s.client.Models(ctx, set), s.client.Learnt()
		})
	}
	all.Wait()
	return out
}

// Ready says why no server of a model would serve it; nil: one would.
func (f *Fleet) Ready(ctx context.Context, set *ruleset.Set, m ruleset.Model) error {
	route, err := f.Route(set, m, "")
	if err != nil {
		return err
	}
	failed := make([]error, len(route.stops))
	var all sync.WaitGroup
	for i, s := range route.stops {
		all.Go(func() {
			err := s.client.Ready(ctx, set.Limits.ProbeTimeout)
			if err == nil {
				_, err = s.client.Model(ctx, set, m, m.ID.Value)
			}
			if err != nil {
				failed[i] = fmt.Errorf("%s: %w", s.name, err)
			}
		})
	}
	all.Wait()
	if slices.Contains(failed, nil) {
		return nil
	}
	return errors.Join(failed...)
}
