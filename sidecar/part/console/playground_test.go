package console_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const (
	playground = "/console/playground"
	fax        = `<|channel|>commentary to=functions.send_fax <|message|>{"path":"a.md"}<|call|>`
)

var (
	hidden   = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)
	textarea = regexp.MustCompile(`(?s)<textarea id="\w+" name="(\w+)"[^>]*>\n(.*?)</textarea>`)
	chosen   = regexp.MustCompile(`(?s)<select id="\w+" name="(\w+)">.*?<option value="([^"]*)" selected>`)
)

// form is what a browser without script would send of a page.
func (p page) form() url.Values {
	out := url.Values{}
	_, main, _ := strings.Cut(p.text, "data-play")
	for _, fields := range [][][]string{hidden.FindAllStringSubmatch(main, -1),
		textarea.FindAllStringSubmatch(main, -1), chosen.FindAllStringSubmatch(main, -1)} {
		for _, m := range fields {
			out.Set(m[1], strings.ReplaceAll(strings.ReplaceAll(html.UnescapeString(m[2]), "\r\n", "\n"),
				"\n", "\r\n"))
		}
	}
	return out
}

// press sends the form with one of its buttons.
func (v *visitor) press(f url.Values, do string) page {
	v.t.Helper()
	f.Set("do", do)
	path := playground
	if do == "publish" || do == "undo" {
		path += "/" + do
	}
	return v.do(http.MethodPost, path, f.Encode())
}

// says fails for what a page does not say, and tells what it says is next.
func (p page) says(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(html.UnescapeString(p.text), w) {
			_, next, _ := strings.Cut(p.text, `id="next"`)
			t.Errorf("it does not say %s: %.300s", w, next)
		}
	}
}

// Without script: a reply is taken from a turn, a name gets a meaning, the tests run, the file is
// published, and undone. Who did it is in the log. Until then nothing changes.
func TestPlayground(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	v := open(t, stage.Tokens, map[string]script.Reply{"fax": script.Text(fax)})
	v.signIn("Ann", stage.Admin)
	v.s.Ask("s", "fax", false)
	turn := v.newest()
	_, rest, _ := strings.Cut(turn, `class="try" href="`)
	href, _, _ := strings.Cut(rest, `"`)
	if mend := `<a class="button" href="` + href +
		`" data-try><span>Say which tool <code>send_fax</code> means`; !strings.Contains(turn, mend) ||
		strings.Index(turn, mend) > strings.Index(turn, "As it came") {
		t.Errorf("under what went wrong is no way to mend it:\n%s", turn)
	}
	if !strings.Contains(turn, "→ the model was asked to correct it") ||
		!strings.Contains(turn, "Held back") {
		t.Errorf("the turn does not say what was done:\n%s", turn)
	}
	v.get(playground+"?file=limits.yaml").says(t, "← limits.yaml", "&file=limits.yaml",
		"not_offered send_fax")
	p := v.get(html.UnescapeString(href))
	p.says(t, "No tool is called send_fax", "A press writes it into the draft of aliases.yaml.",
		"those of the turn", "not_offered", "to=functions.send_fax")
	p = v.press(p.form(), "alias read send_fax")
	p.says(t, "read: [send_fax, read_file", `read {"path":"a.md"}`, "By your draft",
		"loads, and all examples and tests hold", "and again when you publish", "run the tests")
	if n := strings.Count(html.UnescapeString(p.text),
		`<code>send_fax</code> <span class="unseen">becomes</span><span aria-hidden="true">→</span> <code>read {"path":"a.md"}</code>`); n != 3 {
		t.Errorf("what changes is said %d times in one line, want it at the reading, the tests and the button", n)
	}
	p = v.press(p.form(), "tests")
	p.says(t, "tests hold", "The tests hold. Publish")
	if got := v.s.Ask("s", "fax", false); strings.Contains(got, `"name":"read"`) ||
		v.s.Log.Count("rules_taken") > 0 {
		t.Fatalf("a draft is in force: %s", got)
	}
	p = v.press(p.form(), "publish")
	p.says(t, "Ann has published aliases.yaml", "Undo the last publication")
	if text, err := os.ReadFile(filepath.Join(v.s.Rules, "aliases.yaml")); err != nil ||
		!strings.Contains(string(text), "send_fax") {
		t.Errorf("the folder has no send_fax: %v", err)
	}
	if got := v.s.Ask("s", "fax", false); !strings.Contains(got, `"name":"read"`) {
		t.Errorf("it is not in force: %s", got)
	}
	p = v.press(p.form(), "undo")
	p.says(t, "Ann has put the version before back in force", "read: [send_fax")
	if got := v.s.Ask("s", "fax", false); strings.Contains(got, `"name":"read"`) {
		t.Errorf("it is in force still: %s", got)
	}
	lines := v.s.Log.Lines("rules_taken")
	if len(lines) != 2 || !strings.Contains(lines[0], `by=put who="Ann (console, token of an admin)"`) ||
		!strings.Contains(lines[1], `by=rollback who="Ann (console, token of an admin)"`) {
		t.Errorf("the log says %q", lines)
	}
	v.get("/console/health").says(t, "by a rollback, Ann (console, token of an admin)")
}

