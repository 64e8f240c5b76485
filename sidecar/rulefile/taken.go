package rulefile

import (
	"gopkg.in/yaml.v3"
)

// deleteKey takes an item away that a file behind has: {id: markers, delete: true}.
const deleteKey = "delete"

// Taken is a key or an item that a file takes away from a file behind it.
type Taken struct {
	What string `json:"what"` // the key, or the name of the item
	From string `json:"from"` // file:line where it stands
	By   string `json:"by"`   // file:line
}

func (t Taken) String() string { return t.By + " takes away " + t.What + " of " + t.From }

// Taken is all that was taken away, in the order of the merging.
func (t *Tree) Taken() []Taken { return t.taken }

// take notes that by takes away what stands at from. Both stay in the tree until it is whole,
// so that another file which says something else there is seen.
func (t *Tree) take(from, by *yaml.Node, what string) {
	t.taken = append(t.taken, Taken{what, t.places().head(from).String(), t.places().head(by).String()})
	t.gone[by] = true
}

// lacks reports a value that is missing where two layers have the key: one that is not written
// to its end would take the other away, and a null in the layer behind has nothing to take away.
// A rule without its condition holds for everything, so that not even null takes one away.
func (t *Tree) lacks(key, was, now *yaml.Node, inItem bool) bool {
	report := func(n *yaml.Node, hint string) bool {
		t.report(t.places().at(n), CodeMissing, key.Value+" has no value", hint)
		return true
	}
	switch {
	case isNull(was) && !t.gone[was]:
		return report(was, t.strays[was])
	case isNull(now) && inItem && key.Value == conditionKey:
		return report(now, "write a condition, or take the whole rule away with delete: true; without one it holds for everything")
	case isNull(now) && now.Value == "":
		return report(now, "leave the key out, or write null to take away what "+t.places().at(key).String()+
			" says")
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// strayNulls gives a hint about each key without a value that has nothing to take away.
func (t *Tree) strayNulls(base, over *yaml.Node) {
	var names []string
	for i := 0; i+1 < len(base.Content); i += 2 {
		names = append(names, base.Content[i].Value)
	}
	for i := 0; i+1 < len(over.Content); i += 2 {
		key := over.Content[i].Value
		if !isNull(over.Content[i+1]) || lookUp(base, key) != nil {
			continue
		}
		hint := "nothing that is included has the key " + key + ", so there is nothing to take away"
		if near, ok := Nearest(key, names); ok {
			hint += "; did you mean " + near + "?"
		}
		t.strays[over.Content[i+1]] = hint
	}
}

// mergeItem merges an item with one of the same name: it is changed, taken away, or written anew
// where it was taken away before.
func (t *Tree) mergeItem(base, over *yaml.Node, name string) *yaml.Node {
	switch {
	case t.gone[base]:
		t.clash(base, over)
		if takes(over) {
			t.gone[over] = true
		}
		return over
	case takes(over):
		t.clash(base, over)
		t.take(base, over, name)
		return over
	}
	return t.merge(base, over, true)
}

// takes reports whether an item says its name and that it is taken away, and nothing else. What
// else stands beside delete is reported by the decoder, which knows no such key.
func takes(item *yaml.Node) bool {
	says := lookUp(item, deleteKey)
	return says != nil && says.ShortTag() == "!!bool" && says.Value == "true" &&
		len(item.Content) == 2*len(naming(item))+2
}

// prune removes from the tree what was taken away.
func (t *Tree) prune(n *yaml.Node) {
	if len(t.gone) == 0 || n == nil {
		return
	}
	var kept []*yaml.Node
	for i := 0; i < len(n.Content); i++ {
		switch {
		case n.Kind == yaml.MappingNode && i+1 < len(n.Content):
			if !t.gone[n.Content[i+1]] {
				kept = append(kept, n.Content[i], n.Content[i+1])
				t.prune(n.Content[i+1])
			}
			i++
		case !t.gone[n.Content[i]]:
			kept = append(kept, n.Content[i])
			t.prune(n.Content[i])
		}
	}
	n.Content = kept
}
