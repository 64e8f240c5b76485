package rulefile

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// mergeItems merges lists whose items have an id. What is changed keeps its place.
func (t *Tree) mergeItems(base, over *yaml.Node) *yaml.Node {
	at, ids := map[string]int{}, []string{}
	changed := slices.Clone(base.Content)
	for i, item := range changed {
		id := lookUp(item, "id").Value
		at[id] = i
		ids = append(ids, id)
	}
	var added []*yaml.Node
	seen := map[string]bool{}
	for _, item := range over.Content {
		id := lookUp(item, "id").Value
		i, both := at[id]
		switch {
		case both && seen[id]:
			n := lookUp(item, "id")
			d := decoder{src: t.source, origin: t.origin}
			t.problems = append(t.problems, d.at(n).Problem(CodeDup, "the id "+id+" stands here twice", "one item changes an included one"))
			continue
		case both:
			seen[id] = true
			changed[i] = t.mergeItem(changed[i], item, id)
			continue
		}
		if takes(item) {
			d := decoder{src: t.source, origin: t.origin}
			t.problems = append(t.problems, d.head(item).Problem(CodeRef, "there is no "+id+" to take away", nearHint(id, ids)))
			continue
		}
		t.strays[item] = "nothing that is included has the id " + id
		if near, ok := Nearest(id, ids); ok {
			t.strays[item] += "; did you mean " + near + "?"
		}
		added = append(added, item)
	}
	return t.with(over, append(added, changed...))
}

// items reports whether a list holds nothing but mappings with an id.
func items(list *yaml.Node) bool {
	for _, n := range list.Content {
		if id := lookUp(n, "id"); id == nil || id.Kind != yaml.ScalarNode {
			return false
		}
	}
	return len(list.Content) > 0
}
