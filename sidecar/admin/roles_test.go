package admin

import (
	"net/http"
	"testing"
	"time"
)

// What each token may do: a reader looks, an approver answers, too, and an admin does everything.
func TestRoles(t *testing.T) {
	r := adminOver(t)
	r.api.Approver, r.api.Reader = "approver", "reader"
	for _, row := range []struct {
		method, path, body       string
		reader, approver, anyone bool
	}{
		{"GET", "/rules", "", true, true, false}, {"GET", "/rules/history", "", true, true, false}, {"GET", "/log", "", true, true, false}, {"GET", "/metrics", "", true, true, false},
		{"GET", "/approvals", "", true, true, false}, {"GET", "/approvals/x", "", false, true, false},
		{"POST", "/explain", `{"message":{"content":"hi"}}`, true, true, false}, {"POST", "/policy/check", `{"command":"ls"}`, true, true, false},
		{"POST", "/approvals/x/allow", "", false, true, false}, {"POST", "/approvals/x/deny", "", false, true, false}, {"POST", "/approvals/x/use", "", false, false, false},
		{"POST", "/calls/judge", "{}", false, false, false}, {"PUT", "/log", `{"level":"info"}`, false, false, false}, {"PUT", "/rules", "{}", false, false, false},
		{"POST", "/runs/x/resume", "", false, false, false}, {"POST", "/rules/rollback", "", false, false, false}, {"POST", "/experiments/x/promote", "", false, false, false},
		{"GET", "/rules/hits", "", true, true, false}, {"GET", "/rules/history/x", "", true, true, false},
		{"GET", "/debug/pprof/heap", "", false, false, false},
		{"GET", "/healthz", "", true, true, true},
	} {
		r.api.Misses = NewMisses(time.Now)
		for token, may := range map[string]bool{"reader": row.reader, "approver": row.approver,
			adminToken: true} {
			got := r.ask(row.method, row.path, row.body, "Authorization", "Bearer "+token)
			if refused := got.status == http.StatusForbidden; refused == may {
				t.Errorf("%s %s by %s: %d %s", row.method, row.path, token, got.status, got.body)
			}
		}
		if got := r.ask(row.method, row.path, row.body, "Authorization",
			"Bearer wrong"); (got.status == http.StatusUnauthorized) == row.anyone {
			t.Errorf("%s %s by nobody: %d", row.method, row.path, got.status)
		}
	}
}

// Wrong tokens are counted by address, and the log says so. No right one is refused for them, and who shows
// none has not guessed.
func TestGuesses(t *testing.T) {
	r, now := adminOver(t), time.Now()
	r.api.Misses = NewMisses(func() time.Time { return now })
	for _, row := range []struct {
		token string
		times int
		after time.Duration
		want  int
	}{
		{"", 20, 0, 401}, {"Bearer wrong", 10, 0, 401}, {"Bearer wrong", 30, time.Second, 429}, {"", 1, 0, 401}, {"Bearer " + adminToken, 1, 0, 200},
		{"Bearer wrong", 1, time.Minute, 401},
	} {
		now = now.Add(row.after)
		for range row.times {
			if got := r.ask("GET", "/rules", "", "Authorization", row.token); got.status != row.want {
				t.Fatalf("%q: %d, not %d: %s", row.token, got.status, row.want, got.body)
			}
		}
	}
	if n := r.log.Count("tokens_guessed"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

// Rules that are not in force are tried at the desk: one set of an address at a time.
func TestExplainAtDesk(t *testing.T) {
	r := adminOver(t)
	explain := func(rules any) int {
		return r.ask("POST", "/explain",
			body(t, object{"message": object{"content": "hi"}, "rules": rules})).status
	}
	draft := object{"files": r.own("a draft")}
	err := r.api.Drafts.Work(t.Context(), "192.0.2.1", false, func() error { // that of httptest
		if got := explain(draft); got != http.StatusTooManyRequests {
			t.Errorf("a second draft: %d", got)
		}
		if got := explain(nil); got != http.StatusOK {
			t.Errorf("the rules in force: %d", got)
		}
		return nil
	})
	if got := explain(draft); err != nil || got != http.StatusOK {
		t.Errorf("the desk is free: %d %v", got, err)
	}
}
