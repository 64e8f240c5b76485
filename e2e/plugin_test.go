package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// TestPluginAlone runs the plugin's own tests, with the Node of the gateway.
func TestPluginAlone(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	t.Log(do(t, "../plugin", node(t), "--test", "test/policy.test.js"))
}

// appending is a command that a person is asked about, and that leaves a line for each run.
func appending(file string) string { return `python3 -c 'open("` + file + `","a").write("ran\n")'` }

// pluginScenarios are turns of a model that does not run through us.
func pluginScenarios(t *testing.T, forbidden string) (out []script.Scenario) {
	t.Helper()
	for id, steps := range map[string][]script.Reply{
		"plain":   {script.Native("exec", command("touch plain"))},
		"denied":  {script.Native("exec", command("touch "+forbidden))},
		"write":   {script.Native("write", `{"path":`+quoted(forbidden)+`,"content":"x"}`)},
		"once":    {script.Native("exec", command(appending("once")))},
		"no":      {script.Native("exec", command(appending("no")))},
		"refused": {script.Native("exec", command(appending("refused")))},
		"typed":   {script.Native("exec", command(appending("typed")))},
		"nobody":  {script.Native("exec", command(appending("nobody")))},
		"gone":    {script.Native("exec", command("touch gone"))},
		"look":    {script.Native("read", `{"path":"page.txt"}`)},
		"ours":    {script.Native("exec", command(marking("ours")))},
	} {
		out = append(out, script.Scenario{Name: id, User: user(id),
			Steps: append(steps, script.Text("Done.")), Loop: true})
	}
	return append(out, endScenario()...)
}

// forbiddenFile is a file that no call may write, in a folder that is there, as the workspace is.
func forbiddenFile(t *testing.T, run string) (file, workspace string) {
	t.Helper()
	home, workspace := gatewayFolders(run)
	file = filepath.Join(home, ".ssh", "authorized_keys")
	for _, dir := range []string{filepath.Dir(file), workspace} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return file, workspace
}

// TestPlugin: the packed plugin, installed into a real gateway by its own command. The policy
// holds for a model that does not run through us, and a person answers in the chat.
func TestPlugin(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	run := gatewayRun(t)
	forbidden, ws := forbiddenFile(t, run)
	if err := os.WriteFile(filepath.Join(ws, "page.txt"), []byte("a page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{run: run, servers: map[string]*script.Server{}}
	for _, id := range []string{bare, guarded, coder} {
		b.servers[id] = script.New(append(waysScenarios(t, forbidden), pluginScenarios(t, forbidden)...)...)
	}
	decisions := filepath.Join(t.TempDir(), "decisions")
	admin := testkit.Address(t)
	side, address := runSidecar(t, "/readyz", startModel(t, b.servers[guarded]), append(b.sidecar(t, guarded),
		"GPTOSS_EXECUTOR_ADMIN="+admin, "GPTOSS_EXECUTOR_ADMIN_TOKEN=secret",
		"GPTOSS_EXECUTOR_DECISIONS="+decisions)...)
	settings := filepath.Join(t.TempDir(), "more.json")
	more, err := json.Marshal(map[string]any{
		"plugins": map[string]any{"enabled": true, "allow": []string{"gpt-oss-executor"},
			"entries": map[string]any{
				"gpt-oss-executor": map[string]any{"enabled": true, "config": map[string]any{"url": address,
					"admin": "http://" + admin, "adminToken": "secret"}}}},
		"tools": map[string]any{"codeMode": map[string]any{"enabled": "auto", "executor": "quickjs"}},
		"models": map[string]any{"mode": "merge",
			"providers": map[string]any{coder: map[string]any{"models": []any{map[string]any{"id": "gpt-oss",
				"name": "gpt-oss", "reasoning": true, "input": []string{"text"},
				"contextWindow": 131072, "maxTokens": 8192,
				"compat": map[string]any{"codeMode": "preferred"}}}}}}})
	if err := errors.Join(err, os.WriteFile(settings, more, 0o600)); err != nil {
		t.Fatal(err)
	}
	packed := packedPlugin(t)
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(packed), "openclaw-gpt-oss-executor-"),
		".tgz")
	b.gateway = startGateway(t, run, []string{"OC_MORE=" + settings, "OC_PLUGIN=npm-pack:" + packed,
		"GPT_OSS_EXECUTOR_API_KEY=none"},
		provider{id: bare, url: startModel(t, b.servers[bare])}, provider{id: guarded, url: address},
		provider{id: coder, url: startModel(t, b.servers[coder])})

	t.Run("status", func(t *testing.T) { b.pluginStatus(t, address, version) })
	t.Run("what may run runs", func(t *testing.T) {
		if r := b.pluginTurn(t, bare, "plain"); !b.marked("plain") {
			t.Errorf("the model reads %q", r)
		}
	})
	for _, id := range []string{"denied", "write"} {
		t.Run("a call of another model, "+id, func(t *testing.T) {
			r := b.pluginTurn(t, bare, id)
			t.Logf("the model reads %q", r)
			if exists("/", forbidden) ||
				!strings.Contains(r, "This file later runs by itself, or controls the policy.") {
				t.Error("it ran, or nobody is told why not")
			}
		})
	}
	t.Run("a person answers in the chat", func(t *testing.T) { b.pluginAsks(t) })
	t.Run("nobody is there", func(t *testing.T) {
		r := b.pluginTurn(t, bare, "nobody")
		t.Logf("the model reads %q", r)
		if b.marked("nobody") || !strings.Contains(strings.ToLower(r), "approval") {
			t.Error("it ran, or something else has happened")
		}
	})
	t.Run("other ways", func(t *testing.T) { b.pluginWays(t, forbidden) })
	t.Run("what has left here is not asked about twice", func(t *testing.T) {
		seen := b.gateway.approver(t, run, "allow-once")
		r := b.pluginTurn(t, guarded, "ours")
		t.Logf("the model reads %q", r)
		if !b.marked("ours") || len(seen) != 1 {
			t.Errorf("ran: %v, the person was asked %d times", b.marked("ours"), len(seen))
		}
	})
	side.stop(t)
	t.Run("the decision log", func(t *testing.T) {
		do(t, ".", binary, "decisions", "verify", "--decisions", decisions)
		said := readAll(t, decisions)
		for _, want := range []string{`"outcome":"asked"`, `"outcome":"refused"`, `"state":"used"`,
			`"state":"denied"`, `"by":"a person in the chat (webchat)"`, `"request":"hook-`} {
			if !strings.Contains(said, want) {
				t.Errorf("no %s in %.3000s", want, said)
			}
		}
	})
	t.Run("without the sidecar", func(t *testing.T) {
		if r := b.pluginTurn(t, bare, "gone"); b.marked("gone") ||
			!strings.Contains(r, "The policy cannot be asked") {
			t.Errorf("ran: %v; the model reads %q", b.marked("gone"), r)
		}
		if r := b.pluginTurn(t, bare, "look"); !strings.Contains(r, "a page") {
			t.Errorf("what only reads does not run: %q", r)
		}
	})
}

