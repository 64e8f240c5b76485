package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// ground is where calls are judged in this test: rules, a locked folder, state, the log,
// and links to them.
type ground struct {
	t                         *testing.T
	rules, locked, state, log string
	link, folder, shadow      string // to a rule file, to the rules, to /etc/shadow
	env                       Env
}

func newGround(t *testing.T) *ground {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // that of the user may say that commands are confined
	at := func(name string) string { return filepath.Join(dir, name) }
	g := &ground{t: t, rules: at("rules"), locked: at("locked"), state: at("state"), log: at("log"),
		link: at("notes.md"), folder: at("project"), shadow: at("list.txt")}
	g.must(os.CopyFS(g.rules, os.DirFS("../../rules")))
	g.must(os.MkdirAll(g.locked, 0o755))
	g.must(os.WriteFile(filepath.Join(g.locked, "exec.yaml"),
		[]byte("version: 1\nrules:\n  - id: no-telnet\n    when: tool == 'exec' && command contains 'telnet'\n    deny: No telnet here.\n"), 0o644))
	for link, to := range map[string]string{g.link: filepath.Join(g.rules, "exec.yaml"), g.folder: g.rules,
		g.shadow: "/etc/shadow"} {
		g.must(os.Symlink(to, link))
	}
	g.env = Env{Parts: Parts, Err: t.Output(), Defaults: os.DirFS("../.."), Environ: []string{
		"GPTOSS_EXECUTOR_STATE=" + g.state, "GPTOSS_EXECUTOR_DECISIONS=" + g.log,
	}}
	return g
}

func (g *ground) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// run is what a command prints.
func (g *ground) run(in string, args ...string) []byte {
	var out, errs bytes.Buffer
	env := g.env
	env.In, env.Out, env.Err = strings.NewReader(in), &out, &errs
	if code := Run(args, env); out.Len() == 0 {
		g.t.Fatalf("%v: %d %s", args, code, &errs)
	}
	return out.Bytes()
}

// aCase is a call, and what becomes of it. Of each there is every way to ask.
type aCase struct {
	name, tool string
	args       map[string]string
	want       policy.Effect
}

func (c *aCase) arguments() string {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.args); err != nil {
		panic(err) // a map of texts
	}
	return strings.TrimSpace(doc.String())
}

type args = map[string]string

