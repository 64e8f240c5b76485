package ruleset

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden is a file of testdata/problems: what the operator sees, then the rule
// files that replace shipped ones, each behind a line "-- name --". One that holds
// only "gone" is left out.
type golden struct {
	want  string
	files rulefile.Files
	rules string // the second part, as it stands in the file
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index("\n"+string(doc), "\n-- ")
	g := golden{want: string(doc[:at]), files: maps.Clone(shipped(t)), rules: string(doc[at:])}
	for part := range strings.SplitSeq("\n"+g.rules, "\n-- ") {
		name, text, _ := strings.Cut(part, " --\n")
		switch {
		case name == "":
		case strings.TrimSpace(text) == "gone":
			delete(g.files, name)
		default:
			g.files[name] = text + "\n"
		}
	}
	return g
}

// TestProblems compares what operators see with the golden files.
func TestProblems(t *testing.T) {
	testGolden(t, "testdata/problems", func(t *testing.T, set *Set) {
		if set != nil {
			t.Error("the rules are taken")
		}
	})
}

// TestWarnings: rules with warnings load, and each warning shows its place.
func TestWarnings(t *testing.T) {
	testGolden(t, "testdata/warnings", func(t *testing.T, set *Set) {
		if set == nil {
			t.Error("the rules are refused")
		}
	})
}

func testGolden(t *testing.T, dir string, check func(*testing.T, *Set)) {
	names, err := filepath.Glob(dir + "/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			g := readGolden(t, name)
			set, problems := Full.Load(g.files)
			check(t, set)
			if len(problems) == 0 {
				t.Fatal("nothing is wrong with the rules")
			}
			got := problems.Error() + "\n"
			if *update {
				if err := os.WriteFile(name, []byte(got+g.rules), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(g.want, got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemJSON(t *testing.T) {
	_, problems := Full.Load(rulefile.Files{"limits.yaml": "version: 2\n"})
	doc, err := json.Marshal(problems.In(rulefile.Source{Dir: "rules"}))
	if err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal(doc, &back); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range back {
		found = found || p["file"] == "rules/limits.yaml" && p["code"] == "E-value" && p["line"] == 1.0 &&
			p["col"] == 10.0 && p["end_col"] == 11.0
	}
	if !found {
		t.Errorf("the version is not reported: %s", doc)
	}
}
