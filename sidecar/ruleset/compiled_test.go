package ruleset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// An edit breaks the same examples where those of the load before are remembered. What a row breaks stands in
// a file or a key that the broken examples do not name.
func TestCompiled(t *testing.T) {
	files := builtin(t)
	forgetting, remembering := Full, Full
	forgetting.Compiled, remembering.Compiled = nil, NewCompiled(0)
	if set, problems := remembering.Load(files); set == nil {
		t.Fatal(problems)
	}
	for _, row := range []struct{ name, file, text, by string }{
		{"nothing", execFilename, "profile: developer", "profile: developer # as shipped"},
		{"a condition", execFilename, "      script.fork_bomb\n", "      not script.fork_bomb\n"},
		{"a list", pathsFilename, "elsewhere: [home, root, protected, ", "elsewhere: ["},
		{"a script", execFilename, "hit: ['b(){ b|b& };b']", "hit: ['b(){ b; };b']"},
		{"a row of a program", "programs/files.yaml", "  rm:\n", "  rm2:\n"},
	} {
		changed := rulefile.Files{}
		for name, text := range files {
			changed[name] = text
		}
		changed[row.file] = testkit.Replace(t, files[row.file], row.text, row.by, 1)
		set, got := remembering.Load(changed)
		other, want := forgetting.Load(changed)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -all tried +remembered\n%s", row.name, diff)
		}
		if wrong := row.name != "nothing"; wrong != got.Fatal() {
			t.Errorf("%s: something is wrong: %v, want %v: %v", row.name, got.Fatal(), wrong, got)
		}
		if set != nil && set.Counts != other.Counts {
			t.Errorf("%s: counts %+v, want %+v", row.name, set.Counts, other.Counts)
		}
	}
}
