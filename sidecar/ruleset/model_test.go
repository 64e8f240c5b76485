package ruleset

import (
	"maps"
	"strings"
	"testing"
)

// The default is the model that is named, wherever it stands; without a name the first one.
// So a model more is nobody's default until somebody says so.
func TestDefaultModel(t *testing.T) {
	models := "models:\n  - {id: a, about: x, mode: provider}\n  - {id: b, about: x, mode: provider}\n  - {id: c, about: x, mode: provider}\n"
	for said, want := range map[string]string{
		"": "a b c", "default: a\n": "a b c", "default: b\n": "b a c", "default: c\n": "c a b",
		"default: d\n":     "models.yaml:2:10: there is no model d [E-ref]",
		"default: bb\n":    "one of: a, b, c",
		"default: [a]\n":   "default must be a text",
		"default: ''\n":    "there is no model",
		"default: a b\n":   "there is no model a b",
		"defaults: a\n":    "did you mean default?",
		"default: b # x\n": "b a c",
	} {
		files := maps.Clone(shipped(t))
		files[modelsFile] = "version: 1\n" + said + models
		set, problems := Load(files)
		if set == nil {
			if !strings.Contains(problems.Error(), want) {
				t.Errorf("%q: %v", said, problems)
			}
			continue
		}
		var ids []string
		for _, m := range set.Models {
			ids = append(ids, m.ID.Value)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}

// A model that is added to the shipped ones is there, and the default stays.
func TestModelMore(t *testing.T) {
	const mine = "models:\n  - {id: mine, about: x, mode: provider}\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"below the include": {modelsFile, layeredShipped(t)[modelsFile] + mine, "gpt-oss"},
		"as an extra file":  {"extra/models.mine.yaml", "version: 1\n" + mine, "gpt-oss"},
		"as the default":    {"extra/models.mine.yaml", "version: 1\ndefault: mine\n" + mine, "mine"},
	} {
		files := layeredShipped(t)
		files[c.file] = c.text
		set, problems := Load(files)
		if set == nil {
			t.Fatal(problems)
		}
		if _, ok := set.Model("mine"); !ok || set.Models[0].ID.Value != c.want {
			t.Errorf("%s: the default is %s", name, set.Models[0].ID.Value)
		}
	}
}
