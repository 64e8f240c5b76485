package walls

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The filter is the same on both kinds of machine: arm64 has no call that amd64 has not, and
// what has a rule on amd64 alone is not there on arm64. The compiler finds a rule for a call
// that one of them lacks.
func TestCallsOfBothMachines(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("the tables of golang.org/x/sys are not here")
	}
	table := func(machine string) []string {
		return namesIn(t, filepath.Join(strings.TrimSpace(string(dir)), "unix",
			"zsysnum_linux_"+machine+".go"), `\b(SYS_\w+) += \d`)
	}
	amd64, arm64 := table("amd64"), table("arm64")
	if len(amd64) < 350 || len(arm64) < 300 {
		t.Fatalf("%d and %d calls: nothing is compared", len(amd64), len(arm64))
	}
	arm64Only := slices.DeleteFunc(slices.Clone(arm64),
		func(name string) bool { return slices.Contains(amd64, name) })
	// the first of a range that is empty there
	if diff := cmp.Diff([]string{"SYS_ARCH_SPECIFIC_SYSCALL"}, arm64Only); diff != "" {
		t.Errorf("only on arm64:\n%s", diff)
	}
	old := append(namesIn(t, "callrules_linux_amd64.go", `\bunix\.(SYS_\w+)`), namesIn(t, "handlers_linux_amd64.go",
		`\bunix\.(SYS_\w+)`)...)
	for _, name := range old {
		if slices.Contains(arm64, name) && name != "SYS_FILE_SETATTR" {
			t.Errorf("%s is on arm64, too, and has a rule only on amd64", name)
		}
	}
}

func namesIn(t *testing.T, file, pattern string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
