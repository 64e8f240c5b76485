package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The demo ends with 0, and its folder is gone.
func TestDemo(t *testing.T) {
	all, tmp := t.TempDir(), t.TempDir()
	for _, dir := range []string{"rules", "prompts"} {
		if err := os.CopyFS(filepath.Join(all, dir), os.DirFS("../../"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", tmp)
	var out, errs bytes.Buffer
	env := Env{Out: &out, Err: &errs, Defaults: os.DirFS(all)}
	if code := Run([]string{"demo"}, env); code != 0 || errs.Len() > 0 {
		t.Errorf("exit %d: %s\n%s", code, &errs, &out)
	}
	if !strings.Contains(out.String(), "0 leaks, 0 wrong") {
		t.Errorf("no summary in\n%s", &out)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
