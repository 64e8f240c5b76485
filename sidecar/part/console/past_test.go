package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// keeping is a visitor of a server that keeps decisions and runs. fill may write both before it starts.
func keeping(t *testing.T, change func(*config.Settings), replies map[string]script.Reply,
	fill func(*config.Settings)) (*visitor, *config.Settings) {
	t.Helper()
	var settings config.Settings
	with := stage.Kept(t, func(s *config.Settings) {
		if change != nil {
			change(s)
		}
		settings = *s
	})
	if with(&settings); fill != nil {
		fill(&settings)
	}
	return open(t, with, replies), &settings
}

// logged writes decisions before a server starts.
func logged(t *testing.T, dir string, list ...decisions.Decision) {
	t.Helper()
	l, err := decisions.Open(decisions.Config{Dir: dir})
	ruletest.Must(t, err)
	for _, d := range list {
		ruletest.Must(t, l.Add(d))
	}
	ruletest.Must(t, l.Close())
}

// interrupted writes the journal of a run that was broken off.
func interrupted(t *testing.T, s *config.Settings, id string, words string) {
	t.Helper()
	j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(s.State, run.Folder), Now: time.Now})
	ruletest.Must(t, err)
	request, err := json.Marshal(map[string]any{"model": "executor",
		"messages": []map[string]string{{"role": "user", "content": words}}})
	ruletest.Must(t, err)
	args, err := json.Marshal(map[string]string{"path": words})
	ruletest.Must(t, err)
	r, err := j.Begin(run.BeginRecord{ID: id, Model: "executor", Session: words, Agent: words, Channel: words,
		Rules: words, Sum: id, Request: request})
	ruletest.Must(t, err)
	for _, rec := range []run.JournalRecord{
		{Resume: &run.ResumeRecord{By: words, Rules: words}},
		{Turn: &run.TurnRecord{N: 1, Content: words, Reasoning: words, Calls: []run.RequestedCall{{ID: "a", Tool: words, Arguments: string(args)}, {ID: "b", Tool: "write", Arguments: words}}}},
		{Call: &run.CallRecord{ID: "a", Tool: words, Does: words}}, {Result: &run.ResultRecord{ID: "a", Text: words, Failed: true}},
		{Call: &run.CallRecord{ID: "b", Tool: words, Does: words, Changes: true}},
	} {
		ruletest.Must(t, r.Add(rec))
	}
	ruletest.Must(t, r.Close())
}

// hrefOf is where the first row of a list leads.
func (v *visitor) hrefOf(list string) string {
	v.t.Helper()
	m := regexp.MustCompile(`href="([^"]+)" data-item`).FindStringSubmatch(v.get(list).text)
	if m == nil {
		v.t.Fatalf("%s has no row:\n%s", list, v.get(list).text)
	}
	return html.UnescapeString(m[1])
}

var rowPattern = regexp.MustCompile(`(?s)<tr data-effect.*?</tr>`)

// Where nothing is kept, the pages say what to set.
func TestNothingKept(t *testing.T) {
	v := open(t, nil, nil)
	for path, want := range map[string]string{
		"/console/decisions": "--decisions DIR", "/console/decisions/replay": "--decisions DIR",
		"/console/decisions/verify": "--decisions DIR", "/console/runs": "--workspace-tools",
		"/console/decisions/1": "No decision log is written", "/console/runs/runX": "No run is kept",
	} {
		if p := v.get(path); !strings.Contains(p.text, want) ||
			p.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s: %s\n%s", path, p.Status, p.text)
		}
	}
	for _, path := range []string{"/console/decisions/verify", "/console/decisions/replay"} {
		if p := v.do(http.MethodPost, path, "against=now"); p.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, p.Status)
		}
	}
}

