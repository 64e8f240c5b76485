package console_test

import (
	"encoding/json"
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

// newest is the page of the newest turn.
func (v *visitor) newest() string {
	v.t.Helper()
	_, rest, _ := strings.Cut(v.get("/console/").text, `<td class="c-time"><a href="`)
	href, _, ok := strings.Cut(rest, `"`)
	if !ok {
		v.t.Fatal("there is no turn")
	}
	return v.get(href).text
}

// A reply is read on its page as it was read when it left: by the rules of then, though others are
// in force now.
func TestRulesOfThen(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{"go": script.LeakedHarmony("shell_thing", `{"command":"ls"}`)})
	first := v.s.Log.Count("rules_taken")
	ruletest.Edit(t, v.s.Rules, "aliases.yaml", "exec: [bash", "exec: [shell_thing, bash")
	ruletest.Soon(t, "the alias is in force", func() bool { return v.s.Log.Count("rules_taken") > first })
	v.s.Ask("s", "go", true)
	before := v.newest()
	if !strings.Contains(before, "name.alias") ||
		!strings.Contains(before, "<code>shell_thing</code> → <code>exec</code>") {
		t.Fatalf("the alias was not used: %s", before)
	}
	ruletest.Edit(t, v.s.Rules, "aliases.yaml", "exec: [shell_thing, bash", "exec: [bash")
	ruletest.Soon(t, "the alias is gone", func() bool { return v.s.Log.Count("rules_taken") > first+1 })
	if after := v.newest(); !strings.Contains(after, "found 1 call") ||
		strings.Contains(after, "not_offered") {
		t.Errorf("the turn is read with the rules of now:\n%s", after)
	}
}

// Secrets are shown nowhere: not in the reply as it came, in what left, in the trace, the list, or the
// reasoning.
func TestMasked(t *testing.T) {
	const key, password = "sk-proj-Zm9vYmFyMTIzNDU2Nzg5", "hunter2hunter2"
	v := open(t, nil, map[string]script.Reply{
		"text": script.Text("<|channel|>analysis<|message|>The key is " + key +
			".<|end|><|start|>assistant<|channel|>final<|message|>Use api_key=" + key + " now."),
		"call": script.LeakedTurn("exec",
			`{"cmd":"curl -u sam:`+password+` https://example.com -H 'Authorization: Bearer `+key+`'",}`),
		"native": script.Native("write", `{"path":"a.txt","content":"x","password":"`+password+
			`"}`).Thinking("password=" + password),
		"name": script.LeakedHarmony(key, `{"token":"`+key+`"}`),
	})
	for _, user := range []string{"text", "call", "native", "name"} {
		for _, stream := range []bool{true, false} {
			v.s.Ask("s", user, stream)
			turn := v.newest()
			if strings.Contains(turn, key) || strings.Contains(turn, password) ||
				strings.Contains(turn, key[8:20]) {
				t.Errorf("%s: a secret is shown:\n%s", user, turn)
			}
			if !strings.Contains(turn, "«masked:") {
				t.Errorf("%s: nothing is masked:\n%s", user, turn)
			}
		}
	}
	if list := v.get("/console/").text; strings.Contains(list, key) {
		t.Error("a secret is in the list")
	}
}

