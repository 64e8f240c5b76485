package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// merged writes a tree as one YAML text, in flow style, to compare it with.
func merged(t *testing.T, files Files, name string) (string, Problems) {
	t.Helper()
	tr := plant(files, name)
	if tr.root == nil {
		return "", tr.problems
	}
	var v any
	check(t, tr.root.Decode(&v))
	return fmt.Sprint(v), tr.problems
}

func TestLayers(t *testing.T) {
	base := "version: 1\nwords: [a, b]\nmap: {k: [x], other: [y]}\nlist: [{id: one, n: 1, l: [1]}, {id: two, n: 2}]\nplain: 1\n"
	for _, c := range []struct{ name, over, want string }{
		{"nothing of its own", "", "map[list:[map[id:one l:[1] n:1] map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
		{"plain values", "plain: 2", "map[list:[map[id:one l:[1] n:1] map[id:two n:2]] map:map[k:[x] other:[y]] plain:2 version:1 words:[a b]]"},
		{"lists join, ours in front", "words: [c]\nmap: {k: [z], new: [n]}", "map[list:[map[id:one l:[1] n:1] map[id:two n:2]] map:map[k:[z x] new:[n] other:[y]] plain:1 version:1 words:[c a b]]"},
		{"items by id keep their place", "list: [{id: two, n: 3}]", "map[list:[map[id:one l:[1] n:1] map[id:two n:3]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
		{"lists inside an item replace", "list: [{id: one, l: [2]}]", "map[list:[map[id:one l:[2] n:1] map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
		{"new items stand in front", "list: [{id: three}, {id: one, n: 9}]", "map[list:[map[id:three] map[id:one l:[1] n:9] map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
	} {
		for _, file := range []string{"packs/base.yaml", "builtin/a.yaml"} {
			got, problems := merged(t, Files{"a.yaml": "version: 1\ninclude: [" + file + "]\n" + c.over, file: base}, "a.yaml")
			if len(problems) > 0 || got != c.want {
				t.Errorf("%s: %v\n got %s\nwant %s", c.name, problems, got, c.want)
			}
		}
	}
}

// TestLayersSlips: what people do wrong in a file that includes others is said once,
// at its place, and hides nothing else.
func TestLayersSlips(t *testing.T) {
	for _, c := range []struct{ file, more, want string }{
		{strategiesFile, "strategies:\n  - {id: react_tags, enabled: false}\n  - {id: react_tags, enabled: true}\n", "strategies.yaml:5:10: the id react_tags stands here twice [E-dup]"},
		{strategiesFile, "strategies: [{id: tags, enabled: false}]\nstrategies: [{id: react, enabled: false}]\n", "strategies.yaml:4:1: strategies stands here twice [E-dup]"},
		{strategiesFile, "include: [builtin/packs/formats.yaml]\n", "strategies.yaml:3:10: include stands here twice [E-dup]"},
		{execFilename, "rules: [{id: disk, deny: No., audit: No.}]\n", "exec.yaml:3:26: disk is both"},
	} {
		files := layeredShipped(t)
		files[c.file] += c.more
		set, problems := Load(files)
		if set != nil || len(problems) != 1 || !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s%v\nwant %s", c.more, problems, c.want)
		}
	}
	files := layeredShipped(t)
	files[execFilename] += "rules:\n  - {id: signal, deny: Never.}\n  - {id: power, audit: Only tried.}\n"
	set, problems := Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := effect("kill 7")(set); got != "deny" {
		t.Errorf("a question that became a denial gives %s", got)
	}
	if got := effect("reboot")(set); got != "ask" {
		t.Errorf("a denial that became a dry run gives %s", got)
	}
}

// TestLayersDeep: what an included file includes comes along, once.
func TestLayersDeep(t *testing.T) {
	got, problems := merged(t, Files{
		"a.yaml":       "version: 1\ninclude: [packs/b.yaml, packs/c.yaml]\nw: [a]",
		"packs/b.yaml": "version: 1\ninclude: [packs/d.yaml]\nw: [b]",
		"packs/c.yaml": "version: 1\ninclude: [packs/d.yaml]\nw: [c]",
		"packs/d.yaml": "version: 1\nw: [d]",
	}, "a.yaml")
	if len(problems) > 0 || got != "map[version:1 w:[a b d c]]" {
		t.Errorf("%v %v", got, problems)
	}
}

func TestLayersRefused(t *testing.T) {
	files := Files{
		"packs/good.yaml": "version: 1\n", "packs/old.yaml": "version: 2\n", "packs/none.yaml": "a: 1\n",
		"packs/self.yaml": "version: 1\ninclude: [packs/self.yaml]\n", "packs/round.yaml": "version: 1\ninclude: [packs/self.yaml, packs/back.yaml]\n",
		"packs/back.yaml": "version: 1\ninclude: [packs/round.yaml]\n", "packs/broken.yaml": "version: [1\n", "secret.yaml": "token: x\n",
	}
	for include, want := range map[string]string{
		"[packs/god.yaml]":                       "a.yaml:2:11: there is no packs/god.yaml [E-ref]|did you mean packs/good.yaml?",
		"[builtin/aliases.yml]":                  "a.yaml:2:11: builtin/aliases.yml cannot be included",
		"[../secret.yaml]":                       "a.yaml:2:11: ../secret.yaml cannot be included [E-ref]|write packs/NAME.yaml",
		"[packs/../secret.yaml]":                 "cannot be included",
		"[/etc/passwd]":                          "/etc/passwd cannot be included",
		"[secret.yaml]":                          "secret.yaml cannot be included",
		"packs/good.yaml":                        "a.yaml:2:10: include is a list of files [E-type]",
		"[[packs/good.yaml]]":                    "a.yaml:2:11: an entry of include is a text [E-type]",
		"[packs/self.yaml]":                      "packs/self.yaml:2:11: packs/self.yaml includes itself [E-ref]|a.yaml → packs/self.yaml → packs/self.yaml",
		"[packs/round.yaml]":                     "packs/back.yaml:2:11: packs/back.yaml includes itself [E-ref]|a.yaml → packs/round.yaml → packs/back.yaml → packs/round.yaml",
		"[packs/old.yaml]":                       "packs/old.yaml:1:10: version cannot be 2",
		"[packs/none.yaml]":                      "packs/none.yaml:1:1: the file lacks version",
		"[packs/broken.yaml]":                    "packs/broken.yaml:1:10: YAML cannot read what stands in these brackets",
		"[!x packs/good.yaml]":                   "a.yaml:2:11:",
		"[packs/good.yaml, packs/x, packs/y.md]": "a.yaml:2:28: packs/x cannot be included",
	} {
		files["a.yaml"] = "version: 1\ninclude: " + include + "\n"
		_, problems := merged(t, files, "a.yaml")
		got := problems.Error()
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s\nwant %s", include, got, part)
			}
		}
	}
}

// layeredShipped are files that include everything and say nothing themselves.
func layeredShipped(t testing.TB) Files {
	t.Helper()
	out := Files{}
	for _, name := range ruleFiles {
		out[name] = "version: 1\ninclude: [builtin/" + name + "]\n"
	}
	return out.over(shipped(t))
}

// TestLayersOfBuiltin: a folder of files that only include the program's own says
// the same as the program, and differences of a few lines take effect.
func TestLayersOfBuiltin(t *testing.T) {
	plain, problems := Load(layeredShipped(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, counts := loaded(t), plain.Counts
	counts.Files, counts.Tests = want.Counts.Files, want.Counts.Tests // a folder has tests of its own
	if counts != want.Counts || plain.Limits != want.Limits || len(plain.Servers) != len(want.Servers) || len(plain.Tools.Aliases) != len(want.Tools.Aliases) {
		t.Errorf("%+v, not %+v", plain.Counts, want.Counts)
	}
	files := layeredShipped(t)
	files[aliasesFile] += "tools:\n  exec: [zsh]\nhit:\n  - {name: zsh, tools: [exec], gives: exec}\n"
	files[limitsFile] += "size: {text: 64KiB}\n"
	files[modelsFile] += "models:\n  - id: mine\n    about: mine\n    mode: provider\n  - id: executor\n    profile: native\n"
	files[strategiesFile] += "strategies:\n  - {id: markers, enabled: false}\n"
	set, problems := Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if set.Limits.TextBytes != 64<<10 || set.Limits.RequestBytes != want.Limits.RequestBytes {
		t.Errorf("limits %+v", set.Limits)
	}
	if m, _ := set.Model("executor"); set.Models[0].ID != "mine" || m.Profile != "native" || m.Mode != "executor" || len(set.Models) != len(want.Models)+1 {
		t.Errorf("models %+v", set.Models)
	}
	if a := set.Tools.Aliases[0]; a.Name != "zsh" || a.Place != "aliases.yaml:4" {
		t.Errorf("the first alias is %+v", a)
	}
	if a := set.Tools.Aliases[1]; a.Name != "bash" || !strings.HasPrefix(a.Place, "builtin/aliases.yaml:") {
		t.Errorf("the second alias is %+v", a)
	}
}

// TestLayersPlaces: a problem stands where its text stands, in whichever file.
func TestLayersPlaces(t *testing.T) {
	files := layeredShipped(t)
	files[strategiesFile] += "strategies:\n  - {id: markrs, enabled: false}\n"
	files["builtin/limits.yaml"] = strings.Replace(files["builtin/limits.yaml"], "depth: 128", "depth: deep", 1)
	_, problems := Load(files)
	if len(problems) != 2 || problems[0].File != "builtin/limits.yaml" || problems[0].Msg != "depth is a whole number, not deep" {
		t.Fatal(problems)
	}
	if p := problems[1]; p.File != strategiesFile || p.Line != 4 || p.Hint != "nothing that is included has the id markrs; did you mean markers?" {
		t.Errorf("%+v", p)
	}
}

// FuzzLayers: no include, however wild, panics, hangs or reaches another file.
func FuzzLayers(f *testing.F) {
	f.Add("version: 1\ninclude: [packs/b.yaml]\nx: [{id: a}]", "version: 1\ninclude: [packs/a.yaml, packs/b.yaml]\nx: [{id: a, l: [1]}]")
	f.Add("include: [*a]", "&a a: *a")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := Files{"a.yaml": a, "packs/a.yaml": a, "packs/b.yaml": b, "secret.yaml": "s: 1"}
		tr := plant(files, "a.yaml")
		if slices.Contains(tr.files, "secret.yaml") || len(tr.files) >= len(files) {
			t.Fatalf("included %v", tr.files)
		}
		l := prepare(files)
		decodeInto(l, "a.yaml", new(strategyFile), false)
	})
}
