package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// trying are settings with all tokens, and rules with an experiment about something.
func trying(t *testing.T, about string) func(*config.Settings) {
	return func(s *config.Settings) {
		stage.Tokens(s)
		ruletest.Must(t, os.MkdirAll(filepath.Join(s.Rules, "extra"), 0o755))
		text := fmt.Sprintf("version: 1\nexperiments:\n  - id: one\n    about: %q\n    status: running\n    measure: empty\n    arms: {control: {share: 50}, new: {share: 50, set: {limits.retry.times: 1}}}\n", about)
		ruletest.Must(t, os.WriteFile(filepath.Join(s.Rules, "extra", "experiments.ours.yaml"), []byte(text),
			0o644))
	}
}

// edit saves an edit, and waits until it is in force.
func (v *visitor) edit(file, from, to string) {
	v.t.Helper()
	n := v.s.Log.Count("rules_taken")
	ruletest.Edit(v.t, v.s.Rules, file, from, to)
	ruletest.Soon(v.t, "the edit is in force", func() bool { return v.s.Log.Count("rules_taken") > n })
}

// inForce is the version in force, as a page says it.
func (v *visitor) inForce() string {
	v.t.Helper()
	_, rest, _ := strings.Cut(v.get("/console/rules").text, `<h2 id="force">In force <code>`)
	version, _, ok := strings.Cut(rest, "<")
	if !ok {
		v.t.Fatal("no version is in force")
	}
	return version
}

// Only an admin changes rules and experiments: by a form of the console, of what they have seen. Everything
// else changes nothing, and says why.
func TestChangesOfRules(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	v := open(t, trying(t, "x"), nil)
	v.signIn("Ann", stage.Admin)
	first := v.inForce()
	v.edit("limits.yaml", "depth: 128", "depth: 96")
	second := v.inForce()
	stop, promote, back := "/console/experiments/one/stop", "/console/experiments/one/promote/new",
		"/console/rules/versions/"+first+"/rollback"
	seen := url.Values{"version": {second}}.Encode()
	untouched := func(what string) {
		t.Helper()
		if now := v.inForce(); now != second || v.s.Log.Count("experiment_stopped") > 0 {
			t.Fatalf("%s: something has changed, %s is in force", what, now)
		}
	}
	for name, token := range map[string]string{"Rob": stage.Reader, "Ada": stage.Approver, "": ""} {
		other := &visitor{t: t, s: v.s}
		if token != "" {
			other.signIn(name, token)
			for _, page := range []string{"/console/experiments", "/console/rules",
				"/console/rules/versions/" + first} {
				if text := other.get(page).text; strings.Contains(text, `/stop"`) ||
					strings.Contains(text, "/promote/") || strings.Contains(text, `/rollback" class`) {
					t.Errorf("%s is offered a change on %s", name, page)
				}
			}
		}
		for _, path := range []string{stop, promote, back} {
			if p := other.do(http.MethodPost, path, seen); p.StatusCode != http.StatusForbidden &&
				p.StatusCode != http.StatusUnauthorized {
				t.Errorf("%q sends %s: %s", name, path, p.Status)
			}
		}
		for _, path := range []string{stop, promote} {
			if p := other.get(path); p.StatusCode == http.StatusOK {
				t.Errorf("%q gets %s", name, path)
			}
		}
	}
	untouched("others")
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "null"}, {"Sec-Fetch-Site", "", "Origin", ""}, {"Host", "evil.example"},
	} {
		for _, path := range []string{stop, promote, back} {
			if p := v.do(http.MethodPost, path, seen, header...); p.StatusCode < 400 {
				t.Errorf("%q %s: %s", header, path, p.Status)
			}
		}
	}
	untouched("another site")
	for _, row := range []struct {
		path, form string
		status     int
		says       string
	}{
		{promote, "", 412, "other rules are in force: " + second}, {promote, "version=" + first, 412, "other rules are in force"}, {promote, "version=*", 412, "other rules"}, {back, "version=" + first, 412, "other rules"}, {back, "", 412, "other rules"},
		{"/console/experiments/two/promote/new", seen, 404, "no experiment two"}, {"/console/experiments/one/promote/nwe", seen, 404, "has no arm nwe; did you mean new?"},
		{"/console/experiments/two/stop", "", 404, "no such experiment"}, {"/console/rules/versions/000000000000/rollback", seen, 404, "no such version"},
		{stop, "why=" + strings.Repeat("x", 2001), 400, "at most"}, {stop, "why=" + strings.Repeat("x", 1<<20), 413, "too long"}, {promote, "a=" + strings.Repeat("x", 1<<20), 413, "too long"}, {back, "a=" + strings.Repeat("x", 1<<20), 413, "too long"},
	} {
		p := v.do(http.MethodPost, row.path, row.form)
		if row.status != 0 && p.StatusCode != row.status || !strings.Contains(p.text, row.says) {
			t.Errorf("%s %.40s: %s %s", row.path, row.form, p.Status, p.text)
		}
		way := `<a href="` + strings.TrimSuffix(row.path, "/rollback") + `" data-up>Compare</a>`
		if p.StatusCode == http.StatusPreconditionFailed && (!strings.Contains(p.text, way) ||
			strings.Contains(p.text, "If-Match")) {
			t.Errorf("%s does not lead to what it would write now: %s", row.path, p.text)
		}
	}
	untouched("what cannot be done")

	ruletest.Edit(t, v.s.Rules, "limits.yaml", "depth: 96", "depth: deep")
	ruletest.Soon(t, "the edit is refused", func() bool { return v.s.Log.Count("rules_refused") > 0 })
	if p := v.do(http.MethodPost, back, seen); p.StatusCode != http.StatusPreconditionFailed ||
		!strings.Contains(p.text, "is in the folder") {
		t.Errorf("over an edit that nobody has seen: %s %s", p.Status, p.text)
	}
	untouched("an edit in the folder")
	ruletest.Edit(t, v.s.Rules, "limits.yaml", "depth: deep", "depth: 96")
	ruletest.Soon(t, "the edit is gone", func() bool { return v.s.Log.Count("rules_reverted") > 0 })

	if p := v.do(http.MethodPost, back, seen); !strings.Contains(v.get(p.Header.Get("Location")).text,
		"The rules are rolled back. Version "+first) {
		t.Errorf("the rollback of an admin: %s %s", p.Status, p.text)
	}
	if p := v.do(http.MethodPost, stop, "why="); !strings.Contains(v.get(p.Header.Get("Location")).text,
		"one is stopped.") {
		t.Errorf("the stop of an admin: %s %s", p.Status, p.text)
	}
	p := v.do(http.MethodPost, promote, "version="+first)
	if !strings.Contains(v.get(p.Header.Get("Location")).text, "new of one is the rule for everybody.") {
		t.Errorf("the promotion of an admin: %s %s", p.Status, p.text)
	}
	if p := v.do(http.MethodPost, promote, "version="+first); p.StatusCode < 400 {
		t.Errorf("twice: %s", p.Status)
	}
	if page := v.get("/console/experiments?stopped=two&promoted=one/new&version=" +
		first).text; strings.Contains(page, `role="status">`) && strings.Contains(page, `class="done"`) {
		t.Error("an address says that something was done")
	}
}

