package service

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// Who follows this process by its number would take its end for that of the server.
func TestMayHandOver(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	for name, row := range map[string]struct {
		environ []string
		with    string
		why     string
	}{
		"alone": {}, "after a process that systemd followed": {environ: []string{"SYSTEMD_EXEC_PID=1"}},
		"systemd": {environ: []string{"A=1", "SYSTEMD_EXEC_PID=" + pid}, why: "systemctl restart"}, "a gateway": {with: "on", why: "with_parent is on"},
	} {
		r := &running{Core: &Core{Config: Config{Environ: row.environ,
			Settings: config.Settings{WithParent: row.with}}}}
		if err := r.mayHandOver(); (err == nil) != (row.why == "") || err != nil &&
			!strings.Contains(err.Error(), row.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The setting drain is a time that somebody waits for.
func TestDrainOf(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "0s": 0, "5s": 5 * time.Second,
		"10m": 10 * time.Minute, "11m": -1, "-1s": -1, "soon": -1, "5": -1} {
		got, err := drainOf(config.Settings{Drain: text})
		if (err != nil) != (want < 0) || err == nil && got != want || err != nil &&
			!strings.Contains(err.Error(), "such as 5s") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}
