// Package testkit gives tests a bash that reaches harmless programs only, the labelled cases beside this
// project, addresses that no other test gets, the time of the processor, the programs that the shipped rules
// know, edits of shipped texts, and what they fetch or build once.
package testkit

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

// Corpus reads every record of corpus/NAME.jsonl. Where the folder is not beside the
// project, the test is skipped. A folder that lacks the file is a mistake.
func Corpus[T any](t testing.TB, name string) []T {
	t.Helper()
	folder := filepath.Join(Root(), "..", "shared", "corpus")
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

// Root is the module's folder.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