// Without a token everybody sees, and nobody changes. The rules of the program are shown, too.
func TestRulesInTheOpen(t *testing.T) {
	v := open(t, nil, nil)
	for path, want := range map[string]string{
		"/console/experiments": "There is no experiment.", "/console/rules": "never fired",
		"/console/rules/files/builtin/prompts/react.tmpl": "in force",
		"/console/rules?q=nothing-has-this":               "No rule fits the filter.",
	} {
		if p := v.get(path); p.StatusCode != http.StatusOK || !strings.Contains(p.text, want) {
			t.Errorf("%s: %s\n%s", path, p.Status, p.text)
		}
	}
	for _, path := range []string{"/console/experiments/one/stop", "/console/rules/versions/" + v.inForce() +
		"/rollback"} {
		if p := v.do(http.MethodPost, path, ""); p.StatusCode != http.StatusForbidden ||
			!strings.Contains(p.text, "asks for no token") {
			t.Errorf("%s: %s", path, p.Status)
		}
	}
}

// What a rule file holds is text wherever it stands; a secret in it is masked, and each line keeps its
// number.
func TestRuleTextIsText(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	const secret = "sk-proj-Zm9vYmFyMTIzNDU2Nzg5"
	const pem = "-----BEGIN RSA PRIVATE KEY-----\n#MIIEpAIBAAKCAQEA1234567890abcdefghijklmnopqrstuvwxyz\n#abcdefghijklmnopqrstuvwxyz1234567890MIIEpAIBAAKCAQEA\n#-----END RSA PRIVATE KEY-----"
	v := open(t, trying(t, evil), map[string]script.Reply{"list": script.LeakedTurn("exec", `{"cmd":"ls"}`)})
	v.signIn("Ann", stage.Admin)
	first := v.inForce()
	v.edit("limits.yaml", "version: 1", "version: 1\n# "+evil+"\u202e\n# key: "+secret+"\n#"+pem)
	v.do(http.MethodPost, "/console/experiments/one/stop", url.Values{"why": {evil + secret}}.Encode())
	n := v.s.Log.Count("rules_refused")
	ruletest.Edit(t, v.s.Rules, "models.yaml", "version: 1", "version: 1\n"+`"`+strings.ReplaceAll(evil, `"`,
		`\"`)+`": `+secret)
	ruletest.Soon(t, "the edit is refused", func() bool { return v.s.Log.Count("rules_refused") > n })
	for _, path := range []string{
		"/console/experiments", "/console/experiments/one/promote/new", "/console/rules",
		"/console/rules/files/limits.yaml", "/console/rules/versions/" + first,
		"/console/rules?" + url.Values{"q": {"x" + evil}}.Encode(), "/console/rules/files/" + url.PathEscape(evil) + "?version=" + url.QueryEscape(evil), "/console/rules/versions/" + url.PathEscape(evil),
		"/console/experiments/" + url.PathEscape(evil) + "/promote/" + url.PathEscape(evil),
		"/console/experiments?stopped=" + url.QueryEscape(evil) + "&promoted=" + url.QueryEscape(evil),
	} {
		page := v.get(path).text
		for _, bad := range []string{"<script>alert", "<img src=x", "\u202e", secret, "MIIEpAIBAAKC"} {
			if at := strings.Index(page, bad); at >= 0 {
				t.Errorf("%s holds %q: %.300q", path, bad, page[max(0, at-200):])
			}
		}
	}
	page := v.get("/console/rules/files/limits.yaml").text
	text, err := os.ReadFile(filepath.Join(v.s.Rules, "limits.yaml"))
	ruletest.Must(t, err)
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "time:") {
			if want := fmt.Sprintf(`id="L%d">`, i+1); !strings.Contains(page, want) ||
				!strings.Contains(page[strings.Index(page, want):][:200], "time:") {
				t.Errorf("line %d is not %s", i+1, line)
			}
		}
	}
	if !strings.Contains(page, "«masked:") || !strings.Contains(html.UnescapeString(page), "⟨U+202E⟩") {
		t.Errorf("what is masked and what cannot be seen is not said: %s", page)
	}
}

