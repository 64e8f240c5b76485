package ruleset

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// TestRecipes: the recipes of rules/README.md load, put where it says.
func TestRecipes(t *testing.T) {
	doc, err := os.ReadFile("../../rules/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipes, found := strings.Cut(string(doc), "\n## Recipes\n")
	blocks := indented(recipes)
	if !found || len(blocks) != 3 {
		t.Fatalf("%d recipes", len(blocks))
	}
	files := maps.Clone(shipped(t))
	delete(files, "tests/replies.yaml") // one of them wants the aliases that the recipe leaves out
	files[aliasesFile] = "version: 1\nprefixes: [functions.]\n" + blocks[0]
	files[strategiesFile] = strings.Replace(files[strategiesFile], "\nstrategies:\n", "\nstrategies:\n"+shifted(blocks[1], "  "), 1)
	files[serversFile] = strings.Replace(files[serversFile], "\n  overflow:\n", "\n  overflow:\n"+shifted(blocks[2], "    "), 1)
	set, problems := Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if before := loaded(t).Counts; set.Counts.Patterns != before.Patterns+1 || set.Version == loaded(t).Version {
		t.Errorf("the recipes changed nothing: %+v, before %+v", set.Counts, before)
	}
}

// indented gives the indented blocks of a text, without their indent.
func indented(doc string) (blocks []string) {
	inside := false
	for line := range strings.Lines(doc) {
		code, is := strings.CutPrefix(line, "    ")
		switch {
		case is && inside:
			blocks[len(blocks)-1] += code
		case is:
			blocks = append(blocks, code)
		}
		inside = is
	}
	return blocks
}

func shifted(block, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n"+by) + "\n"
}
