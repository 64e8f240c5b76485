package ruleset

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// withPrograms adds files of programs.
func withPrograms(files rulefile.Files, texts map[string]string) rulefile.Files {
	for name, text := range texts {
		files[name] = "version: 1\nprograms:\n" + text
	}
	return files
}

// TestProgramLayers: a row of the operator takes the place of the shipped one, and other
// rows stay. What is wrong with it has its place.
func TestProgramLayers(t *testing.T) {
	answers := func(files rulefile.Files) string {
		set, problems := Full.Load(files)
		if set == nil {
			return problems.Error()
		}
		var out []string
		for _, command := range []string{"gh pr merge 1", "gh frobnicate", "rm a", "rm --frob a"} {
			out = append(out, string(set.CheckCommand(command, somebody, corpusAt).Effect))
		}
		return strings.Join(out, " ")
	}
	for name, c := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"nothing":      {nil, "ask ask allow ask"},
		"one row":      {map[string]string{"programs/ours.yaml": "  gh: {subcommands: {pr frobnicate: {style: operands}}}\n"}, "allow allow allow ask"},
		"two files":    {map[string]string{"programs/a.yaml": "  git: {}\n", "programs/b.yaml": "  hg git: {}\n"}, "the other one is at programs/a.yaml:3"},
		"no such kind": {map[string]string{"programs/a.yaml": "  x:\n    options:\n      -o: wirte\n"}, "programs/a.yaml:5:11: wirte is no kind of value, and no effect"},
		"a bad word": {map[string]string{"programs/a.yaml": "  x:\n    flags: -a b\n"},
			"programs/a.yaml:4:15: b is no option"},
		"twice": {map[string]string{"programs/a.yaml": "  x:\n    letters: ab\n    flags: -b\n"},
			"-b stands here twice"},
		"a hit":        {map[string]string{"programs/a.yaml": "  x: {hit: [x -a]}\n"}, "this is not understood: unknown option -a"},
		"a result":     {map[string]string{"programs/a.yaml": "  x: {operands: read, gives: {x a: write a}}\n"}, "this gives read a"},
		"a locked one": {map[string]string{"policy/programs/a.yaml": "  rm: {effects: publish}\n"}, "ask ask ask ask"},
		"under a lock": {map[string]string{"programs/a.yaml": "  gh: {operands: text*, flags: --frob}\n", "policy/programs/a.yaml": "  unheard: {}\n"}, "ask ask allow ask"},
	} {
		if got := answers(withPrograms(shipped(t), c.texts)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestLockedProgramsOnlyTighten: whatever the operator teaches, a command does at least what
// the program and the locked folder say.
func TestLockedProgramsOnlyTighten(t *testing.T) {
	files := withPrograms(shipped(t), map[string]string{
		"programs/ours.yaml": "  gh rsync: {operands: text*, style: operands}\n", "policy/programs/theirs.yaml": "  make: {operands: text*, effects: publish}\n",
	})
	set, problems := Full.Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for command, want := range map[string]policy.Effect{
		"gh pr merge 1": policy.Ask, "rsync -a a example.com:": policy.Ask, "make": policy.Ask,
		"git status": policy.Allow, "gh --frob x": policy.Ask,
	} {
		if got := set.CheckCommand(command, somebody, corpusAt).Effect; got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
