package ruleset

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// untried compiles files, and tries none of their examples and tests: for what files may say.
func untried(files rulefile.Files) (*Set, rulefile.Problems) {
	l := Full.prepare(files, false)
	if l.problems = l.problems.Sorted(); l.problems.Fatal() {
		return nil, l.problems
	}
	return l.set, l.problems
}

// Full is the loader of the whole program; RunTests sets it, because this package is below its parts. It tries
// and compiles again only what a test changes.
var Full Loader

// RunTests runs the tests.
func RunTests(m *testing.M, full Loader) {
	Full = full
	Full.Compiled = NewCompiled(0)
	goleak.VerifyTestMain(m)
}