// Nobody overwrites what they have not seen: the page shows what is new and keeps the draft, and
// only then it can be published over.
func TestStaleDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	v := open(t, stage.Tokens, nil)
	v.signIn("Ann", stage.Admin)
	bob := &visitor{t: t, s: v.s}
	bob.signIn("Bob", stage.Admin)
	edit := func(v *visitor, f url.Values, name string) page {
		f.Set("draft", strings.Replace(f.Get("draft"), "exec: [bash", "exec: ["+name+", bash", 1))
		return v.press(f, "publish")
	}
	mine, his := v.get(playground).form(), bob.get(playground).form()
	edit(bob, his, "bobs_shell").says(t, "Bob has published")
	seen := v.press(mine, "try")
	seen.says(t, "Others are in force since you began", "the admin API, Bob (console, token of an admin)",
		"bobs_shell, bash")
	p := edit(v, mine, "anns_shell")
	if p.StatusCode != http.StatusConflict {
		t.Errorf("it is %s", p.Status)
	}
	p.says(t, "Nothing was changed: the rules were published anew since you began", "the admin API, Bob",
		"+  exec: [bobs_shell, bash", "+  exec: [anns_shell, bash", "exec: [anns_shell, bash")
	if text, _ := os.ReadFile(filepath.Join(v.s.Rules, "aliases.yaml")); !strings.Contains(string(text),
		"bobs_shell") {
		t.Error("the edit of the other is gone")
	}
	v.press(p.form(), "publish").says(t, "Ann has published")
	if text, _ := os.ReadFile(filepath.Join(v.s.Rules, "aliases.yaml")); !strings.Contains(string(text),
		"anns_shell") || strings.Contains(string(text), "bobs_shell") {
		t.Error("what was seen cannot be published over")
	}
	his = bob.get(playground).form()
	v.press(v.get(playground).form(), "undo").says(t, "Ann has put the version before back")
	bob.press(his, "undo").says(t, "the rules were published anew since you began")
}

