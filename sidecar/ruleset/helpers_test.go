package ruleset

import (
	"os"
	"testing"

	"go.uber.org/goleak"
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

// Full is the loader of the whole program; RunTests sets it, because this package is below its parts.
var Full Loader

// RunTests runs the tests.
func RunTests(m *testing.M, full Loader) {
	Full = full
	goleak.VerifyTestMain(m)
}