// A decision is found by each filter, its page says all that is known, and leads to its turn.
func TestDecision(t *testing.T) {
	v, _ := keeping(t, stage.Tokens, map[string]script.Reply{
		"destroy": script.Native("exec", `{"command":"rm -rf / --no-preserve-root"}`),
		"note":    script.Native("write", `{"path":"/srv/other/a","content":"password=hunter2hunter2"}`),
	}, nil)
	v.signIn("Sam", stage.Approver)
	v.s.Ask("agent:main:one", "destroy", false)
	v.s.Ask("agent:main:two", "note", true)
	for query, want := range map[string]int{ // the model is asked again, and calls the same
		"": 4, "?effect=deny": 2, "?effect=ask": 2, "?effect=allow": 0, "?tool=exec": 2,
		"?rule=whole-tree": 2, "?rule=nothing": 0, "?session=agent%3Amain%3Atwo": 2, "?agent=other": 0,
		"?q=RM+preserve": 2, "?q=rm+nothing": 0, "?from=1h": 4, "?to=1h": 0,
		"?from=2020-01-01&to=2020-01-02+10:00": 0, "?from=2020-01-01T10:00": 4, "?before=2": 0,
		"?tool=exec&effect=ask": 0,
	} {
		page := v.get("/console/decisions" + query)
		if got := len(rowPattern.FindAllString(page.text, -1)); got != want ||
			page.StatusCode != http.StatusOK {
			t.Errorf("%s: %d rows, want %d, %s", query, got, want, page.Status)
		}
	}
	for query, status := range map[string]int{"?from=yesterday": 400, "?to=%3Cb%3E": 400, "?before=x": 404,
		"?before=-1": 404, "?before=99999999999999999999": 404} {
		if p := v.get("/console/decisions" + query); p.StatusCode != status {
			t.Errorf("%s: %s", query, p.Status)
		}
	}
	denied := v.get(v.hrefOf("/console/decisions?effect=deny")).text
	for _, want := range []string{"rm -rf / --no-preserve-root", "whole-tree", "exec.yaml:",
		"deletes /  root", "any(cmd.deletes", `href="/console/turns/req`, `session=agent%3Amain%3Aone`,
		"The record fits its hash, and follows on the one before.", "Hash of the record before"} {
		if !strings.Contains(denied, want) {
			t.Errorf("the decision does not say %s:\n%s", want, denied)
		}
	}
	turn := regexp.MustCompile(`/console/turns/[^"]+`).FindString(denied)
	back := v.get(turn).text
	decided := html.UnescapeString(regexp.MustCompile(`/console/decisions\?q=[^"]+`).FindString(back))
	if list := v.get(decided).text; len(rowPattern.FindAllString(list, -1)) != 2 ||
		!strings.Contains(list, "whole-tree") {
		t.Errorf("the turn %s leads to %s:\n%s", turn, decided, list)
	}
	if waits := v.get("/console/approvals").text; !strings.Contains(waits,
		`href="/console/decisions?q=`+approvalOf(v)+`"`) {
		t.Errorf("the approval does not lead to the log:\n%s", waits)
	}
	v.do(http.MethodPost, "/console/approvals/"+approvalOf(v), url.Values{"answer": {"deny"},
		"why": {"not there"}}.Encode())
	asked := v.get(v.hrefOf("/console/decisions?effect=ask")).text
	for _, want := range []string{"denied", "Sam (console, token of an approver)", "not there", "«masked:",
		"1 secret is masked"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the decision does not say %s:\n%s", want, asked)
		}
	}
	if strings.Contains(asked, "hunter2") {
		t.Error("a secret is shown")
	}
	answer := v.get(regexp.MustCompile(`href="(/console/decisions/\d+)">the record`).FindStringSubmatch(asked)[1]).text
	if !strings.Contains(answer, "<h1>Answer ") || !strings.Contains(answer, "Sam (console") ||
		!strings.Contains(v.get("/console/decisions/1").text, "a process began to write") {
		t.Errorf("%s", answer)
	}
}

// A decision is shown with the parts of its rule also when others are in force, as long as those of then
// are kept.
func TestDecisionByRulesOfThen(t *testing.T) {
	v, _ := keeping(t, nil, map[string]script.Reply{"destroy": script.Native("exec",
		`{"command":"rm -rf /"}`)}, nil)
	v.s.Ask("one", "destroy", false)
	first := v.s.Log.Count("rules_taken")
	ruletest.Edit(t, v.s.Rules, "exec.yaml", "id: whole-tree", "id: all-of-it")
	ruletest.Soon(t, "the edit is in force", func() bool { return v.s.Log.Count("rules_taken") > first })
	if page := v.get(v.hrefOf("/console/decisions")).text; !strings.Contains(page, "any(cmd.deletes") ||
		!strings.Contains(page, "<strong>whole-tree</strong>") || strings.Contains(page, "all-of-it") {
		t.Errorf("it is judged by the rules of now:\n%s", page)
	}
}