// readAll is the text of all files of a folder.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		part, err := os.ReadFile(filepath.Join(dir, name))
		text.Write(part)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// packedPlugin is the plugin as a release packs it.
func packedPlugin(t *testing.T) string {
	t.Helper()
	packed, err := filepath.Glob(filepath.Join(releasedTo(t), "npm", "openclaw-gpt-oss-executor-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("packages of the plugin: %v, %v", packed, err)
	}
	return packed[0]
}

// pluginTurn runs a turn, and gives the result of its call as the model reads it.
func (b *bench) pluginTurn(t *testing.T, by, id string) string {
	t.Helper()
	if a := b.say(t, by, by+"-"+id, id); a.text != "Done." {
		t.Errorf("the user reads %q", a.text)
	}
	asked := b.servers[by].Requests(id)
	_, result := lastCall(asked[len(asked)-1].Messages)
	return result.Text
}

// pluginStatus asks how the sidecar does, in each way that there is, and for the models.
func (b *bench) pluginStatus(t *testing.T, address, version string) {
	type status struct {
		OK     bool
		URL    string
		Plugin string
		Models []string
		Policy struct {
			On    bool
			Rules string
		}
	}
	check := func(by, text string) {
		var s status
		at := strings.Index(text, "{")
		if at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&s) != nil || !s.OK ||
			s.URL != address || s.Plugin != version || !slices.Contains(s.Models, "gpt-oss-20b") ||
			!s.Policy.On || s.Policy.Rules == "" {
			t.Errorf("%s says %s", by, text)
		}
	}
	check("the method", b.openclaw(t, "gateway", "call", "gptoss.status", "--json", "--token",
		b.gateway.token))
	if said := b.openclaw(t, "gptoss", "status"); !strings.Contains(said, address+" is fine") {
		t.Errorf("the command says %s", said)
	}
	route, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		b.gateway.url+"/plugins/gpt-oss-executor/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	route.Close = true // see post
	for token, want := range map[string]int{b.gateway.token: 200, "wrong": 401} {
		route.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(route)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != want {
			t.Errorf("with the token %s: %d %v", token, resp.StatusCode, err)
		}
		if want == 200 {
			check("the route", body.String())
		}
	}
	if said := b.openclaw(t, "models", "list", "--all", "--provider",
		"gpt-oss-executor"); !strings.Contains(said, "gpt-oss-executor/gpt-oss-20b") ||
		!strings.Contains(said, "gpt-oss-executor/gpt-oss-120b") {
		t.Errorf("the catalog is %s", said)
	}
}

// openclaw runs a command of OpenClaw beside the gateway.
func (b *bench) openclaw(t *testing.T, args ...string) string {
	t.Helper()
	const sh = `. "$1/env" && export GPT_OSS_EXECUTOR_API_KEY=none && cd "$1/ws" && shift && exec "$OC_NODE" "$OC_MAIN" "$@"`
	return do(t, ".", "bash", append([]string{"-c", sh, "openclaw", b.run}, args...)...)
}
