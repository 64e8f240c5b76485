package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is remembered is for us alone, bounded, and survives a restart.
func TestHistoryOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	h, err := OpenHistory(dir)
	must(t, err)
	for i := range Length + 5 {
		files := rulefile.Files{"a.yaml": strings.Repeat("x", i)}
		must(t, h.Add(Entry{Version: files.Version(), By: "put", Files: files}))
		must(t, h.Add(Entry{Version: files.Version(), By: "start", Files: files})) // no second time
	}
	must(t, atomicfile.Write(dir+"/note.txt", nil, 0o600)) // not ours, and left alone
	must(t, os.WriteFile(dir+"/.new-123", nil, 0o600))     // of a crash, and swept up
	again, err := OpenHistory(dir)
	must(t, err)
	all := again.All()
	if len(all) != Length || len(all[0].Files["a.yaml"]) != Length+4 || all[0].By != "put" ||
		len(h.All()) != Length {
		t.Errorf("%d entries, the newest %+v", len(all), all[0])
	}
	found, err := os.ReadDir(dir)
	must(t, err)
	if len(found) != Length+1 {
		t.Errorf("%d files", len(found))
	}
	for _, f := range found {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	files := rulefile.Files{"a.yaml": "after the restart"}
	must(t, again.Add(Entry{Version: files.Version(), Files: files}))
	third, err := OpenHistory(dir)
	must(t, err)
	if newest, ok := third.Find(files.Version()); !ok || third.All()[0].Version != newest.Version {
		t.Error("the number does not go on")
	}
}
