package rulefile

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExtra(t *testing.T) {
	files := Files{
		"a.yaml":         "version: 1\ninclude: [builtin/a.yaml]\nplain: 1\nlist: [{id: one, n: 1}]\n",
		"builtin/a.yaml": "version: 1\nplain: 0\nwords: [b]\nlist: [{id: one, deny: x, l: [1, 2]}, {id: two, n: 2}]\n",
		"packs/p.yaml":   "version: 1\nplain: 9\nwords: [p]\nlist: [{id: one, n: 9}, {id: four, n: 4}]\n",
	}
	for _, c := range []struct {
		name  string
		extra Files
		want  string
	}{
		{"none", nil, "list:[map[deny:x id:one l:[1 2] n:1] map[id:two n:2]] plain:1 words:[b]"},
		{"in front of the file", Files{"a.x": "plain: 2\nwords: [c]\nlist: [{id: one, l: [3]}, {id: three}]"}, "list:[map[id:three] map[deny:x id:one l:[3] n:1] map[id:two n:2]] plain:2 words:[c b]"},
		{"an effect for another", Files{"a.x": "list: [{id: one, audit: y}]"}, "list:[map[audit:y id:one l:[1 2] n:1] map[id:two n:2]] plain:1 words:[b]"},
		{"several", Files{"a.x": "words: [c]\nlist: [{id: three, n: 3}]", "a.y": "more: {k: 1}\nlist: [{id: two, n: 7}]"}, "list:[map[id:three n:3] map[deny:x id:one l:[1 2] n:1] map[id:two n:7]] more:map[k:1] plain:1 words:[c b]"},
		{"the same twice", Files{"a.x": "plain: 2", "a.y": "plain: 2"}, "list:[map[deny:x id:one l:[1 2] n:1] map[id:two n:2]] plain:2 words:[b]"},
		{"what it includes stands behind", Files{"a.x": "include: [packs/p.yaml, builtin/a.yaml]"}, "list:[map[id:two n:2] map[deny:x id:one l:[1 2] n:1] map[id:four n:4]] plain:1 words:[b p]"},
		{"of another file", Files{"b.x": "plain: 3", "ab.x": "plain: 3", "a": "plain: 3"}, "list:[map[deny:x id:one l:[1 2] n:1] map[id:two n:2]] plain:1 words:[b]"},
	} {
		all := maps.Clone(files)
		for name, text := range c.extra {
			all["extra/"+name+".yaml"] = "version: 1\n" + text
		}
		got, problems := merged(t, all, "a.yaml")
		want := "map[" + strings.Replace(c.want, " words:", " version:1 words:", 1) + "]"
		if len(problems) > 0 || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, problems, got, want)
		}
	}
}

