// Package provider starts the sidecar in front of a scripted model server, both over HTTP, and reads
// answers as a caller, for tests of all parts of an answer. It also has days of ordinary work from
// testdata/sessions, with what a sensible owner wants of each call.
package provider

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Sections returns the sections of rules that the servers use.
func Sections() []ruleset.Section {
	return []ruleset.Section{{Name: "trace", Holds: &telemetry.Words{}}}
}

// Loader returns a loader of rules with these sections.
func Loader() ruleset.Loader { return ruletest.Loader(Sections()...) }

// Two tools, one with a schema that can be violated.
const (
	execTool  = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"],"additionalProperties":false}}}`
	ReadTool  = `{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}`
	BothTools = `"tools":[` + execTool + `,` + ReadTool + `]`
)

// Setup changes the sidecar that most tests need.
type Setup struct {
	Key, Token string
	Keys       upstream.FleetKeys
	Server     string // dialect; "": probed
	Limits     func(*ruleset.Limits)
	Set        *ruleset.Set // nil: the shipped one
	URL        string       // of the model server instead of the given one
	World      guard.World
	Decisions  guard.DecisionLog
	Listening  func() map[int]bool // nil: as on this machine
	Confiner   guard.Confiner
	Memory     web.Memory
	Metrics    *telemetry.Metrics // nil: new ones
	Spans      *telemetry.Tracer
	JSON       bool          // the log is in JSON
	Level      slog.Leveler  // of the log; nil: all of it
	RoleWait   time.Duration // 0: as it is
	Names      web.Names
	Replicas   func() sidecar.Replicas
	Extend     func(*Server, *sidecar.Config) // adds a part; nil: none
}

// fixed is a constant rule set.
type fixed struct{ set *ruleset.Set }

func (f fixed) Set() *ruleset.Set { return f.set }
func (fixed) Trouble() string     { return "" }

// InForce are rules that a test can replace.
type InForce struct{ sidecar.Rules }

// Put puts a set into force.
func (r *InForce) Put(set *ruleset.Set) { r.Rules = fixed{set} }

// Server is a sidecar in front of a model server.
type Server struct {
	T       testing.TB
	Sidecar *sidecar.Server
	Guard   *guard.Guard
	URL     string
	HTTP    *http.Client
	Log     *ruletest.Journal
	Logger  *slog.Logger // writes log
	Metrics *telemetry.Metrics
	Rules   *InForce
	Model   *script.Server // nil if the test has its own
	Seen    func(*Answer)  // called after each event of a stream with the answer so far
}

// Play starts a sidecar in front of a server with these replies.
func Play(t testing.TB, replies ...script.Reply) *Server {
	t.Helper()
	return Start(t, Setup{}, script.New(script.Scenario{Steps: replies}))
}

