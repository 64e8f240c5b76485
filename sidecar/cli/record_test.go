package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The folder may be watched: a recorded test is written whole, beside the file
// that it replaces. Modes stay.
func TestRecordWritesWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../rules")); err != nil {
		t.Fatal(err)
	}
	reply := filepath.Join(t.TempDir(), "reply.json")
	if err := os.WriteFile(reply, []byte(`{"message":{"content":"[TOOL:read|path=a]"},"tools":["read"]}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tests", "recorded.yaml")
	record := func(name string, mode fs.FileMode) fs.FileInfo {
		t.Helper()
		var errs bytes.Buffer
		if code := Run([]string{"test", dir, "--record", reply, "--name", name},
			Env{Parts: Parts, Out: &bytes.Buffer{}, Err: &errs, Defaults: os.DirFS("../..")}); code != 0 {
			t.Fatalf("exit code %d: %s", code, &errs)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Fatalf("%v, %v", info, err)
		}
		return info
	}
	first := record("one", 0o644)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.SameFile(first, record("two", 0o600)) {
		t.Error("the file is written to while it can be read")
	}
}
