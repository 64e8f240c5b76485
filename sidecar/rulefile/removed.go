package rulefile

import (
	"gopkg.in/yaml.v3"
)

// deleteKey removes an item of an included file: {id: markers, delete: true}.
const deleteKey = "delete"

// Taken is a key or an item that a file removes from one that it includes.
type Taken struct {
	What string `json:"what"` // the key, or the name of the item
	From string `json:"from"` // file:line
	By   string `json:"by"`   // file:line
}

func (t Taken) String() string { return t.By + " takes away " + t.What + " of " + t.From }

// Taken returns everything that was removed, in merge order.
func (t *Tree) Taken() []Taken { return t.taken }

// markRemoved records that by removes from. Both stay in the tree until it is complete, so that conflicts
// with other files are seen.
func (t *Tree) markRemoved(from, by *yaml.Node, what string) {
	t.taken = append(t.taken, Taken{what, t.places().head(from).String(), t.places().head(by).String()})
	t.removed[by] = true
}

// reportMissing reports a key without a value in one of two layers: an unfinished one would remove the other,
// and a null in the included layer has nothing to remove. Not even null removes the condition of a rule,
// which would then hold for everything.
func (t *Tree) reportMissing(key, was, now *yaml.Node, inItem bool) bool {
	report := func(n *yaml.Node, hint string) bool {
		t.report(t.places().at(n), CodeMissing, key.Value+" has no value", hint)
		return true
	}
	switch {
	case isNull(was) && !t.removed[was]:
		return report(was, t.hints[was])
	case isNull(now) && inItem && key.Value == conditionKey:
		return report(now, "write a condition, or take the whole rule away with delete: true; without one it holds for everything")
	case isNull(now) && now.Value == "":
		return report(now, "leave the key out, or write null to take away what "+t.places().at(key).String()+
			" says")
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// hintNulls records a hint for each key without a value that has nothing to remove.
func (t *Tree) hintNulls(base, over *yaml.Node) {
	var names []string
	for k := range pairs(base) {
		names = append(names, k.Value)
	}
	for k, v := range pairs(over) {
		if key := k.Value; isNull(v) && lookUp(base, key) == nil {
			t.hint(v, "nothing that is included has the key "+key+", so there is nothing to take away", key, names)
		}
	}
}

// hint records a hint about a node, with the name that may be meant.
func (t *Tree) hint(n *yaml.Node, hint, name string, names []string) {
	if near, ok := Nearest(name, names); ok {
		hint += "; did you mean " + near + "?"
	}
	t.hints[n] = hint
}

// mergeItem merges an item with one of the same name: it is changed, removed, or replaced after a removal.
func (t *Tree) mergeItem(base, over *yaml.Node, name string) *yaml.Node {
	switch {
	case t.removed[base]:
		t.reportConflict(base, over)
		if isDeletion(over) {
			t.removed[over] = true
		}
		return over
	case isDeletion(over):
		t.reportConflict(base, over)
		t.markRemoved(base, over, name)
		return over
	}
	return t.merge(base, over, true)
}

// isDeletion reports whether an item has only its name and delete: true. The decoder reports anything else
// beside delete.
func isDeletion(item *yaml.Node) bool {
	says := lookUp(item, deleteKey)
	return says != nil && says.ShortTag() == "!!bool" && says.Value == "true" &&
		len(item.Content) == 2*len(nameKeys(item))+2
}

// prune removes deleted nodes from the tree.
func (t *Tree) prune(n *yaml.Node) {
	if len(t.removed) == 0 || n == nil {
		return
	}
	var kept []*yaml.Node
	for i := 0; i < len(n.Content); i++ {
		switch {
		case n.Kind == yaml.MappingNode && i+1 < len(n.Content):
			if !t.removed[n.Content[i+1]] {
				kept = append(kept, n.Content[i], n.Content[i+1])
				t.prune(n.Content[i+1])
			}
			i++
		case !t.removed[n.Content[i]]:
			kept = append(kept, n.Content[i])
			t.prune(n.Content[i])
		}
	}
	n.Content = kept
}
