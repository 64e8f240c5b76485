package ruleset

import (
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// An operator takes away what is built in, and nothing of the locked folder.
func TestTakenAway(t *testing.T) {
	const locked = "version: 1\nrules:\n  - id: disk\n    deny: No.\n    when: cmd.binary == 'ls'\n    hit: [ls]\n    miss: [cat a]\n"
	own := builtin(t)
	own["extra/exec.ours.yaml"] = "version: 1\nrules:\n  - {id: disk, delete: true}\n"
	for name, c := range map[string]struct {
		locked rulefile.Files
		rule   bool
	}{"alone": {rulefile.Files{"limits.yaml": "version: 1\n"}, false},
		"locked": {rulefile.Files{execFilename: locked}, true}} {
		files, err := lockedSource(t, own, c.locked).Read()
		if err != nil {
			t.Fatal(err)
		}
		set, problems := Full.Load(files)
		if set == nil {
			t.Fatal(problems)
		}
		if !slices.ContainsFunc(set.Taken,
			func(x rulefile.Taken) bool { return x.What == "disk" && x.By == "extra/exec.ours.yaml:3" }) {
			t.Errorf("%s: %v", name, set.Taken)
		}
		d := set.CheckCommand("ls", somebody, exampleAt())
		if c.rule && (d.Effect != policy.Deny || d.Rule != "disk") || !c.rule && d.Rule == "disk" {
			t.Errorf("%s: %s by %s", name, d.Effect, d.Rule)
		}
	}
}
