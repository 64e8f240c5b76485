package admin

import (
	"strings"
	"testing"
)

// go tool pprof finds what it looks for where net/http/pprof has it, and only who may do everything does.
func TestProfile(t *testing.T) {
	r := adminOver(t)
	for path, want := range map[string]string{
		"/debug/pprof/": "goroutine", "/debug/pprof/heap": "\x1f\x8b",
		"/debug/pprof/goroutine?debug=1": "goroutine profile",
		"/debug/pprof/profile?seconds=1": "\x1f\x8b", "/debug/pprof/trace?seconds=0.1": "go 1.",
		"/debug/pprof/cmdline": "admin.test", "/debug/pprof/symbol": "num_symbols",
	} {
		if a := r.ask("GET", path, ""); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, %.100q", path, a.status, a.body)
		}
	}
	if a := r.ask("GET", "/debug/pprof/heep", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