// A turn leads to the lines of its rules as they were then, though others are in force now.
func TestLinesOfThen(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{"list": script.LeakedTurn("exec", `{"cmd":"ls -l reports",}`)})
	v.s.Ask("s", "list", true)
	then := v.inForce()
	v.edit("strategies.yaml", "version: 1", "# one line more\nversion: 1")
	turn := v.newest()
	if !strings.Contains(turn, `Other rules are in force now: <a href="/console/rules/versions/`+then+`">`) {
		t.Error("it does not say that other rules are in force")
	}
	_, rest, _ := strings.Cut(turn, `<strong>harmony</strong>`)
	_, rest, _ = strings.Cut(rest, `href="`)
	href, _, _ := strings.Cut(rest, `"`)
	path, line, ok := strings.Cut(href, "#")
	if !ok || !strings.HasPrefix(path, "/console/rules/files/strategies.yaml?version="+then) {
		t.Fatalf("the rule leads to %q", href)
	}
	page := v.get(path).text
	_, at, _ := strings.Cut(page, `id="`+line+`"`)
	if !strings.Contains(at[:min(len(at), 200)], "- id: harmony") ||
		!strings.Contains(page, "This is how it stood in version "+then) {
		t.Errorf("%s is %.300s", href, at)
	}
}

// A turn that was in an arm leads to its experiment.
func TestTurnOfAnArm(t *testing.T) {
	v := open(t, trying(t, "x"), nil)
	v.signIn("Rob", stage.Reader)
	v.s.Ask("s", "hello", false)
	turn := v.newest()
	if !strings.Contains(turn, `It was in <a href="/console/experiments#x-one">one/`) {
		t.Errorf("the turn does not lead to its experiment: %s", turn)
	}
	if page := v.get("/console/experiments").text; !strings.Contains(page, `id="x-one"`) ||
		!strings.Contains(page, "1 session") {
		t.Errorf("the experiment does not count it: %s", page)
	}
}