func (g *ground) cases() []aCase {
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	patch := func(path string) args {
		return args{"input": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-a\n+b\n*** End Patch"}
	}
	return []aCase{
		{"a rule file", "exec", args{"command": "echo x > " + in(g.rules, "exec.yaml")}, policy.Deny},
		{"the rules", "exec", args{"command": "rm -r " + g.rules}, policy.Deny},
		{"the locked folder", "exec", args{"command": "cp a " + in(g.locked, "exec.yaml")}, policy.Deny},
		{"the state", "exec", args{"command": "touch " + in(g.state, "x")}, policy.Deny},
		{"the log", "exec", args{"command": "truncate -s 0 " + in(g.log, "x")}, policy.Deny},
		{"a link to a rule file", "exec", args{"command": "echo x >> " + g.link}, policy.Deny},
		{"through a link to the rules", "exec", args{"command": "rm " + in(g.folder, "exec.yaml")}, policy.Deny},
		{"in that folder", "exec", args{"command": "rm exec.yaml", "workdir": g.folder}, policy.Deny},
		{"a link to a secret", "exec", args{"command": "cat " + g.shadow}, policy.Deny},
		{"what the locked folder bans", "exec", args{"command": "telnet example.com"}, policy.Deny},
		{"all of the disk", "exec", args{"command": "rm -rf /"}, policy.Deny},
		{"an unknown program", "exec", args{"command": "frobnicate x"}, policy.Ask},
		{"an ordinary command", "exec", args{"command": "ls -l"}, policy.Allow},
		{"write a rule file", "write", args{"path": in(g.rules, "exec.yaml"), "content": "x"}, policy.Deny},
		{"write a link to one", "write", args{"path": g.link, "content": "x"}, policy.Deny},
		{"edit it through a folder", "edit", args{"path": in(g.folder, "paths.yaml"), "oldText": "a", "newText": "b"}, policy.Deny},
		{"patch it", "apply_patch", patch(g.link), policy.Deny},
		{"patch something else", "apply_patch", patch("README.md"), policy.Allow},
		{"read a link to a secret", "read", args{"path": g.shadow}, policy.Deny},
		{"read a file", "read", args{"path": "README.md"}, policy.Allow},
		{"write a file", "write", args{"path": "notes.txt", "content": "x"}, policy.Allow},
		{"keys of the cloud", "web_fetch", args{"url": "http://169.254.169.254/latest/"}, policy.Deny},
		{"a page", "web_fetch", args{"url": "https://example.com/"}, policy.Allow},
	}
}

// oneAnswer is what every way to ask must agree on.
type oneAnswer struct{ effect, rule string }

func answerOf(d gjson.Result) oneAnswer { return oneAnswer{d.Get("effect").Str, d.Get("rule").Str} }

// However the policy is asked about a call, the answer is one: serving it, policy check,
// policy explain, explain of a reply, eval, replay of the log, and the admin API.
func TestOneWorld(t *testing.T) {
	g := newGround(t)
	cases := g.cases()
	if testing.Short() {
		cases = cases[:3] // the commands have one goroutine
	}
	ruled := []string{"--rules", g.rules, "--policy", g.locked}
	served, admin := g.serve(cases)
	var records, questions strings.Builder
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := served[i]
			if want.effect != string(c.want) {
				t.Errorf("served: %+v, want %s", want, c.want)
			}
			record := fmt.Sprintf(`{"message":{"tool_calls":[{"index":0,"id":"a1","type":"function","function":{"name":%q,"arguments":%s}}]},"tools":[%q],"expect":{"calls":[%s]}}`,
				c.tool, strconv.Quote(c.arguments()), c.tool, called(&c))
			records.WriteString(record + "\n")
			question := fmt.Sprintf(`{"tool":%q,"arguments":%s}`, c.tool, c.arguments())
			same := func(way string, got oneAnswer) {
				if got != want {
					t.Errorf("%s: %+v, served: %+v", way, got, want)
				}
			}
			questions.WriteString(question + "\n")
			same("policy explain", answerOf(gjson.GetBytes(g.run("",
				append([]string{"policy", "explain", "--json", "--tool", c.tool, "--arguments",
					c.arguments()}, ruled...)...), "decision")))
			same("explain", answerOf(gjson.GetBytes(g.run(record, append([]string{"explain", "--json"},
				ruled...)...), "policy.0")))
			same("POST /policy/check", answerOf(gjson.Parse(post(t, admin+"/policy/check", question))))
			explained := gjson.Parse(post(t, admin+"/explain", record))
			if left := explained.Get("calls.#").Int() == 1; left != (c.want != policy.Deny) {
				t.Errorf("POST /explain: %s", explained)
			}
		})
	}
	checked := strings.Split(string(g.run(questions.String(), append([]string{"policy", "check", "--jsonl"},
		ruled...)...)), "\n")
	for i, c := range cases {
		if got := answerOf(gjson.Parse(checked[i])); got != served[i] {
			t.Errorf("%s: policy check: %+v, served: %+v", c.name, got, served[i])
		}
	}
	read := gjson.GetBytes(g.run(records.String(), "eval", g.rules, g.rules, "-", "--policy", g.locked,
		"--json"), "variants.#.right")
	if n := len(cases); read.Raw != fmt.Sprintf("[%d,%d]", n, n) {
		t.Errorf("eval: %s", read)
	}
	replayed := gjson.GetBytes(g.run("", append([]string{"decisions", "replay", "--decisions", g.log,
		"--json"}, ruled...)...), "summary")
	if replayed.Get("records").Int() < int64(len(cases)) ||
		replayed.Get("unchanged").Int() != replayed.Get("records").Int() {
		t.Errorf("replay: %s", replayed)
	}
}

// called is what eval should find of a call: nothing where it is denied.
func called(c *aCase) string {
	if c.want == policy.Deny {
		return ""
	}
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments())
}

// serve lets a model make each call, and gives what the decision log says of it. The
// server's admin API stays until the test ends.
func (g *ground) serve(cases []aCase) (served []oneAnswer, admin string) {
	var scenarios []script.Scenario
	offered := map[string]bool{}
	for i, c := range cases {
		offered[c.tool] = true
		scenarios = append(scenarios, script.Scenario{Name: fmt.Sprintf("case %d.", i),
			Steps: []script.Reply{script.Native(c.tool, c.arguments())}, Loop: true})
	}
	model := httptest.NewServer(script.New(scenarios...))
	g.t.Cleanup(model.Close)
	s := (Env{Parts: Parts}).DefaultSettings()
	s.Listen, s.Admin, s.Upstream, s.LogLevel = testkit.Address(g.t), testkit.Address(g.t), model.URL+"/v1", "error"
	s.Rules, s.Policy, s.State, s.Decisions = g.rules, g.locked, g.state, g.log
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, s, g.env, nil) }()
	g.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			g.t.Error(err)
		}
	})
	until(g, "http://"+s.Listen+"/readyz")
	var tools []string
	for name := range offered {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q}}`, name))
	}
	for i := range cases {
		post(g.t, "http://"+s.Listen+"/v1/chat/completions",
			fmt.Sprintf(`{"model":"gpt-oss","messages":[{"role":"user","content":"case %d."}],"tools":[%s]}`,
				i, strings.Join(tools, ",")))
	}
	found := map[string]oneAnswer{}
	g.must(decisions.Read(g.log, func(r *decisions.Record, broken error) bool {
		if d := r.Decision; d != nil {
			found[d.Tool+" "+string(d.Arguments)] = oneAnswer{string(d.Effect), d.Rule}
		}
		return true
	}))
	for i := range cases {
		served = append(served, found[cases[i].tool+" "+cases[i].arguments()])
	}
	return served, "http://" + s.Admin
}

// until waits for an address that answers well.
func until(g *ground, url string) {
	ruletest.Soon(g.t, url+" answers", func() bool {
		res, err := http.Get(url)
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	})
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}
