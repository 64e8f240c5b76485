package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// namedBy are the keys that name an item of a list: those of the first row whose last key the item has.
var namedBy = [][]string{{"id"}, {"mode", "tool"}, {"tools", "names"}}

// NameKeys returns the keys that name an item, of those that it has; nil: it has no name.
func NameKeys(has func(key string) bool) []string {
	for _, keys := range namedBy {
		if has(keys[len(keys)-1]) {
			return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !has(key) })
		}
	}
	return nil
}

func nameKeys(item *yaml.Node) []string {
	return NameKeys(func(key string) bool { return lookUp(item, key) != nil })
}

// nameKey returns the last of them, which names the item in paths; empty: none.
func nameKey(item *yaml.Node) string {
	keys := nameKeys(item)
	if len(keys) == 0 {
		return ""
	}
	return keys[len(keys)-1]
}

// nameOf returns the name of an item; empty: none.
func nameOf(item *yaml.Node) string {
	var words []string
	for _, key := range nameKeys(item) {
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

// describe names an item in a message.
func describe(item *yaml.Node) string {
	what := "entry"
	if keys := nameKeys(item); len(keys) == 1 {
		what = keys[0]
	}
	return "the " + what + " " + nameOf(item)
}

// distinctItems reports items of a file with the same name, which the merge of layers would hide. Lists
// inside items have no named ones.
func (d *decoder) distinctItems(n *yaml.Node) {
	first := map[string]int{}
	for i, c := range n.Content {
		switch name, at := nameOf(c), lookUp(c, nameKey(c)); {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			d.distinctItems(c)
		case n.Kind != yaml.SequenceNode || name == "":
		case first[name] > 0:
			d.report(at, CodeDup, describe(c)+" stands here twice", fmt.Sprintf("it stands in line %d, too",
				first[name]))
		default:
			first[name] = at.Line
		}
	}
}

// mergeItems merges lists of named items. A changed item keeps its place.
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
		if isDeletion(item) {
			t.report(t.places().head(item), CodeRef, "there is no "+name+" to take away",
				DidYouMeanOr(name, names, "nothing that is included has this name"))
			continue
		}
		t.hint(item, "nothing that is included has "+describe(item), name, names)
		added = append(added, item)
	}
	return t.withContent(over, append(added, changed...))
}

// items reports whether all items of a list have names.
func items(list *yaml.Node) bool {
	return len(list.Content) > 0 && !slices.ContainsFunc(list.Content,
		func(n *yaml.Node) bool { return nameOf(n) == "" })
}