// Who may not publish can try, and changes nothing.
func TestWhoMayPublish(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	for _, token := range []string{stage.Reader, stage.Approver} {
		v.signIn("Ray", token)
		p := v.get(playground)
		p.says(t, "Publishing takes the right of an admin")
		f := p.form()
		f.Set("text", fax)
		f.Set("draft", strings.Replace(f.Get("draft"), "read: [", "read: [send_fax, ", 1))
		v.press(f, "try").says(t, `read {"path":"a.md"}`)
		for _, do := range []string{"publish", "undo"} {
			if p := v.press(f, do); p.StatusCode != http.StatusForbidden {
				t.Errorf("%s may %s: %s", token, do, p.Status)
			}
		}
	}
	nobody := &visitor{t: t, s: v.s}
	for _, do := range []string{"try", "publish", "undo"} {
		if p := nobody.press(url.Values{}, do); p.StatusCode != http.StatusUnauthorized {
			t.Errorf("nobody may %s: %s", do, p.Status)
		}
	}
	v.signIn("Ann", stage.Admin)
	for _, do := range []string{"try", "publish", "undo"} {
		f := v.get(playground).form()
		f.Set("draft", "version: 1\n")
		path := playground
		if do != "try" {
			path += "/" + do
		}
		if p := v.do(http.MethodPost, path, f.Encode(), "Sec-Fetch-Site", "cross-site", "Origin",
			"http://evil.example"); p.StatusCode != http.StatusForbidden {
			t.Errorf("another site may %s: %s", do, p.Status)
		}
	}
	open := open(t, nil, nil)
	p := open.get(playground)
	p.says(t, "asks for no token")
	f := p.form()
	f.Set("text", "hello")
	open.press(f, "try").says(t, "hello")
	for _, do := range []string{"publish", "undo"} {
		if p := open.press(f, do); p.StatusCode != http.StatusForbidden {
			t.Errorf("without a token one may %s: %s", do, p.Status)
		}
	}
	if v.s.Log.Count("rules_taken")+v.s.Log.Count("rules_refused")+open.s.Log.Count("rules_taken") > 0 {
		t.Error("something was changed")
	}
}

// What is wrong with a draft is said at its line, and it cannot be published; a name of a file that
// leads elsewhere is none.
func TestBadDrafts(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	v := open(t, stage.Tokens, nil)
	v.signIn("Ann", stage.Admin)
	f := v.get(playground + "?file=limits.yaml&line=3").form()
	if f.Get("of") != "limits.yaml" || !strings.Contains(f.Get("draft"), "per_minute") {
		t.Fatalf("the form is %v", f)
	}
	f.Set("draft", strings.Replace(f.Get("draft"), "per_minute", "per_minit", 1))
	v.press(f, "try").says(t, "does not load", "[E-key]", `data-line="`)
	p := v.press(f, "publish")
	if p.StatusCode != http.StatusConflict {
		t.Errorf("it is %s", p.Status)
	}
	p.says(t, "Nothing was published", "per_minit")
	v.press(f, "tests").says(t, "The tests cannot run")
	f.Set("draft", "")
	v.press(f, "try").says(t, "Mend limits.yaml: this file is empty")
	tests := v.get(playground + "?file=tests/replies.yaml").form()
	tests.Set("draft", strings.Replace(tests.Get("draft"), "shows: Four.", "shows: Five.", 1))
	v.press(tests, "tests").says(t, "a test does not hold", "1 of", "does not hold", `the user sees "Four."`)
	v.press(tests, "publish").says(t, "Nothing was published")
	for _, name := range []string{"../../etc/passwd", "/etc/passwd", "policy/exec.yaml",
		"builtin/programs/vcs.yaml", "nothing.yaml", "aliases.yaml/../limits.yaml"} {
		if p := v.get(playground +
			"?" + url.Values{"file": {name}}.Encode()); p.StatusCode != http.StatusNotFound || strings.Contains(p.text, "root:") {
			t.Errorf("%s is %s", name, p.Status)
		}
		for _, do := range []string{"try", "publish", "drop"} {
			f := url.Values{"of": {name}, "file": {name}, "draft": {"version: 1\n"},
				"base": {tests.Get("base")}}
			if p := v.press(f, do); p.StatusCode != http.StatusNotFound {
				t.Errorf("%s of %s is %s", do, name, p.Status)
			}
		}
	}
	for _, id := range []string{"../x", "nothing", "%00"} {
		if p := v.get(playground + "?" + url.Values{"turn": {id},
			"reply": {"1"}}.Encode()); p.StatusCode != http.StatusNotFound {
			t.Errorf("the turn %s is %s", id, p.Status)
		}
	}
	for name, long := range map[string]url.Values{
		"a reply": {"text": {strings.Repeat("x", 65<<10)}}, "a form": {"draft": {strings.Repeat("x", 4<<20)}},
	} {
		if p := v.press(long, "try"); p.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s that is too long is %s", name, p.Status)
		}
	}
	if p := v.do(http.MethodPost, "/console/approvals/x",
		"why="+strings.Repeat("x", 17<<10)); p.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("other forms may be longer now, too: %s", p.Status)
	}
	if v.s.Log.Count("rules_taken")+v.s.Log.Count("rules_refused") > 0 {
		t.Error("something was changed, or Health tells of a refused edit")
	}
}

