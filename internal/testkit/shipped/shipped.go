// Package shipped gives tests the programs that the rules of this program know.
package shipped

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/programs"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Programs is the table of rules/programs. It panics where that cannot be read.
func Programs() *program.Table {
	_, file, _, _ := runtime.Caller(0)
	files, err := rulefile.ReadFS(os.DirFS(filepath.Join(filepath.Dir(file), "..", "..", "..", "rules")))
	if err != nil {
		panic(err)
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return filepath.Dir(name) != rulefile.ProgramFolder })
	return programs.Shipped(files, slices.Sorted(maps.Keys(files))).Table()
}
