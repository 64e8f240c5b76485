package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Exit code and JSON of a good server, of one with a flaw, of none, of broken rules, and of misuse.
func TestDoctor(t *testing.T) {
	run := func(args ...string) (code int, out, said string) {
		var o, e bytes.Buffer
		code = Run(append([]string{"doctor"}, args...),
			Env{Parts: Parts, Out: &o, Err: &e, Defaults: os.DirFS(testkit.Root()),
				Environ: []string{"GPTOSS_EXECUTOR_UPSTREAM_KEY=s3cret"}})
		return code, o.String(), e.String()
	}
	serve := func(how servers.Start) string {
		srv := httptest.NewServer(servers.New(script.VLLM(), how))
		t.Cleanup(srv.Close)
		return srv.URL + "/v1"
	}
	off := servers.Good()
	off.Tools = false
	rules := t.TempDir()
	ruletest.Copy(t, rules)
	ruletest.Edit(t, rules, "exec.yaml", "profile: developer", "profile: whatever")
	loose := t.TempDir()
	ruletest.Copy(t, loose)
	ruletest.Edit(t, loose, "exec.yaml", "profile: developer", "profile: permissive")
	for name, row := range map[string]struct {
		args []string
		code int
		want string
	}{
		"good":         {[]string{"--upstream", serve(servers.Good())}, 0, `"ok" tool_calls`},
		"tools off":    {[]string{"--upstream", serve(off)}, 1, `"fail" tool_calls`},
		"no server":    {[]string{"--upstream", "http://127.0.0.1:1"}, 1, `"fail" upstream`},
		"broken rules": {[]string{"--upstream", serve(servers.Good()), "--rules", rules}, 1, `"fail" rules`},
		"no rules": {[]string{"--upstream", serve(servers.Good()), "--rules", rules + "/gone"}, 1,
			`"fail" rules`},
		"loose rules": {[]string{"--upstream", serve(servers.Good()), "--rules", loose}, 0, `"warn" policy`},
		"no gateway": {[]string{"--upstream", serve(servers.Good()), "--gateway", "http://127.0.0.1:1"}, 1,
			`"fail" gateway`},
		"no config": {[]string{"--upstream", serve(servers.Good()), "--config", rules + "/gone.json"}, 1,
			`"fail" config`},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said := run(append(row.args, "--json")...)
			var doc struct {
				Checks []map[string]string `json:"checks"`
			}
			dec := json.NewDecoder(strings.NewReader(out))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&doc); err != nil || code != row.code {
				t.Fatalf("%d %v\n%s%s", code, err, out, said)
			}
			var short []string
			for _, c := range doc.Checks {
				short = append(short, `"`+c["status"]+`" `+c["name"])
				if _, has := c["fix"]; !has || len(c) != 4 || (c["status"] == "ok") != (c["fix"] == "") {
					t.Errorf("%v", c)
				}
			}
			if all := strings.Join(short, "\n"); !strings.Contains(all+"\n", row.want+"\n") {
				t.Errorf("no %s in\n%s", row.want, all)
			}
			if strings.Contains(out+said, "s3cret") {
				t.Errorf("a secret is shown:\n%s%s", out, said)
			}
		})
	}
	state := filepath.Join(t.TempDir(), "state")
	code, out, said := run("--upstream", serve(servers.Good()), "--state", state, "--fix")
	if code != 0 || !strings.Contains(said, "doctor: made the folder "+state) ||
		!strings.Contains(out, "ok   state: "+state+" is ours alone") {
		t.Errorf("%d\n%s%s", code, out, said)
	}
	page := filepath.Join(state, "turns.html")
	_, out, said = run("--upstream", serve(servers.Good()), "--turns", page, "--state", state)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "served by vllm") ||
		!strings.Contains(out, "turns: scripted turns that came right") || strings.Contains(string(text), "s3cret") {
		t.Errorf("%v\n%s\n%s%s", err, text, out, said)
	}
	code, out, _ = run("--upstream", serve(off))
	if !strings.Contains(out, "fail tool_calls: tool calling is off") ||
		!strings.Contains(out, "\n     fix: start vLLM with --tool-call-parser openai --enable-auto-tool-choice\n") {
		t.Errorf("%d\n%s", code, out)
	}
	for _, args := range [][]string{{"--upstraem", "x"}, {"more"}} {
		if code, _, _ := run(args...); code != 2 {
			t.Errorf("%v: %d", args, code)
		}
	}
}