// What a model, a caller or a file name says is text wherever it stands, and what cannot be seen is
// spelled out.
func TestScriptIsText(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e"
	args, err := json.Marshal(map[string]string{"path": "/srv/other/" + evil, "content": evil})
	ruletest.Must(t, err)
	name, err := json.Marshal(evil)
	ruletest.Must(t, err)
	v := open(t, stage.Tokens, map[string]script.Reply{
		"answer":    script.Text(evil).Thinking(evil),
		"arguments": script.Native("write", string(args)),
		"leaked":    script.LeakedTurn("write", string(args)),
		"name":      script.Text(`{"name": ` + string(name) + `, "arguments": {"a": ` + string(name) + `}}`),
		"native":    script.Native(evil, string(args)),
		"recipient": script.Text("<|channel|>commentary to=" + evil + " <|message|>{}<|call|>"),
		"error":     script.Fail(http.StatusInternalServerError, evil),
		"quoted": script.Fail(http.StatusInternalServerError, "error parsing tool call: raw='"+evil+
			"', err=x"),
	})
	v.signIn(evil, stage.Approver)
	var pages []string
	for _, user := range []string{"answer", "arguments", "leaked", "name", "native", "recipient", "error",
		"quoted"} {
		v.s.Ask(evil[:len(evil)-3], user, true)
		pages = append(pages, v.newest())
	}
	for _, path := range []string{"/console/", "/console/approvals", "/console/health",
		"/console/?" + url.Values{"q": {evil}}.Encode(), "/console/nothing/" + url.PathEscape(evil)} {
		pages = append(pages, v.get(path).text)
	}
	id := approvalOf(v)
	v.do(http.MethodPost, "/console/approvals/"+id, url.Values{"answer": {"deny"}, "why": {evil}}.Encode())
	pages = append(pages, v.get("/console/approvals?answered="+id).text,
		v.get("/console/sign-in?next="+url.QueryEscape(evil), "Cookie", "").text)
	for i, page := range pages {
		// a filter stays as its author wrote it
		page = strings.Replace(page, `value="`+html.EscapeString(evil)+`"`, "", 1)
		for _, mark := range []string{"<script>alert", "<img src=x", "\u202e"} {
			if at := strings.Index(page, mark); at >= 0 {
				t.Errorf("page %d holds markup of the model: %.300q", i, page[max(0, at-100):])
			}
		}
		if i < 6 && !strings.Contains(html.UnescapeString(page), "alert(1)") {
			t.Errorf("page %d does not show what the model said:\n%s", i, page)
		}
	}
}

// Who answers is in the log, and in the decision log; what may be answered, the token says.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	v := open(t, func(s *config.Settings) { stage.Tokens(s); s.Decisions = dir }, map[string]script.Reply{
		"one": script.Native("write", `{"path":"/srv/other/one","content":"password=hunter2hunter2"}`),
		"two": script.Native("write", `{"path":"/srv/other/two","content":"x"}`),
	})
	v.s.Ask("s", "one", false)
	ray := &visitor{t: t, s: v.s}
	ray.signIn("Ray", stage.Reader)
	reader := ray.get("/console/approvals").text
	if !strings.Contains(reader, "/srv/other/one") || strings.Contains(reader, "hunter2hunter2") ||
		strings.Contains(reader, "<form method=\"post\" action=\"/console/approvals") {
		t.Errorf("a reader sees\n%s", reader)
	}
	v.signIn("Ann", stage.Approver)
	whole := v.get("/console/approvals").text
	for _, want := range []string{"hunter2hunter2", "outside", "write-elsewhere",
		"Write inside the workspace", "writes /srv/other/one"} {
		if !strings.Contains(whole, want) {
			t.Errorf("an approver does not see %s:\n%s", want, whole)
		}
	}
	one := approvalOf(v)
	if p := ray.do(http.MethodPost, "/console/approvals/"+one,
		"answer=allow"); p.StatusCode != http.StatusForbidden {
		t.Errorf("a reader answers: %s", p.Status)
	}
	for form, want := range map[string]int{"": 400, "answer=maybe": 400,
		"answer=deny&why=" + strings.Repeat("x", 2000): 400} {
		if p := v.do(http.MethodPost, "/console/approvals/"+one, form); p.StatusCode != want {
			t.Errorf("%.20q: %s", form, p.Status)
		}
	}
	if p := v.do(http.MethodPost, "/console/approvals/nothing",
		"answer=allow"); p.StatusCode != http.StatusNotFound {
		t.Errorf("no such question: %s", p.Status)
	}
	done := v.do(http.MethodPost, "/console/approvals/"+one, "answer=allow")
	if p := v.get(done.Header.Get("Location")); !strings.Contains(p.text, one+" is allowed.") {
		t.Errorf("%s %s", done.Status, p.text)
	}
	if p := v.do(http.MethodPost, "/console/approvals/"+one,
		"answer=allow"); p.StatusCode != http.StatusConflict || !strings.Contains(p.text, "allowed already") {
		t.Errorf("twice: %s", p.Status)
	}
	v.s.Ask("s", "two", false)
	v.do(http.MethodPost, "/console/approvals/"+approvalOf(v), "answer=deny&why=not+there")
	want := `by="Ann (console, token of an approver)"`
	for _, event := range []string{"approval_allowed", "approval_denied"} {
		if lines := v.s.Log.Lines(event); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%s: %q", event, lines)
		}
	}
	var kept strings.Builder
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	ruletest.Must(t, err)
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			kept.Write(text)
		}
	}
	if !strings.Contains(kept.String(), "Ann (console") {
		t.Error("the decision log does not say who has answered")
	}
}