// Start starts a sidecar in front of a model server.
func Start(t testing.TB, cfg Setup, model http.Handler) *Server {
	t.Helper()
	r := &Server{T: t, Log: &ruletest.Journal{}, Seen: func(*Answer) {}}
	r.Model, _ = model.(*script.Server)
	if cfg.URL == "" {
		up := httptest.NewServer(model)
		t.Cleanup(up.Close)
		cfg.URL = up.URL
	}
	options := &slog.HandlerOptions{Level: cfg.Level}
	if cfg.Level == nil {
		options.Level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(r.Log, options))
	if cfg.JSON {
		log = slog.New(telemetry.NewLogHandler(slog.NewJSONHandler(r.Log, options)))
	}
	if cfg.Listening == nil {
		cfg.Listening = state.Listening
	}
	rules, metrics := &InForce{fixed{changed(t, cfg)}}, cmp.Or(cfg.Metrics, telemetry.New())
	r.Rules, r.Metrics, r.Logger = rules, metrics, log
	up, err := upstream.New(upstream.Config{BaseURL: cfg.URL, Key: cfg.Key, Server: cfg.Server, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	r.Guard = guard.New(guard.Config{World: cfg.World, Listening: cfg.Listening, Decisions: cfg.Decisions,
		Confiner: cfg.Confiner, Approvals: guard.NewApprovals(rules.Set().Limits, time.Now, metrics, nil, ""),
		Now: time.Now, Metrics: metrics, Log: log})
	turns := turn.NewPlanner(turn.PlannerConfig{Keep: rules.Set().Limits.KeepLimits, Upstream: up,
		Keys: cfg.Keys, Guard: r.Guard, Metrics: metrics, Log: log})
	t.Cleanup(turns.Fleet.Close)
	c := sidecar.Config{Turns: turns, Rules: rules, Token: cfg.Token, Memory: cfg.Memory, Metrics: metrics,
		Log: log, RoleWait: cfg.RoleWait, Spans: cfg.Spans, Names: cfg.Names, Replicas: cfg.Replicas}
	if cfg.Extend != nil {
		cfg.Extend(r, &c)
	}
	r.Sidecar = sidecar.New(c)
	srv := httptest.NewServer(r.Sidecar.Handler())
	t.Cleanup(srv.Close)
	r.URL, r.HTTP = srv.URL, &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
	t.Cleanup(r.HTTP.CloseIdleConnections)
	return r
}

// Late is Failing with a reply that begins when the caller has the first event of a stream.
func Late(t testing.TB, cfg Setup, reply script.Reply) *Server {
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	reply.Until = begun
	r := Failing(t, cfg, reply)
	r.Seen = func(*Answer) { begin() }
	return r
}

// Failing plays one reply for ever.
func Failing(t testing.TB, cfg Setup, reply script.Reply) *Server {
	return Start(t, cfg, script.New(script.Scenario{Steps: []script.Reply{reply}, Loop: true}))
}

// changed returns the shipped set with the changes of cfg, and short waits.
func changed(t testing.TB, cfg Setup) *ruleset.Set {
	t.Helper()
	set := ruletest.Shipped(t, Sections()...)
	if cfg.Set != nil {
		mine := *cfg.Set
		set = &mine
	}
	set.Limits.RetryMin, set.Limits.RetryMax, set.Limits.Connect = 5*time.Millisecond, 50*time.Millisecond,
		time.Second
	if cfg.Limits != nil {
		cfg.Limits(&set.Limits)
	}
	return set
}

// Body returns a request body with more members before the usual ones.
func Body(more string) string {
	if more != "" {
		more += ","
	}
	return `{` + more + `"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`
}

// Streaming are the members of a request for a stream.
const Streaming = `"stream":true,"stream_options":{"include_usage":true}`

// Do sends a request until ctx ends.
func (r *Server) Do(ctx context.Context, method, path, body string, header ...string) (*http.Response,
	error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, strings.NewReader(body))
	if err != nil {
		r.T.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.HTTP.Do(req)
}

// Ask sends a request and reads the whole answer.
func (r *Server) Ask(method, path, body string, header ...string) *Answer {
	return r.Within(time.Minute, method, path, body, header...)
}

// Chat asks for a chat completion, or within InResponses for a response.
func (r *Server) Chat(body string, header ...string) *Answer {
	if os.Getenv(OtherAPI) != "" {
		return r.Ask(http.MethodPost, "/v1/responses", inResponses(r.T, body), header...)
	}
	return r.Ask(http.MethodPost, "/v1/chat/completions", body, header...)
}

// Within is Ask by a caller that leaves after d, but not before the headers.
func (r *Server) Within(d time.Duration, method, path, body string, header ...string) *Answer {
	ctx, cancel := context.WithTimeout(r.T.Context(), d)
	defer cancel()
	res, err := r.Do(ctx, method, path, body, header...)
	if err != nil {
		r.T.Fatal(err)
	}
	return followAnswer(r.T, res, r.Seen)
}

// Stream asks for a stream with both tools, Whole for one document.
func (r *Server) Stream() *Answer { return r.Chat(Body(Streaming + "," + BothTools)) }
func (r *Server) Whole() *Answer  { return r.Chat(Body(BothTools)) }

// Answer asks for a stream or a document, with both tools.
func (r *Server) Answer(mode string) *Answer {
	if mode == "stream" {
		return r.Stream()
	}
	return r.Whole()
}

// Plain asks for a stream or a document without tools.
func (r *Server) Plain(mode string) *Answer {
	if mode == "stream" {
		return r.Chat(Body(Streaming))
	}
	return r.Chat(Body(""))
}

// Scrape returns the page of metrics.
func (r *Server) Scrape() string {
	w := httptest.NewRecorder()
	r.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// UpstreamKey is a key that callers must not see.
const UpstreamKey = "my-own-key-1234"

// NoSecret checks that the upstream's key and address are not visible.
func (r *Server) NoSecret(a *Answer) {
	r.T.Helper()
	for _, secret := range []string{UpstreamKey, "10.0.0.7"} {
		if strings.Contains(a.Body, secret) || secret == UpstreamKey && strings.Contains(r.Log.String(),
			secret) {
			r.T.Errorf("%q in %s\nlog: %s", secret, a.Body, r.Log)
		}
	}
}

// Decisions is a decision log in memory.
type Decisions struct {
	mu   sync.Mutex
	List []decisions.Decision
	Err  error
}

// Add records a decision.
func (n *Decisions) Add(d decisions.Decision) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.List = append(n.List, d)
	return n.Err
}

// Within is a stop that gives open requests so long.
func Within(grace time.Duration) func() sidecar.Shutdown {
	return func() sidecar.Shutdown {
		until, done := context.WithTimeout(context.Background(), grace)
		context.AfterFunc(until, done)
		return sidecar.Shutdown{Until: until}
	}
}

// What OpenClaw 2026.9.6 says of the folders of an agent.
const (
	Workspace = "You are a personal assistant.\n## Workspace\nWorking directory: /home/sam/code/shop\nSingle global file workspace unless explicitly told otherwise.\n"
	Separate  = "## Directory Roles\nWorking directory: /home/sam/code/shop (tools and deliverables).\nAgent workspace: /home/sam/.openclaw/workspace (AGENTS.md/SOUL.md, other agent instructions).\n"
)
