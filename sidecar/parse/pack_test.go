package parse_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

const packFile = "../../rules/packs/formats.yaml"

// items is what stands under "strategies:" in a rule file.
func items(t testing.TB, doc string) string {
	t.Helper()
	_, list, found := strings.Cut(doc, "\nstrategies:\n")
	if !found {
		t.Fatal("no strategies")
	}
	list, _, _ = strings.Cut(list, "\nprofiles:\n")
	return list
}

// taught are the shipped rules with more strategies, written in YAML; with alone,
// in place of the shipped ones.
func taught(t testing.TB, list string, alone bool) *ruleset.Set {
	t.Helper()
	files, err := ruleset.ReadFS(os.DirFS("../../rules"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "strategies.yaml"
	if alone {
		files[name] = "version: 1\nstrategies:\n" + list + "\nprofiles:\n  default: {about: all}\n"
	} else {
		files[name] = strings.Replace(files[name], "\nstrategies:\n", "\nstrategies:\n"+list+"\n", 1)
	}
	set, problems := ruleset.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// packed are the shipped strategies and those of the pack.
func packed(t testing.TB) *parse.Strategies {
	t.Helper()
	doc, err := os.ReadFile(packFile)
	if err != nil {
		t.Fatal(err)
	}
	return taught(t, items(t, string(doc)), false).Strategies("")
}

func TestPackX(t *testing.T) {
	s := packed(t)
	for _, file := range []string{"markers"} {
		score := map[string][2]int{}
		for _, l := range corpus.Load[labelled](t, file) {
			got := readPieces(s, catalogOf(l.Input.Tools, l.Input.Tools != nil), l.pieces(t), "")
			n := score[l.Grade]
			n[1]++
			if wrong := l.judge(got); wrong == "" {
				n[0]++
			} else {
				t.Logf("%s (%s): %s\n\t%q refused %v", l.ID, l.Grade, wrong, strings.Join(l.pieces(t), ""), got.Refused)
			}
			score[l.Grade] = n
		}
		t.Log(score)
	}
}
