package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// namedBy are the keys that name an item of a list: the first row whose last key it has, as far
// as it has them.
var namedBy = [][]string{{"id"}, {"mode", "tool"}, {"tools", "names"}}

// Naming are the keys that name an item, of those that it has; none: it has no name.
func Naming(has func(key string) bool) []string {
	for _, keys := range namedBy {
		if has(keys[len(keys)-1]) {
			return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !has(key) })
		}
	}
	return nil
}

func naming(item *yaml.Node) []string {
	return Naming(func(key string) bool { return lookUp(item, key) != nil })
}

// nameKey is the last of them, which names the item in paths; empty for none.
func nameKey(item *yaml.Node) string {
	keys := naming(item)
	if len(keys) == 0 {
		return ""
	}
	return keys[len(keys)-1]
}

// nameOf is the name of an item; empty for none.
func nameOf(item *yaml.Node) string {
	var words []string
	for _, key := range naming(item) {
		switch n := lookUp(item, key); n.Kind {
		case yaml.ScalarNode:
			words = append(words, n.Value)
		case yaml.SequenceNode:
			for _, c := range n.Content {
				words = append(words, c.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

// called is an item with its name, as a message calls it.
func called(item *yaml.Node) string {
	what := "entry"
	if keys := naming(item); len(keys) == 1 {
		what = keys[0]
	}
	return "the " + what + " " + nameOf(item)
}

// distinctItems reports items of a file that have one name: the merge of layers would hide that. Lists inside
// items have no named ones.
func (d *decoder) distinctItems(n *yaml.Node) {
	first := map[string]int{}
	for i, c := range n.Content {
		switch name, at := nameOf(c), lookUp(c, nameKey(c)); {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			d.distinctItems(c)
		case n.Kind != yaml.SequenceNode || name == "":
		case first[name] > 0:
			d.report(at, CodeDup, called(c)+" stands here twice", fmt.Sprintf("it stands in line %d, too",
				first[name]))
		default:
			first[name] = at.Line
		}
	}
}

// mergeItems merges lists whose items have names. What is changed keeps its place.
func (t *Tree) mergeItems(base, over *yaml.Node) *yaml.Node {
	at, names := map[string]int{}, []string{}
	changed := slices.Clone(base.Content)
	for i, item := range changed {
		name := nameOf(item)
		at[name] = i
		names = append(names, name)
	}
	var added []*yaml.Node
	for _, item := range over.Content {
		name := nameOf(item)
		if i, both := at[name]; both {
			changed[i] = t.mergeItem(changed[i], item, name)
			continue
		}
		if takes(item) {
			t.report(t.places().head(item), CodeRef, "there is no "+name+" to take away",
				DidYouMeanOr(name, names, "nothing that is included has this name"))
			continue
		}
		t.strays[item] = "nothing that is included has " + called(item)
		if near, ok := Nearest(name, names); ok {
			t.strays[item] += "; did you mean " + near + "?"
		}
		added = append(added, item)
	}
	return t.with(over, append(added, changed...))
}

// items reports whether a list holds nothing but items with a name.
func items(list *yaml.Node) bool {
	return len(list.Content) > 0 && !slices.ContainsFunc(list.Content,
		func(n *yaml.Node) bool { return nameOf(n) == "" })
}
