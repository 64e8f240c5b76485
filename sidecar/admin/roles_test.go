package admin

import (
	"net/http"
	"testing"
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
		for token, may := range map[string]bool{"reader": row.reader, "approver": row.approver, adminToken: true} {
			got := r.ask(row.method, row.path, row.body, "Authorization", "Bearer "+token)
			if refused := got.status == http.StatusForbidden; refused == may {
				t.Errorf("%s %s by %s: %d %s", row.method, row.path, token, got.status, got.body)
			}
		}
		if got := r.ask(row.method, row.path, row.body, "Authorization", "Bearer wrong"); (got.status == http.StatusUnauthorized) == row.anyone {
			t.Errorf("%s %s by nobody: %d", row.method, row.path, got.status)
		}
	}
}