// Health says which server cannot be reached, and which edit of the rules was refused.
func TestHealth(t *testing.T) {
	v := open(t, func(s *config.Settings) { s.Upstream = "http://127.0.0.1:1/v1" }, nil)
	v.s.Ask("s", "hello", false)
	ruletest.Edit(t, v.s.Rules, "limits.yaml", "per_minute", "per_minit")
	ruletest.Soon(t, "the edit is refused", func() bool { return v.s.Log.Count("rules_refused") > 0 })
	page := v.get("/console/health").text
	for _, want := range []string{"not reachable", "the last edit was refused", "limits.yaml:", "1 turn",
		"Turns kept"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %s:\n%s", want, page)
		}
	}
}

// Of a server that answers, Health says what was found and learnt.
func TestHealthOfServers(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{"hello": script.Text("Hello.")})
	v.s.Ask("s", "hello", false)
	page := v.get("/console/health").text
	for _, want := range []string{"<dd>vllm</dd>", "131072 tokens", "gpt-oss"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %s:\n%s", want, page)
		}
	}
}

// After an edit of the rules a question can only be denied, and its page says so. A reason has as many
// characters as its field takes, whatever they are.
func TestStaleApproval(t *testing.T) {
	v := open(t, stage.Tokens,
		map[string]script.Reply{"one": script.Native("write", `{"path":"/srv/other/exаmple","content":"x"}`)})
	v.s.Ask("s", "one", false)
	v.signIn("Ann", stage.Approver)
	const button = `<button name="answer" value="allow" class="allow">`
	if page := v.get("/console/approvals").text; !strings.Contains(page, button) ||
		!strings.Contains(page, `ex<b class="beyond" title="`+"\u0430"+` U&#43;0430">`+"\u0430</b>mple") {
		t.Errorf("it cannot be allowed, or a letter does not stand out: %s", page)
	}
	ruletest.Edit(t, v.s.Rules, "aliases.yaml", "version: 1", "version: 1 # edited")
	ruletest.Soon(t, "the edit is in force", func() bool { return v.s.Log.Count("rules_taken") > 0 })
	if page := v.get("/console/approvals").text; strings.Contains(page, button) ||
		!strings.Contains(page, "it can only be denied") {
		t.Errorf("it can be allowed still: %s", page)
	}
	answer := func(why string) int {
		return v.do(http.MethodPost, "/console/approvals/"+approvalOf(v), url.Values{"answer": {"deny"},
			"why": {why}}.Encode()).StatusCode
	}
	if got := answer(strings.Repeat("語", 501)); got != http.StatusBadRequest {
		t.Errorf("a reason of 501 characters: %d", got)
	}
	if got := answer(strings.Repeat("語", 500)); got != http.StatusSeeOther {
		t.Errorf("a reason of 500 characters: %d", got)
	}
}

// A reply is shown as it came also where nobody had to decode its reasoning, and where the server
// quotes it in an error.
func TestAsItCame(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{
		"plain":  script.Text("Hello.").Thinking("Only a greeting."),
		"called": script.Native("read", `{"path":"a"}`).Thinking("Only a file."),
		"quoted": script.Fail(http.StatusInternalServerError,
			`error parsing tool call: raw='{"path":"a.md",}', err=invalid character '}' looking for beginning of object key string`),
	})
	for _, row := range []struct {
		user   string
		stream bool
		want   []string
	}{
		{"plain", false, []string{`title="thought">Only a greeting.</span>`, `title="text">Hello.</span>`}},
		{"plain", true, []string{`title="thought">Only a greeting.</span>`, `title="text">Hello.</span>`}},
		{"called", false, []string{`title="thought">Only a file.</span>`}},
		{"called", true, []string{`title="thought">Only a file.</span>`}},
		{"quoted", false, []string{`{&#34;path&#34;:&#34;a.md&#34;`, "As it came"}},
	} {
		v.s.Ask("s", row.user, row.stream)
		turn := v.newest()
		for _, want := range row.want {
			if !strings.Contains(turn, want) {
				t.Errorf("%s, stream %v: it does not show %s:\n%s", row.user, row.stream, want, turn)
			}
		}
	}
}