// Two extra files that contradict each other are an error at the later one; an extra file
// is held to all that holds for others.
func TestExtraRefused(t *testing.T) {
	for _, c := range []struct{ x, y, want string }{
		{"version: 1\nplain: 1", "version: 1\nplain: 2", "extra/a.y.yaml:2:8: another file says something else here [E-dup]|it is extra/a.x.yaml:2; leave one of the two out"},
		{"version: 1\nlist: [{id: one, l: [1]}]", "version: 1\nlist: [{id: one, l: [2]}]", "extra/a.y.yaml:2:21: another file says"},
		{"version: 1\nlist: [{id: one, deny: a}]", "version: 1\nlist: [{id: one, audit: a}]", "extra/a.y.yaml:2:18: another file says something else here [E-dup]|it is extra/a.x.yaml:2"},
		{"version: 1\nlist: [{id: new, n: 1}]", "version: 1\nlist: [{id: new, n: 2}]", "extra/a.y.yaml:2:21: another file says"},
		{"version: 1\nmap: {k: {l: 1}}", "version: 1\nmap: {k: 2}", "extra/a.y.yaml:2:10: another file says"},
		{"version: 1\nsigns: [{id: s, n: 1}]", "version: 1\nsigns: [{id: s, n: 2}]", "extra/a.y.yaml:2:20: another file says"},
		{"version: 1\ntools: [{mode: m, tool: s, n: 1}]", "version: 1\ntools: [{mode: m, tool: s, n: 2}]", "extra/a.y.yaml:2:31: another file says"},
		{"version: 1\ntwice: 3", "version: 1\nlist: [{id: two, delete: true}]", "a.yaml:5:1: twice stands here twice [E-dup]|it stands in line 4, too|a.yaml:3:43: the id two stands here twice|it stands in line 3, too"},
		{"version: 1", "version: 1\nlist: [{id: x, n: 1}, {id: x, n: 2}]", "extra/a.y.yaml:2:28: the id x stands here twice"},
		{"hello", "version: 1", "extra/a.x.yaml:1:1: the file must be a list of keys and values [E-type]|write key: value"},
		{"- a\n- b", "version: 1", "extra/a.x.yaml:1:1: the file must be a list of keys and values"},
		{"plain: 1", "version: 1", "extra/a.x.yaml:1:1: the file lacks version"},
		{"version: 1\ninclude: [secret.yaml]", "version: 1", "extra/a.x.yaml:2:11: secret.yaml cannot be included"},
		{"version: 1\ninclude: [packs/self.yaml]", "version: 1", "packs/self.yaml:2:11: packs/self.yaml includes itself [E-ref]|a.yaml → extra/a.x.yaml → packs/self.yaml → packs/self.yaml"},
		{"", "version: 1", "extra/a.x.yaml: this file is empty"},
		{"version: [1", "version: 1", "extra/a.x.yaml:1:10: YAML cannot read"},
	} {
		_, problems := merged(t, Files{
			"a.yaml": "version: 1\nplain: 0\nlist: [{id: one, l: [0]}, {id: two}, {id: two}]\ntwice: 1\ntwice: 2", "extra/a.x.yaml": c.x, "extra/a.y.yaml": c.y,
			"secret.yaml": "token: x", "packs/self.yaml": "version: 1\ninclude: [packs/self.yaml]\n",
		}, "a.yaml")
		for part := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(problems.Error(), part) {
				t.Errorf("%q, %q: %v\nwant %s", c.x, c.y, problems, part)
			}
		}
	}
}

// However settings and items are dealt out to extra files, they say the same as in one.
func TestExtraInAnyDeal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := "version: 1\nm: {k0: old, other: old}\nl: [{id: i0, n: old}, {id: i1, n: old, more: old}]\n"
		one, dealt := Files{"a.yaml": base}, Files{"a.yaml": base}
		items, settings := map[string]string{}, map[string]string{}
		n := rapid.IntRange(1, 6).Draw(rt, "number")
		for i := range n {
			name := fmt.Sprintf("extra/a.%d.yaml", rapid.IntRange(0, 3).Draw(rt, "file"))
			if rapid.Bool().Draw(rt, "item") {
				items[name] += fmt.Sprintf("  - {id: i%d, n: %d}\n", i, i)
			} else {
				settings[name] += fmt.Sprintf("  k%d: %d\n", i, i)
			}
		}
		put := func(f Files, name, items, settings string) {
			text := "version: 1\n"
			if items != "" {
				text += "l:\n" + items
			}
			if settings != "" {
				text += "m:\n" + settings
			}
			f[name] = text
		}
		var allItems, allSettings string
		for i := range 4 {
			name := fmt.Sprintf("extra/a.%d.yaml", i)
			allItems, allSettings = items[name]+allItems, allSettings+settings[name] // new items come first
			put(dealt, name, items[name], settings[name])
		}
		put(one, "extra/a.one.yaml", allItems, allSettings)
		want, problems := merged(t, one, "a.yaml")
		got, more := merged(t, dealt, "a.yaml")
		if len(problems)+len(more) > 0 || got != want {
			rt.Fatalf("%v %v\n got %s\nwant %s", problems, more, got, want)
		}
	})
}
