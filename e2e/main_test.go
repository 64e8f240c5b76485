// Package e2e runs the built sidecar between its real neighbours: an OpenClaw
// gateway, other agents and the official OpenAI clients on one side, the scripted
// model server on the other. It holds tests only, talks to loopback only, and fetches what it
// needs from npm once, into the user's cache.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// binary is the sidecar under test, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if !enabled() {
		return m.Run() // each test says why it is skipped
	}
	if binary = os.Getenv(ownNetwork); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "gpt-oss-executor-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "gpt-oss-executor")
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // where the command openclaw makes a note
	build := exec.Command("go", "build", "-o", dir, "..", "../cmd/gpt-oss-executor-confine")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: build the sidecar:", err)
		return 1
	}
	return m.Run()
}

// released makes a release for this machine, once for all tests, and says where it lies.
var released = sync.OnceValues(func() (dist string, err error) {
	dist = filepath.Join(filepath.Dir(binary), "dist")
	made := exec.Command("go", "run", "./deploy/release", "-trial", "-only", runtime.GOOS+"/"+runtime.GOARCH,
		"-out", dist)
	made.Dir = ".."
	if out, err := made.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make a release: %w\n%s", err, out)
	}
	return dist, nil
})

// releasedTo is the folder of the release.
func releasedTo(t *testing.T) string {
	t.Helper()
	dist, err := released()
	if err != nil {
		t.Fatal(err)
	}
	return dist
}

func enabled() bool {
	return os.Getenv("GPTOSS_E2E") == "1" || os.Getenv("CI") == "true"
}

// needEnabled skips a test that was not asked for.
func needEnabled(t *testing.T) {
	t.Helper()
	if !enabled() {
		t.Skip("SKIPPED: starts real programs from npm (about 900 MB in the cache); set GPTOSS_E2E=1 or run make test")
	}
}
