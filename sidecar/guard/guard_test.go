package guard

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The guard's own folders are out of reach, by name and through links, and only they.
func TestOwnFolders(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules")
	ruletest.Must(t, os.Mkdir(rules, 0o755))
	ruletest.Must(t, os.Symlink(rules, filepath.Join(dir, "link")))
	set := ruletest.Shipped(t)
	for _, row := range []struct {
		world World
		path  string
		want  policy.Effect
	}{
		{World{}, rules + "/exec.yaml", policy.Allow},
		{NewWorld(Machine{Own: []string{"", rules}}), rules + "/exec.yaml", policy.Deny},
		{NewWorld(Machine{Own: []string{rules}}), dir + "/link/exec.yaml", policy.Deny},
		{NewWorld(Machine{Own: []string{dir + "/link"}}), rules + "/exec.yaml", policy.Deny},
		{NewWorld(Machine{Own: []string{rules}}), dir + "/rules2/exec.yaml", policy.Allow},
		{NewWorld(Machine{Own: []string{rules + "/../rules"}}), rules + "/exec.yaml", policy.Deny},
	} {
		got, err := row.world.Answer(set, &Question{Path: &row.path, Op: paths.Write})
		if err != nil || got.Effect != row.want {
			t.Errorf("%v %s: %+v %v", row.world, row.path, got, err)
		}
	}
}