// The list goes on with older ones, and no decision is lost or twice between pages.
func TestDecisionPages(t *testing.T) {
	v, _ := keeping(t, nil, nil, func(s *config.Settings) {
		var list []decisions.Decision
		for i := range 130 {
			list = append(list, decisions.Decision{Tool: fmt.Sprint("tool", i), Session: fmt.Sprint("s", i%2),
				Effect: policy.Allow, Arguments: json.RawMessage(`{}`)})
		}
		logged(t, s.Decisions, list...)
	})
	for query, want := range map[string][]int{"?": {50, 50, 30}, "?session=s1&": {50, 15}} {
		seen := map[string]bool{}
		path := "/console/decisions" + query
		for i, n := range want {
			page := v.get(path).text
			rows := rowPattern.FindAllString(page, -1)
			if len(rows) != n {
				t.Fatalf("%s: page %d has %d rows", query, i, len(rows))
			}
			for _, r := range rows {
				if tool := regexp.MustCompile(`tool\d+`).FindString(r); seen[tool] {
					t.Errorf("%s is there twice", tool)
				} else {
					seen[tool] = true
				}
			}
			next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page)
			if (next == nil) != (i == len(want)-1) {
				t.Fatalf("%s: page %d leads to %v", query, i, next)
			}
			if next != nil {
				path = html.UnescapeString(next[1])
			}
		}
	}
}

// A log that somebody has changed is shown as such, on each page that looks at it.
func TestTampered(t *testing.T) {
	v, s := keeping(t, nil, nil, func(s *config.Settings) {
		logged(t, s.Decisions, decisions.Decision{Tool: "exec", Effect: policy.Deny,
			Arguments: json.RawMessage(`{"command":"rm"}`)}, decisions.Decision{Tool: "read",
			Effect: policy.Allow})
	})
	whole := v.do(http.MethodPost, "/console/decisions/verify", "")
	if !strings.Contains(whole.text, "The chain holds") ||
		!strings.Contains(whole.text, "Nothing was changed") {
		t.Errorf("%s\n%s", whole.Status, whole.text)
	}
	head := regexp.MustCompile(`\d+:[0-9a-f]{64}`).FindString(whole.text)
	if p := v.do(http.MethodPost, "/console/decisions/verify",
		url.Values{"head": {head}}.Encode()); !strings.Contains(p.text,
		"all records up to that one are what they were") {
		t.Errorf("its own head: %s", p.text)
	}
	if p := v.do(http.MethodPost, "/console/decisions/verify",
		url.Values{"head": {strings.Repeat("x", 80)}}.Encode()); p.StatusCode != http.StatusBadRequest {
		t.Errorf("no head: %s", p.Status)
	}
	files, err := filepath.Glob(filepath.Join(s.Decisions, "0*.jsonl"))
	ruletest.Must(t, err)
	text, err := os.ReadFile(files[0])
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(files[0], bytes.Replace(text, []byte(`"effect":"deny"`),
		[]byte(`"effect":"audit"`), 1), 0o600))
	for _, p := range []page{v.do(http.MethodPost, "/console/decisions/verify", ""),
		v.do(http.MethodPost, "/console/decisions/verify", url.Values{"head": {head}}.Encode())} {
		for _, want := range []string{"The chain is broken", "Record 2",
			"it was changed: its hash does not fit", files[0] + ":2"} {
			if !strings.Contains(p.text, want) {
				t.Errorf("verify does not say %s:\n%s", want, p.text)
			}
		}
	}
	if list := v.get("/console/decisions").text; !strings.Contains(list, "it was changed") {
		t.Errorf("the list does not say it:\n%s", list)
	}
	if one := v.get("/console/decisions/2").text; !strings.Contains(one,
		"What stands here is not what was written") || strings.Contains(one, "The record fits its hash") {
		t.Errorf("the record does not say it:\n%s", one)
	}
	if replay := v.do(http.MethodPost, "/console/decisions/replay",
		"against=now"); !strings.Contains(replay.text, "damaged lines") {
		t.Errorf("replay does not say it:\n%s", replay.text)
	}
}

