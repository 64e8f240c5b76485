package admin

import (
	"strings"
	"sync"
	"testing"
)

// What go tool pprof reads is packed by gzip; what cannot be had is said.
func TestProfile(t *testing.T) {
	r := adminOver(t)
	for _, path := range []string{"/profile/heap", "/profile/goroutine", "/profile/cpu?seconds=1"} {
		if a := r.ask("GET", path, ""); a.status != 200 || !strings.HasPrefix(a.body, "\x1f\x8b") {
			t.Errorf("%s: %d, %d bytes", path, a.status, len(a.body))
		}
	}
	for path, status := range map[string]int{"/profile/heep": 404, "/profile/cpu?seconds=0": 400, "/profile/cpu?seconds=46": 400, "/profile/cpu?seconds=x": 400} {
		if a := r.ask("GET", path, ""); a.status != status || a.get("error.hint").Str == "" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	var two sync.WaitGroup
	taken := make(chan int, 2)
	for range 2 {
		two.Go(func() { taken <- r.ask("GET", "/profile/cpu?seconds=2", "").status })
	}
	two.Wait()
	if a, b := <-taken, <-taken; a+b != 200+409 {
		t.Errorf("two at the same time: %d and %d", a, b)
	}
}

// go tool pprof finds what it looks for where net/http/pprof has it, and only who may do everything does.
func TestDebugPprof(t *testing.T) {
	r := adminOver(t)
	for path, want := range map[string]string{
		"/debug/pprof/": "goroutine", "/debug/pprof/heap": "\x1f\x8b", "/debug/pprof/goroutine?debug=1": "goroutine profile",
		"/debug/pprof/profile?seconds=1": "\x1f\x8b", "/debug/pprof/trace?seconds=0.1": "go 1.", "/debug/pprof/cmdline": "admin.test", "/debug/pprof/symbol": "num_symbols",
	} {
		if a := r.ask("GET", path, ""); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, %.100q", path, a.status, a.body)
		}
	}
	if a := r.ask("GET", "/debug/pprof/heep", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