// A question has one subject that can be understood.
func TestQuestionsThatAreNone(t *testing.T) {
	text := "x"
	for name, q := range map[string]*Question{
		"there is no question": {},
		"has one of":           {Command: &text, Path: &text},
		"needs":                {Tool: "read"},
		`"op" is "look"`:       {Path: &text, Op: "look"},
		"has no address":       {URL: &text, Resolve: Answers{}},
		"resolve: x: Parse":    {URL: &text, Resolve: Answers{"x": {[]byte(`"nowhere"`)}}},
	} {
		r, err := World{}.Answer(ruletest.Shipped(t), q)
		switch {
		case q.URL != nil: // who cannot be looked up is not asked, which is an answer
			if err != nil || r.Effect == policy.Allow {
				t.Errorf("%s: %+v %v", name, r, err)
			}
		case err == nil || !strings.Contains(err.Error(), name):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// newJudge judges under the shipped rules, with metrics and a log to look at.
func newJudge(t *testing.T) (j *judge, m *telemetry.Metrics, log *ruletest.Journal) {
	m, log = telemetry.New(), &ruletest.Journal{}
	g := New(Config{Now: time.Now, Metrics: m, Log: slog.New(slog.NewTextHandler(log, nil))})
	return &judge{Guard: g, set: ruletest.Shipped(t)}, m, log
}

// Rules of the same id in two files are told apart, and what allows a call is counted.
func TestDecisionsByFile(t *testing.T) {
	j, metrics, _ := newJudge(t)
	j.who.Model, j.set.Arms = "m", []string{"a/b", "c/d"}
	call := &tools.Call{}
	for _, d := range []policy.Decision{
		{Effect: policy.Deny, Rule: "x", Place: "exec.yaml:3"}, {Effect: policy.Deny, Rule: "x", Place: "policy/exec.yaml:9"},
		{Effect: policy.Deny}, {Effect: policy.Allow, Rule: "ls", Place: "exec.yaml:5"},
	} {
		j.report(call, d)
	}
	w := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`policy_decisions_total{arm="a/b c/d",effect="deny",file="exec.yaml",model="m",rule="x"} 1`,
		`policy_decisions_total{arm="a/b c/d",effect="deny",file="policy/exec.yaml",model="m",rule="x"} 1`,
		`policy_decisions_total{arm="a/b c/d",effect="deny",file="",model="m",rule="default"} 1`,
		`rule_hits_total{arm="a/b c/d",file="exec.yaml",model="m",rule="ls"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

// said is the result of a call.
func said(s string) func(int) string { return func(most int) string { return s[:min(len(s), most)] } }

// A gateway that runs at once what it was to ask about is told of once, and not trusted
// again on that channel.
func TestResultsShowWhoAsks(t *testing.T) {
	j, _, log := newJudge(t)
	asked := &tools.Call{Repairs: []tools.Repair{{Kind: askRepair}}}
	here, there := policy.Subject{Agent: "main", Channel: "telegram"}, policy.Subject{Agent: "main"}
	j.NoteDeparture("plain", here, &tools.Call{})
	j.Result(j.set, "plain", said("(no output)"))
	j.NoteDeparture("a1", here, asked)
	j.Result(j.set, "a1", said("Approval required (id 7)"))
	if log.Count("gateway_does_not_ask") != 0 {
		t.Errorf("told of a gateway that asks: %s", log)
	}
	j.NoteDeparture("a2", here, asked)
	j.NoteDeparture("a3", here, asked)
	j.Result(j.set, "a2", said("(no output)"))
	j.Result(j.set, "a3", said("(no output)"))
	if log.Count("gateway_does_not_ask") != 1 || j.asks.Trusts(asker(here), j.Now()) ||
		!j.asks.Trusts(asker(there), j.Now()) {
		t.Errorf("%s", log)
	}
	if said := log.String(); !strings.Contains(said, "agent=main channel=telegram call=a2") {
		t.Error(said)
	}
}

// The replica to which a result comes goes on from what another one has noted of its call, unless that
// is old.
func TestAwait(t *testing.T) {
	left, _, _ := newJudge(t)
	who := policy.Subject{Agent: "main", Channel: "telegram"}
	for name, row := range map[string]struct {
		mark   string
		result string
		old    time.Duration
		does   func(j *judge) bool
		want   bool
	}{
		"asks": {askRepair, "(no output)", 0,
			func(j *judge) bool { return j.asks.Trusts(asker(who), j.Now()) }, false},
		"asks, old": {askRepair, "(no output)", 2 * maxAwaited,
			func(j *judge) bool { return j.asks.Trusts(asker(who), j.Now()) }, true},
		"confined": {confineRepair,
			"sh: 1: gpt-oss-executor: not found\n\n(Command exited with code 127)", 0,
			func(j *judge) bool { return j.wrapped.CanConfine(asker(who), j.Now()) }, false},
		"confined, old": {confineRepair, "sh: 1: gpt-oss-executor: not found\n\n(Command exited with code 127)", 2 * maxAwaited, func(j *judge) bool { return j.wrapped.CanConfine(asker(who), j.Now()) }, true},
	} {
		awaited := left.NoteDeparture("call1", who, &tools.Call{Repairs: []tools.Repair{{Kind: row.mark}}})
		there, _, _ := newJudge(t)
		now := left.Now().Add(row.old)
		there.Now = func() time.Time { return now }
		there.Await("call1", who, awaited)
		there.Result(there.set, "call1", said(row.result))
		if got := row.does(there); got != row.want {
			t.Errorf("%s: %v after %q", name, got, awaited)
		}
	}
	if got := left.NoteDeparture("plain", who, &tools.Call{}); got != "" {
		t.Errorf("awaited: %q", got)
	}
	left.Await("x", who, "nothing that anybody says") // another version may
}

// A question may say where the agent works, as a gateway does.
func TestQuestionOfAWorkspace(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, c := range []struct {
		q    Question
		want policy.Effect
	}{
		{Question{Path: text("/srv/work/shop/a"), Op: paths.Write}, policy.Ask},
		{Question{Path: text("/srv/work/shop/a"), Op: paths.Write, Workspace: "/srv/work/shop"}, policy.Allow},
		{Question{Path: text("a"), Op: paths.Write, Workspace: "/srv/work/shop"}, policy.Allow},
		{Question{Command: text("rm a"), Workspace: "/srv/work/shop", Cwd: "/opt"}, policy.Ask},
		{Question{Path: text("/opt/a"), Op: paths.Write, Workspace: "/"}, policy.Ask},
		{Question{Command: text("rm a"), Workspace: "srv"}, policy.Allow}, // in the default workspace
	} {
		if got, err := (World{}).Answer(set, &c.q); err != nil || got.Effect != c.want {
			t.Errorf("%+v: %+v %v, want %s", c.q, got, err, c.want)
		}
	}
	for want, q := range map[string]Question{`cwd: "sub" is`: {Cwd: "sub"}, `home: "~" is`: {Home: "~"},
		`home: "a" is`: {Home: "a", Cwd: "/srv"}} {
		q.Command = text("ls")
		if _, err := (World{}).Answer(set, &q); err == nil ||
			!strings.Contains(err.Error(), want+" not an absolute path; begin it with /") {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func text(s string) *string { return &s }

// A running command reaches what its session has started, and never the guard: not the proxy
// that it comes through, either.
func TestConnection(t *testing.T) {
	listening := map[int]bool{8001: false, 9999: true}
	world := NewWorld(Machine{Servers: []string{"127.0.0.1:8001"}}).WithServer("127.0.0.1:40001")
	g := New(Config{World: world, Now: time.Now, Listening: func() map[int]bool { return listening },
		Metrics: telemetry.New(), Log: slog.New(slog.DiscardHandler)})
	who := policy.Subject{Session: "s1"}
	g.ports.Begin("s1", g.openPorts)
	listening = map[int]bool{8001: false, 9999: true, 5173: true, 40001: true}
	for server, want := range map[string]policy.Effect{
		"localhost:5173": policy.Allow, "localhost:9999": policy.Ask, "127.0.0.1:8001": policy.Deny,
		"127.0.0.1:40001": policy.Deny, "example.com:443": policy.Allow,
	} {
		if d := g.Connection(ruletest.Shipped(t), who, "exec", urls.Tunnel(server)); d.Effect != want {
			t.Errorf("%s: %s by %s, want %s", server, d.Effect, d.Rule, want)
		}
	}
	if d := g.Connection(ruletest.Shipped(t), policy.Subject{Session: "s2"}, "exec",
		urls.Tunnel("localhost:5173")); d.Effect != policy.Ask {
		t.Errorf("another session: %s by %s", d.Effect, d.Rule)
	}
}
