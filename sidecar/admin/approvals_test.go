package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
)

const push = "TOKEN=hunter22 git push -f\u202e\nls"

// pushes is a call that asks under the rules in force.
func (r *adminRig) pushes() approvals.Call {
	return approvals.Call{Tool: "exec", Arguments: body(r.t, object{"command": push}), Command: push,
		Session: "s1", Agent: "main", Model: "gpt-oss",
		Policy: r.version(), Commands: []approvals.Command{{Argv: []string{"git", "push", "-f"},
			Cwd: "/srv"}}}
}

func (r *adminRig) request(c approvals.Call) string {
	return r.api.Approvals.Request(c, approvals.Reason{Rule: "force", Place: "exec.yaml:7",
		Why: "It overwrites.", Start: 15, End: 26}).ID
}

// A person's round: see the list, look at one, allow it.
func TestAdminApprovals(t *testing.T) {
	r := adminOver(t)
	if got := r.ask("GET", "/approvals", ""); got.status != 200 || got.get("approvals").Raw != "[]" ||
		got.get("revision").Raw != "0" {
		t.Errorf("%d %s", got.status, got.body)
	}
	c := r.pushes()
	id := r.request(c)
	one := r.ask("GET", "/approvals", "").get("approvals.0")
	if one.Get("id").Str != id || one.Get("state").Str != "pending" ||
		one.Get("text").Str != "TOKEN=«masked:secret:8» git push -f⟨U+202E⟩ ⏎ ls" ||
		one.Get("rule").Str != "force" || one.Get("agent").Str != "main" ||
		one.Get("left_seconds").Num < 590 || one.Get("call").Exists() {
		t.Errorf("%s", one.Raw)
	}
	whole := r.ask("GET", "/approvals/"+id, "")
	if whole.status != 200 || whole.get("shown").Str != "TOKEN=hunter22 git push -f⟨U+202E⟩\nls" ||
		whole.get("call.command").Str != push ||
		whole.get("call.commands.0.argv.1").Str != "push" || whole.get("reason.place").Str != "exec.yaml:7" ||
		whole.get("times").Int() != 1 || whole.get("foreign").Exists() {
		t.Errorf("%d %s", whole.status, whole.body)
	}
	if got := r.ask("POST", "/approvals/"+id+"/allow", `{"by":"ada"}`); got.status != 200 ||
		got.get("state").Str != "allowed" || got.get("by").Str != "ada" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if r.api.Approvals.Take(c.Binding()) == "" {
		t.Error("it does not pass")
	}
	if !strings.Contains(r.log.String(), "event=approval_allowed id="+id+" tool=exec rule=force by=ada") ||
		strings.Contains(r.log.String(), "hunter22") {
		t.Error(r.log.String())
	}
	other := r.pushes()
	other.Cwd = "/elsewhere"
	denied := r.request(other)
	if got := r.ask("POST", "/approvals/"+denied+"/deny", `{"why":"not today"}`); got.status != 200 ||
		got.get("note").Str != "not today" || got.get("by").Str != "the admin API" {
		t.Errorf("%d %s", got.status, got.body)
	}
	metrics := r.ask("GET", "/metrics", "").body
	for _, want := range []string{`approvals_total{outcome="asked"} 2`,
		`approvals_total{outcome="allowed"} 1`, `approvals_total{outcome="used"} 1`,
		`approvals_total{outcome="denied"} 1`, `approvals_pending 0`} {
		if !strings.Contains(metrics, "gptoss_executor_"+want) {
			t.Errorf("no %s", want)
		}
	}
}

// What cannot be done is said, with a hint.
func TestAdminApprovalsRefuse(t *testing.T) {
	r := adminOver(t)
	used, old := r.pushes(), r.pushes()
	id := r.request(used)
	r.ask("POST", "/approvals/"+id+"/allow", "")
	old.Policy = "000000000000"
	stale := r.request(old)
	for _, row := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"allowed twice", "POST", "/approvals/" + id + "/allow", "", 409, "has been allowed already, by the admin API"},
		{"rules that were", "POST", "/approvals/" + stale + "/allow", "", 409, "no longer in force"},
		{"unknown", "POST", "/approvals/0000-0000/allow", "", 404, "a restart forgets all"},
		{"unknown to see", "GET", "/approvals/0000-0000", "", 404, "approvals list"},
		{"no id", "POST", "/approvals/%20/deny", "", 404, ""},
		{"misspelt", "POST", "/approvals/" + stale + "/deny", `{"wy":"no"}`, 400, "wy"},
		{"a novel", "POST", "/approvals/" + stale + "/deny", `{"why":"` + strings.Repeat("x", 2001) + `"}`, 400, "2000 bytes"},
		{"a GET that allows", "GET", "/approvals/" + stale + "/allow", "", 405, "POST"},
		{"a wait that is none", "GET", "/approvals?wait=soon", "", 400, "20s"},
		{"a wait into the past", "GET", "/approvals?wait=-1s", "", 400, "20s"},
	} {
		if got := r.ask(row.method, row.path, row.body); got.status != row.want ||
			!strings.Contains(got.body, row.says) || got.get("error.message").Str == "" {
			t.Errorf("%s: %d %s", row.name, got.status, got.body)
		}
	}
	if e, err := r.api.Approvals.Get(stale); err != nil || e.State != approvals.Pending {
		t.Errorf("%v %v", e.State, err)
	}
	if got := r.ask("POST", "/approvals/"+stale+"/deny", ""); got.status != 200 {
		t.Errorf("old questions can be denied: %d %s", got.status, got.body)
	}
	if got := r.ask("POST", "/approvals/"+id+"/allow", "", "Authorization", ""); got.status != 401 {
		t.Errorf("without the token: %d", got.status)
	}
	r.api.Token = ""
	for _, path := range []string{"/approvals/" + id + "/allow", "/approvals/" + id + "/deny"} {
		if got := r.ask("POST", path, ""); got.status != 403 || !strings.Contains(got.body, "ADMIN_TOKEN") {
			t.Errorf("%s where there is no token: %d %s", path, got.status, got.body)
		}
	}
	if got := r.ask("GET", "/approvals", ""); got.status != 403 {
		t.Errorf("the list where there is no token: %d %s", got.status, got.body)
	}
}

// Whoever follows the list hears of a change at once, and of a stop.
func TestAdminApprovalsFollow(t *testing.T) {
	r := adminOver(t)
	ending := make(chan struct{})
	r.api.Ending = ending
	follow := func(query string) chan *answer {
		out := make(chan *answer, 1)
		go func() { out <- r.ask("GET", "/approvals?"+query, "") }()
		return out
	}
	news := follow("wait=20s")
	select {
	case got := <-news:
		t.Fatalf("nothing has changed: %s", got.body)
	case <-time.After(50 * time.Millisecond):
	}
	r.request(r.pushes())
	if got := <-news; got.get("approvals.#").Int() != 1 || got.get("revision").Int() != 1 {
		t.Errorf("%s", got.body)
	}
	if got := <-follow("wait=20s&since=0"); got.get("revision").Int() != 1 { // there is news already
		t.Errorf("%s", got.body)
	}
	if got := <-follow("wait=10ms&since=1"); got.status != 200 || got.get("revision").Int() != 1 {
		t.Errorf("%d %s", got.status, got.body)
	}
	news = follow("wait=20s&since=1")
	close(ending)
	if got := <-news; got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
