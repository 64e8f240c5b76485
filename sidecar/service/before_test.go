//go:build unix

package service_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// written puts the state folder into a place that an earlier version has left there: after some requests, and
// a run in whose middle it was killed.
func (p *place) written(t testing.TB, version string) (state string) {
	t.Helper()
	from := filepath.Join("testdata", version)
	state = filepath.Join(p.dir, "state")
	ruletest.Must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || d.IsDir() {
			return os.MkdirAll(filepath.Join(state, name), 0o700)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var in io.Reader = f
		if plain, ok := strings.CutSuffix(name, ".gz"); ok {
			name = plain
			if in, err = gzip.NewReader(f); err != nil {
				return err
			}
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(state, name), text, 0o600)
	}))
	return state
}

// What versions of before have left is read: the decision log is sound and goes on, a run that was broken off
// is resumed, and counts and rule sets are there.
func TestStateOfBefore(t *testing.T) {
	for version, run := range map[string]string{"2026-11-23": "runLQ3Z3MITF5TVYPPLGGP3",
		"2026-11-26": "run2IDPUDG67M7D35I3KZOP"} {
		t.Run(version, func(t *testing.T) {
			p := newPlace(t, script.New(script.Scenario{Steps: []script.Reply{script.Text("It is written.")},
				Loop: true}))
			state := p.written(t, version)
			log := filepath.Join(state, "decisions")
			before, err := decisions.Verify(log)
			ruletest.Must(t, err)
			past, err := live.OpenHistory(state)
			ruletest.Must(t, err)
			if len(past.All()) != 1 || len(past.All()[0].Files) < 10 {
				t.Error("its rules are not there")
			}
			resume := exec.Command(p.program, "runs", "resume", run, "--upstream", p.model+"/v1", "--state",
				state, "--workspace", t.TempDir(), "--workspace-tools", "--confine", "off")
			if out, err := resume.CombinedOutput(); err != nil ||
				!strings.Contains(string(out), "It is written.") {
				t.Errorf("the run is not resumed: %v\n%s", err, out)
			}
			s := p.serve(t)
			s.signal(syscall.SIGTERM)
			<-s.gone
			after, err := decisions.Verify(log)
			ruletest.Must(t, err)
			// The version before was killed, so some of its records are newer than its head.
			if len(after.Problems) > 0 || len(before.Problems) > 1 || after.Records < before.Records+2 {
				t.Errorf("%d records and %v; then %d and %v", before.Records, before.Problems, after.Records,
					after.Problems)
			}
			if _, err := os.Stat(filepath.Join("testdata", version, experiment.CountsFile)); err != nil {
				return // it had no experiments
			}
			counts, err := experiment.ReadCounts(filepath.Join(state, experiment.CountsFile))
			ruletest.Must(t, err)
			units := 0
			for _, a := range counts.Trials[0].Arms {
				units += a.Units
			}
			if units != 3 {
				t.Errorf("%d units were counted", units)
			}
		})
	}
}

// Whoever goes back to an earlier version than the one that has written a folder is told so, and nothing in
// it is changed.
func TestStateOfLater(t *testing.T) {
	p := newPlace(t, http.NotFoundHandler())
	state := p.written(t, "2026-11-26")
	ruletest.Must(t, os.WriteFile(filepath.Join(state, "format"), []byte("2\n"), 0o600))
	was := texts(t, state)
	out, err := p.command().CombinedOutput()
	if err == nil || !strings.Contains(string(out),
		"by a later version of this program; this one knows 1. Nothing was changed") {
		t.Errorf("%v\n%s", err, out)
	}
	for name, text := range texts(t, state) {
		if was[name] != text {
			t.Errorf("%s is another one than before", name)
		}
	}
}

func texts(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	ruletest.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	}))
	return out
}
