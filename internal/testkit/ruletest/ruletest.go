// Package ruletest gives tests rules to work with: the shipped ones, folders of them,
// edits; and a log that can be read. Only tests may import it.
package ruletest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Root is the module's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Soon waits until something is true, two minutes at most.
func Soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 12000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not soon: %s", what)
}

// Source is a folder of rules over those that the program ships; "" is none.
func Source(t testing.TB, dir string) rulefile.Source {
	t.Helper()
	builtin, err := rulefile.Builtin(os.DirFS(Root()))
	Must(t, err)
	return ruleset.SourceOf(dir, "", builtin)
}

// Copy writes the shipped rules into a folder, as init does.
func Copy(t testing.TB, dir string) {
	t.Helper()
	Must(t, os.CopyFS(dir, os.DirFS(filepath.Join(Root(), "rules"))))
}

// Edit changes one place of a rule file.
func Edit(t testing.TB, dir, file, from, to string) {
	t.Helper()
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	Must(t, err)
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", file, from)
	}
	Must(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o644))
}

// Broken is files with a mistake in models.yaml.
func Broken(files rulefile.Files) rulefile.Files {
	files["models.yaml"] = strings.Replace(files["models.yaml"], "mode: provider", "mode: provder", 1)
	return files
}

// Changed is files with a comment more in aliases.yaml.
func Changed(files rulefile.Files, comment string) rulefile.Files {
	files["aliases.yaml"] = strings.Replace(files["aliases.yaml"], "version: 1", "version: 1\n# "+comment, 1)
	return files
}

// shipped compiles the shipped rules once.
var shipped = sync.OnceValues(func() (*ruleset.Set, error) {
	files, err := rulefile.Builtin(os.DirFS(Root()))
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if set == nil {
		return nil, problems
	}
	return set, nil
})

// Shipped is the set of the shipped rules, a copy that a test may change on top.
func Shipped(t testing.TB) *ruleset.Set {
	t.Helper()
	first, err := shipped()
	Must(t, err)
	set := *first
	return &set
}

// Journal is a log that several goroutines write and a test reads.
type Journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// Lines are those of an event.
func (j *Journal) Lines(event string) (lines []string) {
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "event="+event+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Count counts the lines of an event.
func (j *Journal) Count(event string) int { return len(j.Lines(event)) }
