package guard

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// Who puts a link in the place of a folder that is known gains nothing, and after a while
// it is known where the link leads.
func TestFolderIsSwapped(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, other := filepath.Join(base, "project"), filepath.Join(base, "other")
	for _, dir := range []string{project, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	known := &folderCache{}
	class := func() string {
		r := paths.Roots{Cwd: project, Write: []string{project}}
		g := paths.Guard{Roots: r.Real(workspace.Links{}, known.resolve), Links: workspace.Links{}}
		return g.Literal(paths.Write, project+"/x").Class
	}
	if got := class(); got != paths.Workspace {
		t.Fatalf("before: %s", got)
	}
	if err := os.Rename(project, project+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, project); err != nil {
		t.Fatal(err)
	}
	known.until = time.Now().Add(time.Hour)
	if got := class(); got != paths.Outside {
		t.Errorf("while the folder is known: %s", got)
	}
	known.until = time.Now().Add(-time.Second)
	if got := known.resolve(project); got != other {
		t.Errorf("afterwards it leads to %s", got)
	}
}

// A look at a slow disk holds up no other.
func TestSlowFolder(t *testing.T) {
	known := &folderCache{}
	got := known.lookup("slow", func() string {
		return "slow, not " + known.lookup("quick", func() string { return "quick" })
	})
	if got != "slow, not quick" || known.lookup("slow", func() string { return "again" }) != got {
		t.Error(got)
	}
}
