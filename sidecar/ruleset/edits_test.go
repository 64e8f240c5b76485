package ruleset

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The program's file counts where the folder has none, and an extra file adds to it.
func TestFewFiles(t *testing.T) {
	shipped := builtin(t)
	own := maps.Clone(shipped)
	for _, name := range Full.FileNames()[1:] {
		delete(own, name)
	}
	own["extra/edits.ours.yaml"] = "version: 1\nresults:\n  - {id: note, note: Seen.}\n"
	files, err := Full.Source("rules", "", shipped).Whole(own)
	if err != nil {
		t.Fatal(err)
	}
	set, problems := Full.Load(files)
	if set == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(set.References.Words) != len(loaded(t).References.Words) {
		t.Errorf("%+v", set.References)
	}
	none, err := Full.Source("rules", "", shipped).Whole(rulefile.Files{})
	if set, problems := Full.Load(none); err != nil || set != nil ||
		!strings.Contains(problems.Error(), "the folder has no rule file") {
		t.Errorf("a folder without rules: %v %v", problems, err)
	}
	if got, _ := set.Edits.Result(prompt.ResultFacts{Text: "a"}); got != "a\n\nSeen." {
		t.Errorf("%q", got)
	}
	if !slices.Contains(set.Rules(), Rule{"extra/edits.ours.yaml:3", "extra/edits.ours.yaml", "note"}) {
		t.Errorf("the rule is not counted: %v", set.Rules())
	}
	if set.Version != files.Version() {
		t.Error("the version is not that of the files")
	}
}

// The edits of the locked folder hold beside those of the operator; what is wrong with either
// has its place.
func TestLockedEdits(t *testing.T) {
	own := builtin(t)
	own["extra/edits.ours.yaml"] = "version: 1\nresults:\n  - {id: keys, replace: [{find: key, with: word}]}\n"
	for locked, want := range map[string]string{
		"version: 1\nresults:\n  - {id: keys, replace: [{find: 'key-\\d', with: gone}], hit: [{tool: x, text: key-1, gives: gone}]}\n": "",
		"version: 1\nresults:\n  - {id: keys, replace: [{find: 'key-(', with: gone}]}\n":                                               "edits.yaml:3:34: missing closing )",
		"version: 1\nresults:\n  - {id: keys, note: x, miss: [{tool: x, text: a}]}\n":                                                  "keys edits this, but should leave it alone [E-example]",
		"version: 1\nrequests:\n  - {id: a, when: user > 1, drop_tools: [x]}\n":                                                        "edits.yaml:3:",
		"version: 1\nrequests:\n  - {id: a b, drop_tools: [x]}\n  - {id: c, drop_tools: [x]}\n  - {id: c, drop_tools: [y]}\n":          "the id c stands here twice",
	} {
		files, err := lockedSource(t, own, rulefile.Files{editsFile: locked}).Read()
		if err != nil {
			t.Fatal(err)
		}
		set, problems := Full.Load(files)
		if (set != nil) != (want == "") || !strings.Contains(problems.Error(), want) {
			t.Errorf("%s: %v", locked, problems)
		}
		if set == nil {
			continue
		}
		if got, _ := set.Edits.Result(prompt.ResultFacts{Tool: "x", Text: "key-1 key"}); got != "gone word" {
			t.Errorf("%q", got)
		}
	}
}