// A replay by the rules in force changes nothing; by a draft it says what would change; a draft that
// does not load says where. Neither the rules nor the log are other ones afterwards.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestDraftStays goes through the same goroutines")
	}
	v, s := keeping(t, stage.Tokens, map[string]script.Reply{"destroy": script.Native("exec",
		`{"command":"rm -rf /"}`), "list": script.Native("exec", `{"command":"ls"}`)}, nil)
	v.signIn("Ann", stage.Reader)
	v.s.Ask("one", "destroy", false)
	v.s.Ask("one", "list", false)
	form := v.get("/console/decisions/replay?effect=deny").text
	draft := html.UnescapeString(regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(form)[1])
	if !strings.Contains(draft, "profile: developer") ||
		!strings.Contains(form, `name="effect" value="deny"`) {
		t.Fatalf("%.3000s", form)
	}
	before, versionBefore := logText(t, s), v.s.Log.Count("rules_taken")
	send := func(values url.Values) page {
		return v.do(http.MethodPost, "/console/decisions/replay", values.Encode())
	}
	if p := send(url.Values{"against": {"now"}}); !strings.Contains(p.text, "Nothing would change") ||
		!strings.Contains(p.text, "<b>3</b> unchanged") {
		t.Errorf("now: %s\n%.4000s", p.Status, p.text)
	}
	stricter := strings.ReplaceAll(strings.Replace(draft, "rules:\n",
		"rules:\n  - id: no-looking\n    deny: Nobody looks.\n    when: cmd.binary == 'ls'\n", 1), "\n",
		"\r\n")
	p := send(url.Values{"against": {"draft"}, "draft": {stricter}})
	for _, want := range []string{"1 decision of 3 would change", "<b>1</b> newly denied", "no-looking",
		`e-allow">allow</span> → <span class="effect e-deny">deny`} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the draft: it does not say %s:\n%.6000s", want, p.text)
		}
	}
	if p := send(url.Values{"against": {"draft"}, "draft": {stricter},
		"effect": {"deny"}}); !strings.Contains(p.text, "Nothing would change") {
		t.Errorf("the filter does not count:\n%.4000s", p.text)
	}
	bad := send(url.Values{"against": {"draft"},
		"draft": {strings.Replace(draft, "profile: developer", "profile: <script>alert(1)</script>", 1)}})
	if bad.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(bad.text, "exec.yaml:") ||
		!strings.Contains(bad.text, "does not load") || strings.Contains(bad.text, "<script>alert") {
		t.Errorf("a draft with a mistake: %s\n%.3000s", bad.Status, bad.text)
	}
	var refused atomic.Int64
	for round := 0; refused.Load() == 0; round++ { // until two of them meet
		if round == 50 {
			t.Fatal("one reader has many drafts tried at a time")
		}
		var many sync.WaitGroup
		for i := range 8 {
			other := strings.ReplaceAll(stricter, "'ls'", fmt.Sprintf("'ls%d-%d'", round, i)) // it is read anew
			many.Go(func() {
				if p := send(url.Values{"against": {"draft"},
					"draft": {other}}); p.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			})
		}
		many.Wait()
	}
	if p := send(url.Values{"against": {"draft"},
		"draft": {strings.Repeat("x", 600<<10)}}); p.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(p.text, "512 KiB") {
		t.Errorf("a draft that is too long: %s", p.Status)
	}
	if p := v.do(http.MethodPost, "/console/decisions/verify",
		"head="+strings.Repeat("x", 20<<10)); p.StatusCode != http.StatusRequestEntityTooLarge ||
		!strings.Contains(p.text, "16 KiB") {
		t.Errorf("another form that is too long: %s", p.Status)
	}
	if logText(t, s) != before || v.s.Log.Count("rules_taken") != versionBefore ||
		v.s.Log.Count("rules_refused") > 0 {
		t.Error("a replay has changed something")
	}
}

func logText(t *testing.T, s *config.Settings) string {
	t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(s.Decisions, "0*.jsonl"))
	ruletest.Must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		ruletest.Must(t, err)
		all.Write(text)
	}
	return all.String()
}

