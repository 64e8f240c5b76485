package paths_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// BenchmarkInside looks through 1,000 names in 100 folders.
func BenchmarkInside(b *testing.B) {
	work := b.TempDir()
	for i := range 100 {
		dir := filepath.Join(work, fmt.Sprint("folder", i))
		must(b, os.Mkdir(dir, 0o755))
		for k := range 9 {
			must(b, os.WriteFile(filepath.Join(dir, fmt.Sprint("file", k, ".go")), nil, 0o644))
		}
	}
	g := paths.Guard{Roots: paths.Roots{Home: "/home/agent", Write: []string{work}}, Links: workspace.Links{}}
	for b.Loop() {
		g.Inside(work)
	}
}
