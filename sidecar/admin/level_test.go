package admin

import (
	"strings"
	"testing"
)

// The level changes while the server runs, and the log says so whichever way it goes.
func TestLevel(t *testing.T) {
	r := adminOver(t)
	says := func(want string) {
		t.Helper()
		if got := r.ask("GET", "/log", "").get("level").Str; got != want {
			t.Errorf("the level is %q, not %q", got, want)
		}
	}
	says("info")
	for i, to := range []string{"debug", "error", "info"} {
		if a := r.ask("PUT", "/log", `{"level": "`+to+`"}`); a.status != 200 || a.get("level").Str != to {
			t.Errorf("%s: %d %s", to, a.status, a.body)
		}
		says(to)
		if got := strings.Count(r.log.String(), "event=log_level"); got != i+1 {
			t.Errorf("%s: %d lines say so: %s", to, got, r.log)
		}
	}
	for _, body := range []string{`{"level": "loud"}`, `{}`, `{"levle": "debug"}`, `{"level": "INFO+1"}`,
		``} {
		if a := r.ask("PUT", "/log", body); a.status != 400 || a.get("error.hint").Str == "" &&
			!strings.Contains(a.body, "levle") {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	says("info")
}
