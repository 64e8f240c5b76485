package sidecar

import (
	"path/filepath"
	"testing"
)

// Who asks before a call runs hears of our own folders what serving says of them.
func TestAdminChecksOwnFolders(t *testing.T) {
	rules, log := liveRules(t, ""), t.TempDir()
	rules.live.Keep("", log)
	r := adminOver(t, rules)
	for folder, want := range map[string]string{rules.dir: "control", log: "control", t.TempDir(): "workspace"} {
		got := r.ask("POST", "/policy/check", body(t, object{
			"path": filepath.Join(folder, "x"), "op": "delete", "roots": object{"write": []string{"/tmp"}},
		}))
		if got.status != 200 || got.get("facts.paths.0.class").Str != want {
			t.Errorf("%s: %d %s", folder, got.status, got.body)
		}
	}
}
