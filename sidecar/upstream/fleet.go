package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// maxHomes is how many sessions keep their server.
const maxHomes = 4096

// FleetConfig configures a fleet. Main, Metrics, Now and Log must be set.
type FleetConfig struct {
	Main    *Client   // the server of the settings, which the caller closes
	Keys    FleetKeys // of the other servers
	Metrics *telemetry.Metrics
	Now     func() time.Time
	Log     *slog.Logger
}

// Fleet holds all model servers that got requests, one for each base URL. A server gets its own key and no
// other. It is safe for concurrent use.
type Fleet struct {
	FleetConfig

	mu     sync.Mutex
	byURL  map[string]*server   // as the rules spell it; "": the server of the settings
	byBase map[string]*server   // each server once
	homes  *recent.Map[*server] // by session and model
}

// server is a server of the fleet.
type server struct {
	client  *Client
	circuit state.Circuit // under Fleet.mu
}

// NewFleet returns a fleet with the server of the settings.
func NewFleet(c FleetConfig) *Fleet {
	main := &server{client: c.Main}
	return &Fleet{
		FleetConfig: c, byURL: map[string]*server{"": main}, byBase: map[string]*server{c.Main.Base(): main},
		homes: recent.New[*server](maxHomes, nil),
	}
}

// Close drops the idle connections of all servers but that of the settings.
func (f *Fleet) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.byBase {
		if s.client != f.Main {
			s.client.Close()
		}
	}
}

// server returns the server with a base URL, and makes it for its first request.
func (f *Fleet) server(set *ruleset.Set, url string) (*server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.byURL[url]; s != nil {
		return s, nil
	}
	client, err := New(Config{
		BaseURL: url, Key: f.Keys.key(url), Connect: set.Limits.Connect,
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

// FleetState is the state of a server.
type FleetState struct {
	Name     string             `json:"name"`
	State    state.CircuitState `json:"state"`
	Failures int                `json:"failures"`         // in a row
	Server   string             `json:"server,omitempty"` // dialect, if it can be reached
	Why      string             `json:"detail,omitempty"` // why it cannot
	Window   int                `json:"-"`                // context in tokens; 0: unknown
	Address  string             `json:"-"`                // for the operator
	Models   []string           `json:"-"`                // that it lists
	Learnt   []string           `json:"-"`                // see Client.Learnt

	client *Client
}

// States returns all servers of the models of a set, each once.
func (f *Fleet) States(set *ruleset.Set) []FleetState {
	var out []FleetState
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			s, err := f.server(set, u.URL)
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

// name returns the name of a server, without its address, which is the operator's.
func (f *Fleet) name(set *ruleset.Set, m ruleset.Model, fallback string, s *server) string {
	for _, known := range set.Upstreams {
		if f.byURL[known.URL] == s {
			return known.Name
		}
	}
	if fallback != "" {
		return fallback
	}
	for _, first := range set.Models {
		if first.Upstream.Value != "" && f.byURL[first.Upstream.Value] == s {
			m = first
			break
		}
	}
	return "of " + m.ID.Value
}

// Look returns States after asking all servers at once whether they can be reached.
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

// Ready returns why no server of a model would serve it; nil: one would.
func (f *Fleet) Ready(ctx context.Context, set *ruleset.Set, m ruleset.Model) error {
	route, err := f.Route(set, m, "")
	if err != nil {
		return err
	}
	failed := make([]error, len(route.candidates))
	var all sync.WaitGroup
	for i, s := range route.candidates {
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

// FleetKeys are the bearer tokens of model servers by base URL.
type FleetKeys map[string]string

// ParseKeys reads a URL and its key from each line.
func ParseKeys(text string) (FleetKeys, error) {
	keys := FleetKeys{}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d words; write the base URL of a model server and its key: http://gpu.lan:8000/v1 KEY", n+1, len(fields))
		}
		if strings.Contains(fields[1], "://") {
			return nil, fmt.Errorf("line %d: the base URL comes first, and its key behind it", n+1)
		}
		base, err := Base(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if _, twice := keys[base]; twice {
			return nil, fmt.Errorf("line %d: this server has a key already", n+1)
		}
		keys[base] = fields[1]
	}
	return keys, nil
}

// OtherKeys returns the keys of all servers but that of the settings.
func OtherKeys(s config.Settings) (FleetKeys, error) {
	keys, err := ParseKeys(s.UpstreamKeys)
	if err != nil {
		return nil, fmt.Errorf("upstream_keys: %w", err)
	}
	main, err := Base(s.Upstream)
	if err != nil {
		return nil, err
	}
	if _, both := keys[main]; both {
		return nil, errors.New("upstream_keys: the model server of the settings is among these; its key is upstream_key")
	}
	return keys, nil
}

// Unused returns the hosts whose key no model of the set needs.
func (k FleetKeys) Unused(set *ruleset.Set) (hosts []string) {
	needed := map[string]bool{}
	for _, m := range set.Models {
		for _, u := range set.UpstreamsOf(m) {
			if base, err := Base(u.URL); err == nil {
				needed[base] = true
			}
		}
	}
	for base := range k {
		if u, err := url.Parse(base); err == nil && !needed[base] {
			hosts = append(hosts, u.Host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// ConfigOf returns the configuration of a client of one server, for commands that do not serve.
func ConfigOf(s config.Settings, u ruleset.Upstream) (Config, error) {
	keys, err := OtherKeys(s)
	if err != nil {
		return Config{}, err
	}
	main := Config{BaseURL: s.Upstream, Key: s.UpstreamKey, Server: s.Server}
	if base, err := Base(u.URL); u.URL != "" && err == nil {
		if own, err := Base(s.Upstream); err == nil && own == base {
			return main, nil
		}
		return Config{BaseURL: u.URL, Key: keys.key(u.URL)}, nil
	}
	return main, nil
}

// key returns the key of a server; "": none.
func (k FleetKeys) key(url string) string {
	base, err := Base(url)
	if err != nil {
		return ""
	}
	return k[base]
}
