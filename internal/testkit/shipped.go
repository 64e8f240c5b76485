package testkit

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/programs"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// ShippedPrograms is the table of rules/programs. It panics where that cannot be read.
func ShippedPrograms() *program.Table {
	files, err := rulefile.ReadFS(os.DirFS(filepath.Join(Root(), "rules")))
	if err != nil {
		panic(err)
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return filepath.Dir(name) != rulefile.ProgramFolder })
	return programs.Shipped(files, slices.Sorted(maps.Keys(files))).Table()
}