// A run is shown turn by turn, with results that were cut, and leads to its decisions and back.
func TestRun(t *testing.T) {
	s := stage.Open(t, stage.Kept(t, nil),
		stage.Model(nil, script.Scenario{Name: "errand", Steps: []script.Reply{
			script.Native("write", `{"path":"notes.md","content":"`+strings.Repeat("long ", 2000)+
				`"}`).Thinking("First the notes."), script.Native("read", `{"path":"notes.md"}`),
			script.Native("read", `{"path":"/etc/shadow"}`), script.Text("The errand is run."),
		}}))
	v := &visitor{t: t, s: s}
	v.s.Run("june", "errand")
	list := v.get("/console/runs").text
	for _, want := range []string{"errand", "answered", "june", "executor"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not say %s:\n%s", want, list)
		}
	}
	for query, want := range map[string]bool{"?q=ERRAND+june": true, "?q=nothing": false,
		"?state=answered": true, "?state=broken-off": false, "?older=1": false, "?older=-5": true,
		"?older=x": true} {
		if got := strings.Contains(v.get("/console/runs"+query).text, "data-item"); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	href := v.hrefOf("/console/runs")
	run := v.get(href).text
	for _, want := range []string{"First the notes.", "Turn 3", "The errand is run.",
		"bytes more are not shown", "refused", "Wrote notes.md", "finish_reason stop", "4 turns"} {
		if !strings.Contains(run, want) {
			t.Errorf("the run does not say %s:\n%s", want, run)
		}
	}
	if strings.Contains(run, ">Resume<") || strings.Contains(run, "It can go on") ||
		strings.Count(run, "long ") > 5000 {
		t.Errorf("it could go on, or is not cut: %d", strings.Count(run, "long "))
	}
	decided := html.UnescapeString(regexp.MustCompile(`/console/decisions\?q=[^"]+`).FindString(run))
	if rows := rowPattern.FindAllString(v.get(decided).text, -1); len(rows) != 3 {
		t.Errorf("%s has %d decisions", decided, len(rows))
	}
	if one := v.get(v.hrefOf(decided)).text; !strings.Contains(one, `href="`+href+`"`) {
		t.Errorf("the decision does not lead to the run:\n%s", one)
	}
	if turn := v.newest(); !strings.Contains(turn, `href="`+href+`"`) {
		t.Error("the turn does not lead to the run")
	}
}

