// Package corpus loads the labelled cases that tests measure against. They live
// outside the project, beside its root: nothing here copies them, and nothing
// but tests may import it.
package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Load reads every record of corpus/NAME.jsonl. Where the folder is not beside the
// project, the test is skipped. A folder that lacks the file is a mistake.
func Load[T any](t testing.TB, name string) []T {
	t.Helper()
	folder := filepath.Join(root(), "..", "shared", "corpus")
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: the labelled corpora are not at %s", folder)
	}
	path := filepath.Join(folder, name+".jsonl")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s line %d: %v", path, len(out)+1, err)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s holds no case", path)
	}
	return out
}

// root is the module's folder: three levels above this file.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