// Switching files loses no draft, and a file whose lines end in CR LF keeps them.
func TestDraftStays(t *testing.T) {
	crlf := "# ours\r\nversion: 1\r\n"
	v := open(t, stage.Tokens, nil)
	ruletest.Must(t, os.MkdirAll(filepath.Join(v.s.Rules, "extra"), 0o755))
	ruletest.Must(t, os.WriteFile(filepath.Join(v.s.Rules, "extra", "exec.ours.yaml"), []byte(crlf), 0o644))
	ruletest.Soon(t, "the file is in force", func() bool { return v.s.Log.Count("rules_taken") > 0 })
	v.signIn("Ann", stage.Admin)
	f := v.get(playground).form()
	f.Set("text", "keep me")
	f.Set("draft", "# mine\n"+f.Get("draft"))
	f.Set("file", "extra/exec.ours.yaml")
	p := v.press(f, "open")
	p.says(t, "Your draft of aliases.yaml is not published", "# mine", "keep me")
	p = v.press(p.form(), "drop")
	f = p.form()
	if strings.Contains(f.Get("draft"), "# mine") || f.Get("text") != "keep me" {
		t.Errorf("it was not dropped: %v", f)
	}
	f.Set("file", "extra/exec.ours.yaml")
	f = v.press(f, "open").form()
	if f.Get("of") != "extra/exec.ours.yaml" || f.Get("draft") != crlf {
		t.Fatalf("the file is opened as %q", f.Get("draft"))
	}
	v.press(f, "try").says(t, "as it is in force")
	f.Set("draft", f.Get("draft")+"# more\r\n")
	v.press(f, "publish").says(t, "Ann has published")
	if text, err := os.ReadFile(filepath.Join(v.s.Rules, "extra", "exec.ours.yaml")); err != nil ||
		string(text) != crlf+"# more\r\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// A name gets its meaning in aliases.yaml, whatever file is open; a draft is not lost for it.
func TestAliasFromElsewhere(t *testing.T) {
	v := open(t, nil, nil)
	f := v.get(playground + "?file=limits.yaml").form()
	f.Set("text", fax)
	p := v.press(f, "alias read send_fax")
	p.says(t, "read: [send_fax, read_file", "By your draft")
	v.press(f, "alias exec send_fax").says(t, "Still refused: exec needs")
	f = v.get(playground + "?file=limits.yaml").form()
	f.Set("text", fax)
	f.Set("draft", "# mine\n"+f.Get("draft"))
	v.press(f, "alias read send_fax").says(t, "Publish your draft of limits.yaml first", "# mine")
	for _, no := range []string{"alias nothing send_fax", "alias read other", "alias", "alias read"} {
		f := v.get(playground).form()
		f.Set("text", fax)
		if p := v.press(f, no); strings.Contains(p.text, "By your draft") {
			t.Errorf("%s changes the draft", no)
		}
	}
}

// Commands, paths and addresses are asked about, by the draft as well.
func TestPlaygroundPolicy(t *testing.T) {
	v := open(t, nil, nil)
	for _, row := range []struct{ what, text, want string }{
		{"command", "rm -rf /", "whole-tree"}, {"path", "/etc/shadow", "deny"}, {"url", "http://169.254.169.254/latest", "deny"}, {"command", "ls", "allow"},
	} {
		f := v.get(playground + "?file=exec.yaml").form()
		f.Set("what", row.what)
		f.Set("text", row.text)
		v.press(f, "try").says(t, row.want)
	}
	f := v.get(playground + "?file=exec.yaml").form()
	f.Set("what", "command")
	f.Set("text", "ls")
	draft := f.Get("draft")
	at := strings.Index(draft, "\r\nrules:\r\n")
	if at < 0 {
		t.Fatal("exec.yaml has no rules")
	}
	at += len("\r\nrules:\r\n")
	f.Set("draft", draft[:at]+
		"  - id: no-ls\r\n    deny: not today\r\n    when: cmd.binary == 'ls'\r\n"+draft[at:])
	v.press(f, "try").says(t, "policy", "deny by no-ls", "not today")
}

// Secrets of a turn are masked in the form, too, and what a model wrote is text in all of it.
func TestPlaygroundText(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	const key = "sk-proj-Zm9vYmFyMTIzNDU2Nzg5"
	const evil = `</textarea><script>alert(1)</script><img src=x onerror=alert(2)>"'`
	v := open(t, func(s *config.Settings) { stage.Tokens(s) }, map[string]script.Reply{
		"secret": script.Native("write",
			`{"path":"a","content":"x","password":"hunter2hunter2"}`).Thinking("The key is " + key),
		"evil": script.Text(evil + `<|channel|>commentary to=` + evil + ` <|message|>{"a":"` +
			"</textarea>" + `"}<|call|>`).Thinking(evil),
		"name": script.LeakedHarmony("</textarea><script>alert(1)</script>", `{"a":1}`),
	})
	v.signIn(evil, stage.Admin)
	for _, user := range []string{"secret", "evil", "name"} {
		v.s.Ask("s", user, false)
		_, rest, _ := strings.Cut(v.newest(), `class="try" href="`)
		href, _, _ := strings.Cut(rest, `"`)
		p := v.get(html.UnescapeString(href))
		f := p.form()
		f.Set("model", evil)
		f.Set("list", evil)
		f.Set("draft", f.Get("draft")+"\r\n"+evil)
		for i, p := range []page{p, v.press(f, "try"), v.press(f, "alias x "+evil), v.press(f, "publish")} {
			if strings.Contains(p.text, key) || strings.Contains(p.text, "hunter2hunter2") {
				t.Errorf("%s, page %d: a secret is shown", user, i)
			}
			if strings.Contains(p.text, "<script>alert") || strings.Contains(p.text, "<img src=x") {
				t.Errorf("%s, page %d holds markup of the model:\n%s", user, i, p.text)
			}
		}
		if user == "secret" {
			p.says(t, "2 secrets of this reply are masked here", "«masked:")
		}
	}
}

// Who may not publish drafts with the secrets of rule files masked, and what they leave alone counts as it
// is.
func TestDraftOfReader(t *testing.T) {
	token := "ghp_" + strings.Repeat("Ab1", 12)
	v, _ := keeping(t, stage.Tokens, nil, nil)
	for i, file := range []string{"aliases.yaml", "exec.yaml"} {
		name := filepath.Join(v.s.Rules, file)
		doc, err := os.ReadFile(name)
		ruletest.Must(t, err)
		ruletest.Must(t, os.WriteFile(name, append([]byte("# old key "+token+"\n"), doc...), 0o600))
		ruletest.Soon(t, "the rules are taken", func() bool { return v.s.Log.Count("rules_taken") > i })
	}
	const page = playground + "?file=aliases.yaml"
	for token2, sees := range map[string]bool{stage.Reader: false, stage.Admin: true} {
		v.signIn("Ann", token2)
		p := v.get(page)
		if strings.Contains(p.text, token) != sees {
			t.Errorf("the draft: the secret is there %v", !sees)
		}
		if strings.Contains(v.get("/console/decisions/replay").text, token) != sees {
			t.Errorf("replay: the secret is there %v", !sees)
		}
		if q := v.press(p.form(), "try"); strings.Contains(q.text, "What your draft changes in the file") {
			t.Error("a draft that was left alone changes the file")
		}
	}
}