// A run that was broken off is resumed by an admin and by nobody else, by the page as by the admin API;
// the log and the journal name who did.
func TestResume(t *testing.T) {
	v, _ := keeping(t, stage.Tokens, map[string]script.Reply{"tidy": script.Text("It is tidy.")},
		func(s *config.Settings) {
			interrupted(t, s, "runOne", "tidy")
			interrupted(t, s, "runTwo", "tidy")
		})
	resume := "/console/runs/runOne/resume"
	for _, token := range []string{stage.Reader, stage.Approver} {
		v.signIn("Eve", token)
		page := v.get("/console/runs/runOne").text
		if p := v.do(http.MethodPost, resume, ""); p.StatusCode != http.StatusForbidden ||
			!strings.Contains(page, "gpt-oss-executor runs resume runOne") ||
			strings.Contains(page, "<button id=\"resume-button\"") {
			t.Errorf("%s: %s\n%s", token, p.Status, page)
		}
	}
	v.signIn("Sam", stage.Admin)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		{"Sec-Fetch-Site", "", "Origin", ""}, {"Origin", "null"}, {"Cookie", ""}} {
		if p := v.do(http.MethodPost, resume, "", header...); p.StatusCode < 400 {
			t.Errorf("%q: %s", header, p.Status)
		}
	}
	if p := v.get(resume); p.StatusCode < 400 {
		t.Errorf("a link resumes: %s", p.Status)
	}
	if n := v.s.Log.Count("run_resumed"); n > 0 {
		t.Fatal("somebody has resumed it")
	}
	if page := v.get("/console/runs/runOne").text; !strings.Contains(page, `action="`+resume+`"`) ||
		!strings.Contains(page, "broken-off") || !strings.Contains(page, "in-doubt") {
		t.Errorf("%s", page)
	}
	if p := v.do(http.MethodPost, resume, ""); p.StatusCode != http.StatusSeeOther ||
		p.Header.Get("Location") != "/console/runs/runOne?resumed=1" {
		t.Fatalf("%s %s", p.Status, p.text)
	}
	ruletest.Soon(t, "it is answered",
		func() bool { return strings.Contains(v.get("/console/runs/runOne").text, "It is tidy.") })
	if page := v.get("/console/runs/runOne").text; !strings.Contains(page,
		"as Sam (console, token of an admin) wanted") || strings.Contains(page, resume) {
		t.Errorf("%s", page)
	}
	if page := v.get("/console/turns/runOne"); page.StatusCode != http.StatusOK ||
		!strings.Contains(page.text, "It is tidy.") {
		t.Errorf("Live does not show it: %s\n%s", page.Status, page.text)
	}
	if lines := v.s.Log.Lines("run_resumed"); len(lines) != 1 ||
		!strings.Contains(lines[0], `by="Sam (console, token of an admin)"`) {
		t.Errorf("the log says %q", lines)
	}
	if p := v.do(http.MethodPost, resume, ""); p.StatusCode != http.StatusConflict {
		t.Errorf("once more: %s", p.Status)
	}
	for _, row := range []struct {
		id, token, body string
		status          int
	}{
		{"runTwo", stage.Approver, `{"by":"Ann"}`, 403}, {"runTwo", stage.Reader, "", 403}, {"runNone", stage.Admin, "", 404}, {"runTwo", stage.Admin, `{"bye":"Ann"}`, 400}, {"runTwo", stage.Admin, `{"by":"Ann"}`, 202},
	} {
		status := http.StatusConflict
		ruletest.Soon(t, "the run before, which is answered, has ended", func() bool {
			req, err := http.NewRequest(http.MethodPost, v.s.Console+"/runs/"+row.id+"/resume",
				strings.NewReader(row.body))
			ruletest.Must(t, err)
			req.Header.Set("Authorization", "Bearer "+row.token)
			req.Header.Set("Content-Type", "application/json")
			res, err := v.s.HTTP.Do(req)
			ruletest.Must(t, err)
			ruletest.Must(t, res.Body.Close())
			status = res.StatusCode
			return status != http.StatusConflict
		})
		if status != row.status {
			t.Errorf("%+v: %d", row, status)
		}
	}
	ruletest.Soon(t, "the other is answered",
		func() bool { return strings.Contains(v.get("/console/runs/runTwo").text, "It is tidy.") })
	if page := v.get("/console/runs/runTwo").text; !strings.Contains(page, "as Ann wanted") {
		t.Errorf("%s", page)
	}
}

// Whatever stands in the log and in the journal is text on every page, and secrets are masked.
func TestPastIsText(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e"
	const key = "sk-proj-Zm9vYmFyMTIzNDU2Nzg5"
	args, err := json.Marshal(map[string]string{"command": evil + key})
	ruletest.Must(t, err)
	v, _ := keeping(t, stage.Tokens, nil, func(s *config.Settings) {
		found := []policy.Finding{{Rule: evil, Place: evil, Why: evil, Effect: policy.Deny}}
		logged(t, s.Decisions, decisions.Decision{
			Call: evil, Request: evil, Approval: evil, Session: evil, Agent: evil, Channel: evil, Model: evil,
			Workspace: []string{evil}, Cwd: evil, Tool: evil, Class: evil, Strategy: evil,
			Arguments: args, Effect: policy.Ask, Outcome: decisions.Outcome(evil), Rule: evil, Place: evil,
			Why: evil, Instead: evil, Findings: found, Rules: evil, Arms: []string{evil},
		}, decisions.Decision{Tool: "exec", Arguments: args, Effect: policy.Deny, Rule: evil})
		interrupted(t, s, "runEvil", evil+key)
	})
	v.signIn(evil, stage.Admin)
	pages := map[string]string{}
	for _, path := range []string{"/console/decisions", "/console/decisions/2", "/console/decisions/3",
		"/console/runs", "/console/runs/runEvil", "/console/decisions/replay?" + url.Values{"rule": {evil}}.Encode(), "/console/decisions?" + url.Values{"q": {evil}, "rule": {evil}, "from": {"1h"}}.Encode(), "/console/runs?" + url.Values{"q": {evil}, "state": {evil}}.Encode(), "/console/decisions?from=" + url.QueryEscape(evil)} {
		pages[path] = v.get(path).text
	}
	pages["replayed"] = v.do(http.MethodPost, "/console/decisions/replay", url.Values{"against": {"now"},
		"session": {""}}.Encode()).text
	pages["verified"] = v.do(http.MethodPost, "/console/decisions/verify", "").text
	for path, page := range pages {
		for _, mark := range []string{"<script>alert", "<img src=x", key} {
			if at := strings.Index(page, mark); at >= 0 {
				t.Errorf("%s holds %s: %.300q", path, mark, page[max(0, at-100):])
			}
		}
	}
	for _, path := range []string{"/console/decisions/2", "/console/runs/runEvil"} {
		if !strings.Contains(html.UnescapeString(pages[path]), "alert(1)") ||
			!strings.Contains(pages[path], "«masked:") {
			t.Errorf("%s does not show what stands there:\n%s", path, pages[path])
		}
	}
}

