package rulefile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// someShape is that of files which nobody ships.
var someShape = Shape{OneOf: [][]string{{"deny", "audit"}}}

// merged writes a tree as one YAML text, in flow style, to compare it with.
func merged(t *testing.T, files Files, name string) (string, Problems) {
	t.Helper()
	tr := ReadTree(files, name, someShape)
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
		{"a key is taken away", "plain: null\nmap: {k: ~}", "map[list:[map[id:one l:[1] n:1] map[id:two n:2]] map:map[other:[y]] version:1 words:[a b]]"},
		{"an item is taken away", "list: [{id: one, delete: true}]", "map[list:[map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
		{"a key of an item is taken away", "list: [{id: one, l: null}]", "map[list:[map[id:one n:1] map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
		{"new items stand in front", "list: [{id: three}, {id: one, n: 9}]", "map[list:[map[id:three] map[id:one l:[1] n:9] map[id:two n:2]] map:map[k:[x] other:[y]] plain:1 version:1 words:[a b]]"},
	} {
		for _, file := range []string{"packs/base.yaml", "builtin/a.yaml"} {
			got, problems := merged(t, Files{"a.yaml": "version: 1\ninclude: [" + file + "]\n" + c.over,
				file: base}, "a.yaml")
			if len(problems) > 0 || got != c.want {
				t.Errorf("%s: %v\n got %s\nwant %s", c.name, problems, got, c.want)
			}
		}
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
		"packs/self.yaml":  "version: 1\ninclude: [packs/self.yaml]\n",
		"packs/round.yaml": "version: 1\ninclude: [packs/self.yaml, packs/back.yaml]\n",
		"packs/back.yaml":  "version: 1\ninclude: [packs/round.yaml]\n", "packs/broken.yaml": "version: [1\n",
		"secret.yaml": "token: x\n",
	}
	for include, want := range map[string]string{
		"[packs/god.yaml]":                       "a.yaml:2:11: there is no packs/god.yaml [E-ref]|did you mean packs/good.yaml?",
		"[builtin/aliases.yml]":                  "a.yaml:2:11: builtin/aliases.yml cannot be included",
		"[../secret.yaml]":                       "a.yaml:2:11: ../secret.yaml cannot be included [E-ref]|write packs/NAME.yaml",
		"[packs/../secret.yaml]":                 "cannot be included",
		"[/etc/passwd]":                          "/etc/passwd cannot be included",
		"[secret.yaml]":                          "secret.yaml cannot be included",
		"packs/good.yaml":                        "a.yaml:2:10: include must be a list of files [E-type]",
		"[[packs/good.yaml]]":                    "a.yaml:2:11: an entry of include must be a text [E-type]",
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

// What one layer takes away, the next may write anew; two extra files agree, or it is an error.
func TestTaken(t *testing.T) {
	const base = "version: 1\nwords: [a, b]\nplain: 1\nlist: [{id: one, n: 1}, {id: two, when: w}]\n"
	for _, c := range []struct{ main, first, second, want, wrong string }{
		{"words: null", "words: [c]", "", "map[list:[map[id:one n:1] map[id:two when:w]] plain:1 version:1 words:[c]]", ""},
		{"", "words: null\nplain: null", "words: null", "map[list:[map[id:one n:1] map[id:two when:w]] version:1]", ""},
		{"", "list: [{id: one, delete: true}]", "list: [{id: one, delete: true}]", "map[list:[map[id:two when:w]] plain:1 version:1 words:[a b]]", ""},
		{"list: [{id: one, delete: true}]", "list: [{id: one, m: 2}]", "", "map[list:[map[id:one m:2] map[id:two when:w]] plain:1 version:1 words:[a b]]", ""},
		{"", "plain: null", "plain: 2", "", "extra/a.2.yaml:2:8: another file says something else here [E-dup]"},
		{"", "list: [{id: one, delete: true}]", "list: [{id: one, n: 2}]", "", "extra/a.2.yaml:2:8: another file says something else here"},
		{"", "list: [{id: noe, delete: true}]", "", "", "extra/a.1.yaml:2:8: there is no noe to take away [E-ref]|did you mean one?"},
		{"", "words:\nplain: 2", "", "", "extra/a.1.yaml:2:7: words has no value [E-missing]|leave the key out, or write null to take away what builtin/a.yaml:2 says"},
		{"words:", "words: [c]", "", "", "a.yaml:3:7: words has no value"},
		{"words: null", "", "words:", "", "extra/a.2.yaml:2:7: words has no value"},
		{"", "words: null", "words:", "", "extra/a.2.yaml:2:7: words has no value"},
		{"new: null", "new: 1", "", "", "a.yaml:3:6: new has no value|nothing to take away"},
		{"list:", "list: [{id: one, n: 2}]", "", "", "a.yaml:3:6: list has no value"},
		{"", "list: [{id: two, when: }]", "", "", "extra/a.1.yaml:2:24: when has no value|write a condition, or take the whole rule away with delete: true"},
		{"", "list: [{id: two, when: null}]", "", "", "extra/a.1.yaml:2:24: when has no value|without one it holds for everything"},
		{"list: [{id: third, delete: true}]", "", "", "", "a.yaml:3:8: there is no third to take away [E-ref]|nothing that is included has this name"},
	} {
		files := Files{"a.yaml": "version: 1\ninclude: [builtin/a.yaml]\n" + c.main, "builtin/a.yaml": base}
		for name, text := range map[string]string{"extra/a.1.yaml": c.first, "extra/a.2.yaml": c.second} {
			if text != "" {
				files[name] = "version: 1\n" + text
			}
		}
		got, problems := merged(t, files, "a.yaml")
		if c.wrong == "" && (len(problems) > 0 || got != c.want) {
			t.Errorf("%q %q %q: %v\n got %s\nwant %s", c.main, c.first, c.second, problems, got, c.want)
		}
		for part := range strings.SplitSeq(c.wrong, "|") {
			if !strings.Contains(problems.Error(), part) {
				t.Errorf("%q %q %q: %v\nwant %s", c.main, c.first, c.second, problems, part)
			}
		}
	}
	// What is not there cannot be taken away; the decoder says so, with a hint.
	tr := ReadTree(Files{"a.yaml": "version: 1\ninclude: [builtin/a.yaml]\nplane: null", "builtin/a.yaml": base},
		"a.yaml", someShape)
	problems := tr.Decode(&struct {
		Version int      `rule:"version"`
		Plain   int      `rule:"plain"`
		Plane   int      `rule:"plane"`
		Words   []string `rule:"words"`
		List    []any    `rule:"list"`
	}{}, false)
	if got := problems.Error(); !strings.Contains(got, "a.yaml:3:8: plane has no value [E-missing]") ||
		!strings.Contains(got, "nothing to take away; did you mean plain?") {
		t.Errorf("%s", got)
	}
	tr = ReadTree(Files{"a.yaml": "version: 1\ninclude: [builtin/a.yaml]\nplain: null", "builtin/a.yaml": base},
		"a.yaml", someShape)
	if got := tr.Taken(); len(got) != 1 || got[0].What != "plain" || got[0].From != "builtin/a.yaml:3" ||
		got[0].By != "a.yaml:3" {
		t.Errorf("%v", got)
	}
}

// FuzzLayers: no include, however wild, panics, hangs or reaches another file.
func FuzzLayers(f *testing.F) {
	f.Add("version: 1\ninclude: [packs/b.yaml]\nx: [{id: a}]",
		"version: 1\ninclude: [packs/a.yaml, packs/b.yaml]\nx: [{id: a, l: [1]}]")
	f.Add("include: [*a]", "&a a: *a")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := Files{"a.yaml": a, "packs/a.yaml": a, "packs/b.yaml": b, "extra/a.1.yaml": b,
			"extra/a.2.yaml": a, "secret.yaml": "s: 1"}
		tr := ReadTree(files, "a.yaml", someShape)
		if slices.Contains(tr.files, "secret.yaml") || len(tr.files) >= len(files) {
			t.Fatalf("included %v", tr.files)
		}
		tr.Decode(new(struct {
			Version int            `rule:"version,required"`
			X       []Pair[[]Text] `rule:"x"`
		}), false)
	})
}
