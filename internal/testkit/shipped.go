package testkit

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// Replace is strings.Replace for a text that the test did not write, such as the shipped rules: it ends the
// test if the text does not hold what is to be replaced.
func Replace(t testing.TB, text, from, to string, n int) string {
	t.Helper()
	if from == "" || !strings.Contains(text, from) {
		t.Fatalf("there is no %q in %.200q", from, text)
	}
	return strings.Replace(text, from, to, n)
}
