package sidecar

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admission"
	"github.com/jgavinray/gpt-oss-executor/sidecar/fleet"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/spans"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/tracectx"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// sections are what parts read of the rules that these tests work with.
func sections() []ruleset.Section {
	return []ruleset.Section{executor.Section(), {Name: "trace", Holds: &spans.Words{}}}
}

// loader compiles them.
func loader() ruleset.Loader { return ruletest.Loader(sections()...) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two tools, one with a schema that can be violated.
const (
	execTool = `{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"],"additionalProperties":false}}}`
	readTool = `{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}`
	bothTool = `"tools":[` + execTool + `,` + readTool + `]`
)

// setup is what differs from the sidecar that most tests need.
type setup struct {
	key, token string
	keys       fleet.Keys
	server     string // dialect; "": probed
	limits     func(*ruleset.Limits)
	set        *ruleset.Set // nil: the shipped one
	url        string       // of the model server, in place of the one that is given
	world      guard.World
	decisions  guard.DecisionLog
	listening  func() map[int]bool // nil: as on this machine
	confiner   guard.Confiner
	memory     admission.Memory
	sources    []executor.Source
	journal    *journal.Journal
	lab        *lab.Lab
	metrics    *telemetry.Metrics // nil: new ones
	spans      *spans.Tracer
	json       bool          // the log is in JSON
	roleWait   time.Duration // 0: as it is
}

// fixed is a rule set that stays.
type fixed struct{ set *ruleset.Set }

func (f fixed) Set() *ruleset.Set { return f.set }
func (fixed) Trouble() string     { return "" }

// rig is a sidecar in front of a model server, both over HTTP.
type rig struct {
	t     testing.TB
	s     *Server
	runs  *executor.Executor // nil: there is no source of tools
	guard *guard.Guard
	url   string
	http  *http.Client
	log   *ruletest.Journal
	model *script.Server // nil where the test brings its own
}

// play starts a sidecar in front of a server that gives these replies in order.
func play(t testing.TB, replies ...script.Reply) *rig {
	t.Helper()
	return start(t, setup{}, script.New(script.Scenario{Steps: replies}))
}

func start(t testing.TB, cfg setup, model http.Handler) *rig {
	t.Helper()
	r := &rig{t: t, log: &ruletest.Journal{}}
	r.model, _ = model.(*script.Server)
	if cfg.url == "" {
		up := httptest.NewServer(model)
		t.Cleanup(up.Close)
		cfg.url = up.URL
	}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if cfg.json {
		log = slog.New(tracectx.NewHandler(slog.NewJSONHandler(r.log,
			&slog.HandlerOptions{Level: slog.LevelDebug})))
	}
	if cfg.listening == nil {
		cfg.listening = state.Listening
	}
	rules, metrics := fixed{changed(t, cfg)}, cmp.Or(cfg.metrics, telemetry.New())
	up, err := upstream.New(upstream.Config{BaseURL: cfg.url, Key: cfg.key, Server: cfg.server, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	r.guard = guard.New(guard.Config{World: cfg.world, Listening: cfg.listening, Decisions: cfg.decisions,
		Confiner: cfg.confiner, Approvals: guard.NewApprovals(rules.Set().Limits, time.Now, metrics, nil),
		Now: time.Now, Metrics: metrics, Log: log})
	turns := turn.NewPlanner(turn.PlannerConfig{Keep: rules.Set().Limits.KeepLimits, Upstream: up,
		Keys: cfg.keys, Guard: r.guard, Metrics: metrics, Log: log})
	t.Cleanup(turns.Fleet.Close)
	c := Config{Turns: turns, Rules: rules, Token: cfg.token, Memory: cfg.memory, Metrics: metrics, Log: log,
		RoleWait: cfg.roleWait, Spans: cfg.spans}
	if len(cfg.sources) > 0 {
		r.runs = executor.New(executor.Config{Turns: turns, Guard: r.guard, Sources: cfg.sources,
			Journal: cfg.journal, Now: time.Now, Log: log})
		c.Answer = r.runs.Answer
	}
	if cfg.lab != nil {
		c.Watch = []turn.Watch{cfg.lab.Watch}
		c.Routes = []Route{{"POST /feedback", cfg.lab.ServeFeedback}}
	}
	r.s = New(c)
	srv := httptest.NewServer(r.s.Handler())
	t.Cleanup(srv.Close)
	r.url, r.http = srv.URL, &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
	t.Cleanup(r.http.CloseIdleConnections)
	return r
}

// changed is the shipped set with the changes of cfg. Waits are short.
func changed(t testing.TB, cfg setup) *ruleset.Set {
	t.Helper()
	set := ruletest.Shipped(t, sections()...)
	if cfg.set != nil {
		mine := *cfg.set
		set = &mine
	}
	set.Limits.RetryMin, set.Limits.RetryMax, set.Limits.Connect = 5*time.Millisecond, 50*time.Millisecond,
		time.Second
	if cfg.limits != nil {
		cfg.limits(&set.Limits)
	}
	return set
}

// asking is a request body with these members before the usual ones.
func asking(more string) string {
	if more != "" {
		more += ","
	}
	return `{` + more + `"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`
}

const streaming = `"stream":true,"stream_options":{"include_usage":true}`

// do sends a request that ends with ctx.
func (r *rig) do(ctx context.Context, method, path, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.http.Do(req)
}

// ask sends a request and reads the answer to its end, streamed or not.
func (r *rig) ask(method, path, body string, header ...string) *answer {
	return r.within(time.Minute, method, path, body, header...)
}

func (r *rig) chat(body string, header ...string) *answer {
	if os.Getenv(otherAPI) != "" {
		return r.ask(http.MethodPost, "/v1/responses", inResponses(r.t, body), header...)
	}
	return r.ask(http.MethodPost, "/v1/chat/completions", body, header...)
}

// within is ask by a caller who leaves after d. The headers must have come.
func (r *rig) within(d time.Duration, method, path, body string, header ...string) *answer {
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	res, err := r.do(ctx, method, path, body, header...)
	if err != nil {
		r.t.Fatal(err)
	}
	return readAnswer(r.t, res)
}

// stream asks for a stream with both tools, whole for one document.
func (r *rig) stream() *answer { return r.chat(asking(streaming + "," + bothTool)) }
func (r *rig) whole() *answer  { return r.chat(asking(bothTool)) }

// plain asks for a stream or a document, without tools: no user reads the answer.
func (r *rig) plain(mode string) *answer {
	if mode == "stream" {
		return r.chat(asking(streaming))
	}
	return r.chat(asking(""))
}
