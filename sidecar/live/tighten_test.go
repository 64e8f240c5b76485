package live

import (
	"log/slog"
	"os"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// underLock is a watched folder of rules beneath a locked one, into which lock writes.
func underLock(t *testing.T) (r *ruleRig, lock func(name, text string)) {
	policy := t.TempDir()
	ruletest.Must(t, os.Mkdir(policy+"/tests", 0o700))
	lock = func(name, text string) { ruletest.Must(t, os.WriteFile(policy+"/"+name, []byte(text), 0o600)) }
	lock("limits.yaml", "version: 1\nsize:\n  reply: 2MiB\n")
	r = liveRules(t, "")
	src := ruletest.Source(t, r.dir)
	src.Policy = policy
	r.log, r.m = &ruletest.Journal{}, telemetry.New()
	var err error
	r.live, err = Open(ruletest.Shared(ruletest.Loader()), src, "",
		slog.New(slog.NewTextHandler(r.log, nil)), r.m)
	ruletest.Must(t, err)
	r.watch()
	return r, lock
}

// A test of the locked folder that the rules in force break refuses edits, and does not
// keep the rest of the folder from taking effect. What does not load at all is told.
func TestLockedTestsDoNotWait(t *testing.T) {
	r, lock := underLock(t)
	lock("tests/a.yaml", "version: 1\ntests:\n  - name: no markers\n    reply: {content: '[TOOL:exec|command=ls]'}\n    gives: []\n")
	lock("limits.yaml", "version: 1\nsize:\n  reply: 1MiB\n")
	ruletest.Soon(t, "the stricter lock, without its test",
		func() bool { return r.live.Set().Limits.ReplyBytes == 1<<20 })
	if r.live.Trouble() == "" || r.said("rules_refused") == 0 {
		t.Errorf("the test that fails is not told: %s", r.log)
	}

	lock("limits.yaml", "version: 1\nsize: none\n")
	ruletest.Soon(t, "that the lock does not load", func() bool { return r.said("rules_not_tightened") == 1 })
	if r.live.Set().Limits.ReplyBytes != 1<<20 {
		t.Error("the lock before it is gone")
	}
}

// A folder that cannot even be read does not hold the locked one off, either.
func TestLockedBesideUnreadable(t *testing.T) {
	r, lock := underLock(t)
	ruletest.Must(t, os.Chmod(r.dir, 0o777))
	ruletest.Soon(t, "that the folder is refused", func() bool { return r.said("rules_refused") == 1 })
	lock("limits.yaml", "version: 1\nsize: {reply: 1MiB}\n")
	ruletest.Soon(t, "the stricter lock", func() bool { return r.live.Set().Limits.ReplyBytes == 1<<20 })
}
