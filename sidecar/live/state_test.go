package live

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// A start with bad rules runs on the last good ones, says so, and takes the
// folder up as soon as it is good.
func TestStartOnTheLastGoodRules(t *testing.T) {
	for _, row := range []struct {
		name        string
		spoil, mend func(t *testing.T, dir string)
		problem     string
	}{
		{"a mistake", func(t *testing.T, dir string) {
			ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
		},
			func(t *testing.T, dir string) {
				ruletest.Edit(t, dir, "models.yaml", "mode: provder", "mode: provider")
			}, "provder"},
		{"no folder", func(t *testing.T, dir string) { ruletest.Must(t, os.Rename(dir, dir+"-gone")) },
			func(t *testing.T, dir string) { ruletest.Must(t, os.Rename(dir+"-gone", dir)) },
			"there is no such folder"},
		{"a mistake that is mended to something else", func(t *testing.T, dir string) {
			ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
		},
			func(t *testing.T, dir string) {
				ruletest.Edit(t, dir, "models.yaml", "mode: provder", "mode: provider # mended")
			}, "provder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			r := liveRules(t, state)
			_, err := r.live.Put(r.own("one"), Seen{Any: true})
			ruletest.Must(t, err)
			good := r.version()
			row.spoil(t, r.dir)

			r.open(state)
			report := r.live.Report(false)
			if report.Version != good || report.Source != "last_good" || report.Refused == nil ||
				!strings.Contains(report.Refused.Problems[0].Msg, row.problem) {
				t.Errorf("%+v %+v", report, report.Refused)
			}
			if r.metric("rules_last_reload_successful") != "0" || r.said("rules_last_good") != 1 ||
				r.said("rules_refused") != 1 || r.live.Trouble() == "" {
				t.Errorf("nobody hears of it:\n%s", r.log)
			}
			if past := r.live.History(); len(past) != 2 || past[0].Version != good {
				t.Errorf("the history: %+v", past)
			}

			r.watch()
			row.mend(t, r.dir)
			ruletest.Soon(t, "the mended folder",
				func() bool { return r.said("rules_reverted")+r.said("rules_taken") == 1 })
			if files, err := r.live.src.Read(); err != nil || files.Version() != r.version() ||
				r.live.Report(false).Source != "folder" {
				t.Errorf("%s is in force, %v", r.version(), err)
			}
			if r.metric("rules_last_reload_successful") != "1" || r.live.Trouble() != "" ||
				r.said("rules_refused") != 1 {
				t.Errorf("after it is mended: %q\n%s", r.live.Trouble(), r.log)
			}
		})
	}
}

// A start needs the state only when the rules are bad, and then it must be whole.
func TestBadState(t *testing.T) {
	spoilRules := func(t *testing.T, r *ruleRig, _ string) {
		ruletest.Edit(t, r.dir, "models.yaml", "mode: provider", "mode: provder")
	}
	corrupt := func(t *testing.T, _ *ruleRig, state string) {
		found, err := filepath.Glob(state + "/*.json")
		ruletest.Must(t, err)
		for _, name := range found {
			doc, err := os.ReadFile(name)
			ruletest.Must(t, err)
			ruletest.Must(t, os.WriteFile(name, []byte(testkit.Replace(t, string(doc), "gpt-oss", "gpt-osx", 1)),
				0o600))
		}
	}
	for _, row := range []struct {
		name  string
		rules func(t *testing.T, r *ruleRig, state string)
		state func(t *testing.T, r *ruleRig, state string)
		warns string
		want  string // of the error; empty: it starts
	}{
		{"good rules, corrupt state", nil, corrupt, "is left out: its files are", ""},
		{"good rules, no state", nil, func(t *testing.T, _ *ruleRig, state string) {
			ruletest.Must(t, os.RemoveAll(state))
			ruletest.Must(t, os.WriteFile(state, nil, 0o600))
		}, "not a directory", ""},
		{"good rules, a state that others may write to", nil, func(t *testing.T, _ *ruleRig, state string) { ruletest.Must(t, os.Chmod(state, 0o777)) }, "chmod go-w", ""},
		{"bad rules, corrupt state", spoilRules, corrupt, "is left out", "mode cannot be provder"},
		{"bad rules, empty state", spoilRules, func(t *testing.T, _ *ruleRig, state string) { ruletest.Must(t, os.RemoveAll(state)) }, "", "mode cannot be provder"},
		{"bad rules, a state that others may write to", spoilRules, func(t *testing.T, _ *ruleRig, state string) { ruletest.Must(t, os.Chmod(state, 0o777)) }, "chmod go-w", "mode cannot be provder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			r := liveRules(t, state)
			if row.rules != nil {
				row.rules(t, r, state)
			}
			row.state(t, r, state)
			log := &ruletest.Journal{}
			_, err := Open(ruletest.Shared(ruletest.Loader()), ruletest.Source(t, r.dir), state,
				slog.New(slog.NewTextHandler(log, nil)),
				telemetry.New())
			if row.want == "" && err != nil || row.want != "" &&
				(err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%v", err)
			}
			if !strings.Contains(log.String(), row.warns) {
				t.Errorf("no %q in %s", row.warns, log)
			}
		})
	}
}

// Breaking the operator's folder is no way around a locked folder: the last good
// set must have had one, and a stricter one does not wait for mended rules.
func TestPolicyDoesNotWait(t *testing.T) {
	const reply = "version: 1\nsize:\n  reply: "
	state, policy := t.TempDir(), t.TempDir()
	r := liveRules(t, state)
	spoil := func() { ruletest.Edit(t, r.dir, "models.yaml", "mode: provider", "mode: provder") }
	lock := func(size string) {
		ruletest.Must(t, os.WriteFile(policy+"/limits.yaml", []byte(reply+size+"\n"), 0o600))
	}
	open := func() (err error) {
		src := ruletest.Source(t, r.dir)
		src.Policy = policy
		r.log, r.m = &ruletest.Journal{}, telemetry.New()
		r.live, err = Open(ruletest.Shared(ruletest.Loader()), src, state,
			slog.New(slog.NewTextHandler(r.log, nil)), r.m)
		return err
	}
	in := func(bytes int) func() bool {
		return func() bool { return int(r.live.Set().Limits.ReplyBytes) == bytes }
	}

	lock("2MiB")
	spoil()
	if open() == nil {
		t.Fatal("it runs without the locked folder")
	}
	ruletest.Edit(t, r.dir, "models.yaml", "mode: provder", "mode: provider")
	ruletest.Must(t, open())
	r.watch()
	spoil()
	ruletest.Soon(t, "the mistake", func() bool { return r.said("rules_refused") == 1 })
	lock("1MiB")
	ruletest.Soon(t, "the stricter lock, without the mistake",
		func() bool { return r.said("rules_tightened") == 1 })
	if !in(1<<20)() || r.live.Trouble() == "" || r.metric("rules_last_reload_successful") != "0" {
		t.Errorf("the mistake is forgotten: %s", r.log)
	}

	lock("512KiB") // and so at a start
	ruletest.Must(t, open())
	if !in(512<<10)() || r.live.Report(false).Source != "last_good" ||
		r.metric("rules_last_reload_successful") != "0" {
		t.Errorf("%+v", r.live.Report(false))
	}
}
