package console

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// usual is what holds where limits.yaml does not say it.
func usual() Bounds { return *Section().Holds.(*Bounds) }

// A locked folder keeps words out of the console, and a limits.yaml of an earlier version has a console as
// before.
func TestBoundsOfRules(t *testing.T) {
	const file = "limits.yaml"
	locked := usual()
	locked.Words = 0
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	earlier, _, cut := strings.Cut(files[file], "# What the console keeps")
	for name, row := range map[string]struct {
		changed rulefile.Files
		want    Bounds
	}{
		"locked":  {rulefile.Files{"policy/" + file: "version: 1\nconsole: {words: 0}\n"}, locked},
		"earlier": {rulefile.Files{file: earlier}, usual()},
	} {
		set, problems := ruletest.Load(t, row.changed, Section())
		if set == nil || !cut || *ruleset.Of[Bounds](set) != row.want {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
