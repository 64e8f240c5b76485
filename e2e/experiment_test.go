package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
)

const shortPrompt = "Be short."

// trying is a folder with the shipped rules and an experiment of two prompts, as the guide has it.
func trying(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rules")
	if out, err := exec.Command(binary, "init", "--full", dir).CombinedOutput(); err != nil {
		t.Fatalf("init: %v %s", err, out)
	}
	for name, text := range map[string]string{"prompts/short.txt": shortPrompt, "extra/experiments.mine.yaml": `version: 1
experiments:
  - id: prompt
    about: Does the shorter prompt give as many calls that work?
    status: running
    arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}
    measure: tool_ok
`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// experiments runs the command of this name against an admin API.
func experiments(t *testing.T, admin string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(binary, append(append([]string{"experiments"}, args...), "--admin", admin)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("experiments %v: %v %s%s", args, err, out, said.String())
	}
	return out
}

func reported(t *testing.T, admin string) experiment.Report {
	t.Helper()
	var all struct{ Experiments []experiment.Report }
	if err := json.Unmarshal(experiments(t, admin, "--json"), &all); err != nil || len(all.Experiments) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	return all.Experiments[0]
}

// tried is the provider whose sidecar has an experiment.
const tried = "tried"

// experiment has sessions of the gateway tried: each has one arm in all its turns, and the results of
// the gateway's own tools say whether its calls worked.
func (b *bench) experiment(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := os.WriteFile(filepath.Join(b.gateway.dir, servers.ThereMD), []byte("The text."),
		0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	const sessions, turns = 24, 2
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := w; i < sessions*turns; i += 4 {
				n := i % sessions
				a, err := b.gateway.turn(ctx, tried, fmt.Sprint("tried", n),
					fmt.Sprintf("Please read number %d.", n))
				if err != nil || a.text != "Done." {
					t.Errorf("session %d: %q %v", n, a.raw, err)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d turns took %v", sessions*turns, time.Since(began).Round(time.Millisecond))
	arms := map[string]bool{}
	for _, q := range b.servers[tried].Requests("") {
		short, session := strings.Contains(string(q.Body), shortPrompt), ""
		for _, m := range q.Messages {
			if at := strings.Index(m.Text, "read number "); m.Role == "user" && at >= 0 && session == "" {
				session = strings.Fields(m.Text[at:])[2]
			}
		}
		if was, known := arms[session]; known && was != short {
			t.Errorf("session %s was in both arms", session)
		}
		arms[session] = short
	}
	r := reported(t, b.admin)
	worked, short := 0.0, 0
	for i, arm := range r.Arms {
		for _, m := range arm.Measures {
			if m.ID == "tool_ok" {
				worked += m.N
				if i == 1 && m.Value != 1 {
					t.Errorf("with the prompt %v of the calls worked", m.Value)
				}
			}
		}
	}
	for _, is := range arms {
		if is {
			short++
		}
	}
	if len(arms) != sessions || r.Units != sessions || worked != sessions*turns || r.Arms[1].Units != short ||
		short == 0 || short == sessions {
		t.Errorf("%d sessions, %d with the prompt: %+v", len(arms), short, r)
	}
}
