package walls

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No program and no setting comes from a folder that confined commands may change.
func TestUnprepared(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"shop/bin", "bin"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(base+"/shop/bin", base+"/link"); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{"", ".", "bin", base + "/shop/bin", base + "/link", base + "/shop",
		base + "/none", base + "/bin", base + "/shop/../bin"}, ":")
	got := CleanEnviron([]string{"PATH=" + path, "HOME=/h", "GIT_DIR=x", "GIT_SSH_COMMAND=x", "BASH_ENV=x",
		"SSH_AUTH_SOCK=s"}, []string{base + "/shop"})
	if want := []string{"PATH=" + base + "/bin:" + base + "/shop/../bin", "HOME=/h",
		"SSH_AUTH_SOCK=s"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