// Under no-text no page shows or searches what a model or a user wrote.
func TestPastWithoutWords(t *testing.T) {
	const words = "whispered"
	v, _ := keeping(t, func(s *config.Settings) { config.Of[console.Settings](s).Console = "no-text" }, nil,
		func(s *config.Settings) {
			logged(t, s.Decisions, decisions.Decision{Tool: "exec", Effect: policy.Deny,
				Arguments: json.RawMessage(`{"command":"` + words + `"}`), Why: words, Instead: words,
				Rule: "whole-tree"})
			j, err := run.OpenJournal(run.JournalConfig{Dir: filepath.Join(s.State, run.Folder), Now: time.Now})
			ruletest.Must(t, err)
			r, err := j.Begin(run.BeginRecord{ID: "runQuiet", Model: "executor",
				Request: []byte(`{"messages":[{"role":"user","content":"` + words + `"}]}`)})
			ruletest.Must(t, err)
			for _, rec := range []run.JournalRecord{{Turn: &run.TurnRecord{N: 1, Content: words, Reasoning: words,
				Calls: []run.RequestedCall{{ID: "a", Tool: "read", Arguments: words}}}},
				{Result: &run.ResultRecord{ID: "a", Text: words}}, {End: &run.EndRecord{Status: run.Failed, Text: words}}} {
				ruletest.Must(t, r.Add(rec))
			}
			ruletest.Must(t, r.Close())
		})
	for _, path := range []string{"/console/decisions", "/console/decisions/2", "/console/runs",
		"/console/runs/runQuiet"} {
		if p := v.get(path); p.StatusCode != http.StatusOK || strings.Contains(p.text, words) ||
			!strings.Contains(p.text, "no-text") {
			t.Errorf("%s: %s\n%s", path, p.Status, p.text)
		}
	}
	if p := v.do(http.MethodPost, "/console/decisions/replay", "against=now"); strings.Contains(p.text,
		words) {
		t.Error("a replay shows words")
	}
	if a, b := v.get("/console/runs?q="+words).text, v.get("/console/runs?q=other").text; strings.Contains(a,
		"data-item") || strings.Contains(b, "data-item") {
		t.Error("words of a task are searched")
	}
}

// No id leads out of the folders, and none that is odd is more than not found.
func TestPastTraversal(t *testing.T) {
	v, _ := keeping(t, stage.Tokens, nil, func(s *config.Settings) { interrupted(t, s, "runOne", "tidy") })
	v.signIn("Sam", stage.Admin)
	for _, id := range []string{"..%2fruns%2frunOne", "..%2f..%2fetc%2fpasswd", "%2e%2e", ".", "runOne%00",
		"runOne.jsonl", "run%20One", "..\\runOne", strings.Repeat("x", 5000), "%F0%9F%92%A9"} {
		for _, p := range []page{v.get("/console/runs/" + id),
			v.do(http.MethodPost, "/console/runs/"+id+"/resume", "")} {
			if p.StatusCode == http.StatusOK && strings.Contains(p.text, "tidy") || p.StatusCode >= 500 ||
				strings.Contains(p.text, "root:") {
				t.Errorf("%.40q: %s", id, p.Status)
			}
		}
	}
	for _, seq := range []string{"0", "-1", "1e3", "..%2f1", "1%00", "18446744073709551616", "99"} {
		if p := v.get("/console/decisions/" + seq); p.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", seq, p.Status)
		}
	}
}
