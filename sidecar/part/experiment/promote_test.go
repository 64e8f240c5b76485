package experiment_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
)

// admin asks the admin API of a server.
type admin struct {
	*stage.Server
	t testing.TB
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a *answer) get(path string) gjson.Result { return gjson.Get(a.body, path) }

func (a admin) ask(method, path, body string, header ...string) *answer {
	a.t.Helper()
	req, err := http.NewRequest(method, a.Console+path, strings.NewReader(body))
	ruletest.Must(a.t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := a.HTTP.Do(req)
	ruletest.Must(a.t, err)
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	ruletest.Must(a.t, err)
	return &answer{res.StatusCode, res.Header, string(doc)}
}

// match names the version in force.
func (a admin) match() string { return a.ask("GET", "/rules", "").header.Get("ETag") }

func body(t testing.TB, v any) string {
	t.Helper()
	doc, err := json.Marshal(v)
	ruletest.Must(t, err)
	return string(doc)
}

// An arm becomes the rule for everybody, in somebody's name, of what they have seen; what was before can be
// read, and comes back.
func TestAdminPromote(t *testing.T) {
	r := admin{stage.Open(t, nil, stage.Model(nil)), t}
	const trial = "version: 1\nexperiments:\n  - id: one\n    about: x\n    status: running\n    measure: empty\n    arms: {control: {share: 50}, new: {share: 50, set: {limits.retry.times: 1}}}\n"
	if put := r.ask("PUT", "/rules",
		body(t, map[string]any{"merge": true, "files": map[string]string{"extra/experiments.ours.yaml": trial}}), "If-Match",
		r.match()); put.status != 200 {
		t.Fatal(put.body)
	}
	before := r.match()
	for _, row := range []struct {
		path, body, match string
		status            int
		says              string
	}{
		{"/experiments/one/promote", `{"arm":"new"}`, `"000000000000"`, 412, "other rules are in force"},
		{"/experiments/one/promote", `{"arm":"nwe"}`, before, 404, "did you mean new?"},
		{"/experiments/two/promote", `{"arm":"new"}`, before, 404, "no experiment two"},
		{"/experiments/one/promote", `{"arm":"new","who":"x"}`, before, 400, "who"},
		{"/experiments/one/promote", `{"arm":"new","by":"` + strings.Repeat("x", 2001) + `"}`, before, 400, "at most"},
	} {
		if got := r.ask("POST", row.path, row.body, "If-Match", row.match); got.status != row.status ||
			!strings.Contains(got.body, row.says) {
			t.Errorf("%s %.40s: %d %s", row.path, row.body, got.status, got.body)
		}
	}
	if r.match() != before {
		t.Fatal("something has changed")
	}
	done := r.ask("POST", "/experiments/one/promote", `{"arm":"new","by":"Sam\u202e"}`, "If-Match", before)
	if done.status != 200 || !done.get("changed").Bool() || done.header.Get("ETag") != r.match() {
		t.Fatalf("%d %s", done.status, done.body)
	}
	text, err := os.ReadFile(r.Rules + "/extra/limits.one.yaml")
	ruletest.Must(t, err)
	if !strings.Contains(string(text), "times: 1") {
		t.Errorf("%s", text)
	}
	if now := r.ask("GET", "/rules", ""); now.get("by").Str != "promote" ||
		now.get("who").Str != "Sam⟨U+202E⟩" {
		t.Errorf("by %s, %s", now.get("by"), now.get("who"))
	}
	old := strings.Trim(before, `"`)
	if past := r.ask("GET", "/rules/history/"+old, ""); past.status != 200 ||
		past.get("version").Str != old || past.get(`files.extra/experiments\.ours\.yaml`).Str != trial ||
		past.get(`files.extra/limits\.one\.yaml`).Exists() {
		t.Errorf("%d %.300s", past.status, past.body)
	}
	if none := r.ask("GET", "/rules/history/000000000000", ""); none.status != 404 ||
		none.get("error.hint").Str == "" {
		t.Errorf("%d %s", none.status, none.body)
	}
	if back := r.ask("POST", "/rules/rollback", `{"by":"Ann"}`, "If-Match", r.match()); back.status != 200 ||
		r.match() != before {
		t.Errorf("%d %s", back.status, back.body)
	}
	if past := r.ask("GET", "/rules/history", ""); past.get("history.0.who").Str != "Ann" ||
		past.get("history.0.by").Str != "rollback" || past.get("history.1.who").Str != "Sam⟨U+202E⟩" {
		t.Errorf("%s", past.body)
	}
}
