package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gatewayWith answers as a real one does: 401 without its token, 404 for tools that it lacks, 400
// for calls without an argument that must be there.
func gatewayWith(t *testing.T, lacks ...string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var o struct{ Name string }
		err := json.NewDecoder(r.Body).Decode(&o)
		status, kind := http.StatusBadRequest, "invalid_request"
		switch {
		case r.Header.Get("Authorization") != "Bearer right":
			status, kind = http.StatusUnauthorized, "unauthorized"
		case err != nil:
		case strings.HasPrefix(o.Name, "gpt_oss"), slices.Contains(lacks, o.Name):
			status, kind = http.StatusNotFound, "not_found"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"ok":false,"error":{"type":%q,"message":"no"}}`, kind)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestGateway(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, "<html>")
	}))
	t.Cleanup(stranger.Close)
	for _, row := range []struct {
		what, url, token, name string
		status                 openclaw.Status
		found, fix             string
	}{
		{"well", gatewayWith(t), "right", "gateway_tools", ok, "has the tools", ""},
		{"well", gatewayWith(t), "right", "gateway_token", ok, "accepts", ""},
		{"down", "http://127.0.0.1:1", "right", "gateway", fail, "cannot be reached", "openclaw gateway start"},
		{"a wrong token", gatewayWith(t), "wrong", "gateway_token", fail, "does not accept the token", "OPENCLAW_GATEWAY_TOKEN"},
		{"no token", gatewayWith(t), "", "gateway_token", fail, "wants a token, and none is set", "OPENCLAW_GATEWAY_TOKEN"},
		{"no gateway", stranger.URL, "right", "gateway", fail, "is no gateway", "--gateway http://127.0.0.1:18789"},
		{"no address", "ftp://x", "right", "gateway", fail, "no address of a gateway", "--gateway"},
		{"a tool is missing", gatewayWith(t, "web_fetch"), "right", "gateway_tools", warn, "does not have web_fetch", "gateway.yaml"},
	} {
		t.Run(row.what+" "+row.name, func(t *testing.T) {
			p := patient(t, nil)
			p.Settings.Parts = []any{&run.Settings{Gateway: row.url, GatewayToken: row.token}}
			list := p.gateway(context.Background())
			c := find(t, list, row.name)
			if c.Status != row.status || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.fix) {
				t.Errorf("%+v", c)
			}
			if row.token != "" && strings.Contains(fmt.Sprint(list), row.token+" ") {
				t.Errorf("the token is shown: %+v", list)
			}
		})
	}
}

// broken is a config in which most is wrong; comments of others stand in it.
const broken = `{
  // ours to keep
  "gateway": { "port": 18789, "auth": { "token": "s3cret-of-the-gateway" } },
  "models": { "providers": { "gpt-oss-executor": {
    "baseUrl": "http://127.0.0.1:8001", "api": "anthropic-messages", "timeoutSeconds": 30,
    "models": [{ "id": "gpt-oss", "name": "x", "contextWindow": 4096, "maxTokens": 512, "compat": { "supportsTools": false, "supportsStore": false } }] } } },
  "agents": { "defaults": { "workspace": "/srv/agent" } },
  "tools": { "toolSearch": { "mode": "tools" }, "exec": { "security": "full", "ask": "off" } },
}`

func TestConfigIsMended(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no OpenClaw that is asked; e2e asks the real one
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	d := script.VLLM()
	p := patient(t, servers.New(d, servers.StartOf(d, good["vllm"])))
	p.Settings.Token = "s3cret-of-ours"
	p.Config = filepath.Join(t.TempDir(), "openclaw.json")
	if err := os.WriteFile(p.Config, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	before := p.Examine(ctx)
	for _, name := range []string{"config_provider", "config_api", "config_api_key", "config_exec"} {
		if c := find(t, before.Checks, name); c.Status != fail ||
			!strings.Contains(c.Fix, "openclaw --write "+p.Config) {
			t.Errorf("%+v", c)
		}
	}
	did := p.Mend(ctx, before)
	if want := []string{"merged the settings into " + p.Config}; !slices.Equal(did, want) {
		t.Errorf("did %q", did)
	}
	after := p.Examine(ctx)
	// openclaw --write leaves it; its fix says what a person does
	left := find(t, after.Checks, "config_compat")
	if left.Status != fail || !strings.Contains(left.Fix, "leave supportsTools out") ||
		strings.Contains(left.Fix, "--write") {
		t.Errorf("%+v", left)
	}
	rest, err := os.ReadFile(p.Config)
	if err == nil {
		err = os.WriteFile(p.Config, []byte(testkit.Replace(t, string(rest), `"supportsTools": false, `, "", 1)),
			0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	after = p.Examine(ctx)
	for _, c := range after.Checks {
		if strings.HasPrefix(c.Name, "config") && c.Status != ok {
			t.Errorf("after: %+v", c)
		}
	}
	text, err := os.ReadFile(p.Config)
	if err != nil || !strings.Contains(string(text), "// ours to keep") ||
		!strings.Contains(string(text), "s3cret-of-the-gateway") ||
		strings.Contains(string(text), "s3cret-of-ours") {
		t.Errorf("%v\n%s", err, text)
	}
	kept, err := filepath.Glob(p.Config + ".gpt-oss-executor-*.bak")
	if err != nil || len(kept) != 1 {
		t.Errorf("backups: %v %v", kept, err)
	}
	if did := p.Mend(ctx, after); did != nil && strings.Contains(fmt.Sprint(did), "merged") {
		t.Errorf("again: %q", did)
	}
	if said := fmt.Sprint(before, after, p.Progress); strings.Contains(said, "s3cret") {
		t.Errorf("a secret is shown:\n%s", said)
	}
}

func TestConfigThatCannotBeRead(t *testing.T) {
	p := patient(t, nil)
	p.Settings.Upstream = "http://127.0.0.1:1"
	for text, want := range map[string]string{"": "there is no such file",
		"{ a: ": "the name a stands without quotes", "[]": "the config is a list"} {
		p.Config = filepath.Join(t.TempDir(), "openclaw.json")
		if text != "" {
			if err := os.WriteFile(p.Config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, list := p.config(context.Background())
		if c := find(t, list, "config"); c.Status != fail || !strings.Contains(c.Found, want) || c.Fix == "" {
			t.Errorf("%q: %+v", text, c)
		}
		if did := p.Mend(context.Background(), &Diagnosis{list}); did != nil {
			t.Errorf("%q: did %q", text, did)
		}
	}
}

// Each folder that is wrong is mended by what the finding says, or says who can.
func TestFolders(t *testing.T) {
	for name, row := range map[string]struct {
		make       func(t *testing.T, dir string) error
		status     openclaw.Status
		found, fix string
		mends      bool
	}{
		"well": {func(_ *testing.T, dir string) error { return os.Mkdir(dir, 0o700) }, ok,
			"ours alone", "", false},
		"not there": {func(*testing.T, string) error { return nil }, warn, "is not there yet",
			"mkdir -p -m 700 ", true},
		"others write": {func(_ *testing.T,
			dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777))
		}, fail, "others may write", "chmod 700 ", true},
		"others read": {func(_ *testing.T,
			dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755))
		}, warn, "others may read", "chmod 700 ", true},
		"a file": {func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) }, fail,
			"is no folder", "--state", false},
		"not for us": {func(_ *testing.T, dir string) error { return os.Mkdir(dir, 0o500) }, fail,
			"this user may not write", "chmod u+rwx ", false},
		"below nothing": {func(_ *testing.T, dir string) error { return os.WriteFile(filepath.Dir(dir), nil, 0o600) }, fail, "not a directory", "another folder", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if name == "below nothing" {
				dir += "/below"
			}
			if err := row.make(t, dir); err != nil {
				t.Fatal(err)
			}
			p := patient(t, nil)
			s := config.Settings{State: dir}
			c := find(t, folders(s, os.Stat), "state")
			if c.Status != row.status || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.fix) {
				t.Errorf("%+v", c)
			}
			did := p.Mend(context.Background(), &Diagnosis{[]Check{c}})
			if (len(did) > 0) != row.mends {
				t.Errorf("did %q", did)
			}
			if c := find(t, folders(s, os.Stat), "state"); row.mends && c.Status != ok {
				t.Errorf("mended: %+v", c)
			}
		})
	}
	if c := find(t, folders(config.Settings{}, os.Stat), "state"); c.Status != warn ||
		!strings.Contains(c.Fix, "serve --state") {
		t.Errorf("%+v", c)
	}
}

func TestWorkspace(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	file := filepath.Join(here, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		set        string
		may, named []string
		status     openclaw.Status
		found, fix string
	}{
		"none":          {"", []string{here}, nil, ok, "the gateway says", ""},
		"the gateway's": {"", []string{here}, []string{there}, ok, there, ""},
		"the same":      {here, []string{here, "/tmp"}, []string{here}, ok, here, ""},
		"below":         {here, []string{filepath.Dir(here)}, []string{here}, warn, "which counts", ""},
		"elsewhere": {here, []string{here}, []string{there}, fail, "the gateway works in " + there,
			"--workspace " + there},
		"not there": {here + "/gone", []string{here + "/gone"}, nil, fail, "is not there",
			"mkdir -p " + here + "/gone"},
		"a file": {file, []string{file}, nil, fail, "is no folder", "--workspace"},
		"locked": {here, []string{there}, nil, warn, "which counts", "--workspace " + there},
		"gateway's, bad": {"", nil, []string{"/etc"}, fail, "does not take over",
			"agents.defaults.workspace"},
		"gateway's, gone": {"", nil, []string{here + "/gone"}, warn, "which is not there", "mkdir -p "},
	} {
		t.Run(name, func(t *testing.T) {
			w := workFolders{set: row.set, fixed: row.set != "", may: row.may, named: row.named,
				takes: func(dir string) bool { return dir != "/etc" }}
			c := w.checks(os.Stat)[0]
			if c.Status != row.status || !strings.Contains(c.Found, row.found) ||
				!strings.Contains(c.Fix, row.fix) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// What the policy takes over as a workspace is what the guard says, not a copy of it.
func TestWorkspaceByTheGuard(t *testing.T) {
	p := patient(t, nil)
	if c := p.workspace([]string{"/etc"})[0]; c.Status != fail ||
		!strings.Contains(c.Found, "does not take over") {
		t.Errorf("%+v", c)
	}
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if c := p.workspace([]string{dir})[0]; c.Status != ok {
		t.Errorf("%+v", c)
	}
}

// A model server that repeats its key does not get it into the report, and one that only the
// models name is told from the main one.
func TestSecretsAndOtherServers(t *testing.T) {
	echo := script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		r := script.Text("You said " + q.Header.Get("Authorization"))
		return &r
	}})
	p := patient(t, echo)
	p.Settings.UpstreamKey = "k-12345678"
	second := httptest.NewServer(servers.New(servers.SGLang(), servers.StartOf(servers.SGLang(),
		good["sglang"])))
	t.Cleanup(second.Close)
	p.Set.Models = slices.Clone(p.Set.Models)
	p.Set.Models[1].Upstream.Value = second.URL + "/v1"
	r := p.Examine(context.Background())
	if said := fmt.Sprint(r); strings.Contains(said, "k-12345678") ||
		!strings.Contains(said, "You said Bearer [secret]") {
		t.Errorf("%s", said)
	}
	name := "@" + strings.TrimPrefix(second.URL, "http://")
	if a, b := find(t, r.Checks, "dialect"), find(t, r.Checks, "dialect"+name); !strings.HasPrefix(a.Found,
		"vllm") || !strings.HasPrefix(b.Found, "sglang") {
		t.Errorf("%+v %+v", a, b)
	}
}

// A gateway and servers that never answer hold nobody up for longer than he waits.
func TestStopped(t *testing.T) {
	p := patient(t, script.New(script.Scenario{Steps: []script.Reply{script.Reply{}.Ending(script.Hang)},
		Loop: true}))
	ctx, cancel := context.WithCancel(context.Background())
	p.Progress = stopper{cancel}
	if c := find(t, p.Examine(ctx).Checks, "tool_calls"); c.Status != warn ||
		!strings.Contains(c.Found, "could not be told") {
		t.Errorf("%+v", c)
	}
}

// stopper stops as soon as a question is put.
type stopper struct{ stop context.CancelFunc }

func (s stopper) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "asking for a call") {
		s.stop()
	}
	return len(line), nil
}

func TestRules(t *testing.T) {
	p := patient(t, nil)
	if c := p.rules()[0]; c.Status != ok || !strings.Contains(c.Found, p.Set.Version) {
		t.Errorf("%+v", c)
	}
	p.Rules = RulesFound{Folder: "mine", Problems: rulefile.Problems{
		{File: "exec.yaml", Line: 3, Col: 5, Code: "E-name", Msg: "no txt here", Hint: "did you mean text?"},
		{File: "exec.yaml", Line: 9, Col: 1, Code: "W-x", Msg: "it does nothing", Warning: true}}}
	list := p.rules()
	if list[0].Status != fail || list[0].Found != "exec.yaml:3:5: no txt here [E-name]" ||
		list[0].Fix != "did you mean text?; gpt-oss-executor check mine shows it" || list[1].Status != warn {
		t.Errorf("%+v", list)
	}
	p.Rules = RulesFound{Folder: "mine", Err: errors.New("read rules: gone")}
	if c := p.rules()[0]; c.Status != fail || !strings.Contains(c.Fix, "gpt-oss-executor init mine") {
		t.Errorf("%+v", c)
	}
	if c := profile(p.Set, "mine"); c.Status != ok || !strings.Contains(c.Found, p.Set.Profile()) {
		t.Errorf("%+v", c)
	}
}

func TestAgents(t *testing.T) {
	got := agents([]byte(`{"agents": {"defaults": {"workspace": "~/a"}, "list": [{"id": "x"}, {"id": "y", "workspace": "/srv/y/"}, {"workspace": "${W}"}, {"workspace": 3}]}}`), "/home/sam")
	if want := []string{"/home/sam/a", "/srv/y"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := agents([]byte("{"), ""); got != nil {
		t.Errorf("%q", got)
	}
}
