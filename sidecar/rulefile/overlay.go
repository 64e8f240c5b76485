package rulefile

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"gopkg.in/yaml.v3"
)

// ArmFolder holds what an arm of an experiment changes; it is no folder on disk. arm/limits.yaml comes before
// limits.yaml and all its layers.
const ArmFolder = "arm"

// Overlay collects changes to a rule file, value by value.
type Overlay struct {
	tree *Tree
	doc  map[string]any
	set  map[string]bool // paths
}

// itemList is a list with some changed items.
type itemList struct{ List []map[string]any }

// MarshalJSON writes the list.
func (l *itemList) MarshalJSON() ([]byte, error) { return json.Marshal(l.List) }

// Over returns an empty overlay of the tree.
func (t *Tree) Over() *Overlay {
	return &Overlay{t, map[string]any{}, map[string]bool{}}
}

// Text returns the overlay as a rule file.
func (o *Overlay) Text() (string, error) {
	body := maps.Clone(o.doc)
	delete(body, "version")
	node, err := nodeOf(body)
	if err != nil {
		return "", err
	}
	doc, err := blocks(&node)
	return "version: 1\n" + doc, err
}

// Set sets the value at a path: size.reply, or strategies.react.priority. A step is a key, or the name of an
// item; the name of its list may be omitted. An error describes the mistake in the path.
func (o *Overlay) Set(path string, value any) error {
	steps, root := strings.Split(path, "."), o.tree.root
	if lookUp(root, steps[0]) == nil {
		list := listOf(root, steps[0])
		if list == "" {
			return fmt.Errorf("%s has no %s; %s", o.tree.source.name, steps[0],
				DidYouMean(steps[0], names(root)))
		}
		steps = append([]string{list}, steps...)
	}
	if o.set[path] {
		return fmt.Errorf("%s is set twice", path)
	}
	o.set[path] = true
	at := o.doc
	for i := 0; i < len(steps)-1; i++ {
		step, above := steps[i], strings.Join(steps[:i+1], ".")
		child := lookUp(root, step)
		switch {
		case child != nil && child.Kind == yaml.SequenceNode:
			if i+1 == len(steps)-1 {
				return fmt.Errorf("%s is a list: name an item of it, and a key of that", above)
			}
			by, item, n := itemAt(child, steps[i+1:len(steps)-1])
			if by != "tool" && item == nil {
				return fmt.Errorf("there is no %s in %s", steps[i+1], above)
			}
			at, root = itemIn(at, step, by, strings.Join(steps[i+1:i+1+n], ".")), item
			i += n
		case child != nil && child.Kind != yaml.MappingNode:
			return fmt.Errorf("%s has nothing below it", above)
		default:
			next, is := at[step].(map[string]any)
			if at[step] != nil && !is {
				return fmt.Errorf("%s is set twice", above)
			}
			if next == nil {
				next = map[string]any{}
				at[step] = next
			}
			at, root = next, child
		}
	}
	return setMember(at, steps[len(steps)-1], path, value)
}

// setMember sets a value, and keeps earlier values below it.
func setMember(at map[string]any, key, path string, value any) error {
	members, is := value.(map[string]any)
	before, was := at[key].(map[string]any)
	switch {
	case at[key] != nil && !(is && was):
		return fmt.Errorf("%s is set twice", path)
	case !is:
		at[key] = value
		return nil
	}
	members = maps.Clone(members) // it is the caller's
	for k, v := range before {
		if _, twice := members[k]; twice {
			return fmt.Errorf("%s.%s is set twice", path, k)
		}
		members[k] = v
	}
	at[key] = members
	return nil
}

// itemIn returns the item of a list in doc. A new item for a tool, in a list that has items for its modes,
// comes first and is complete.
func itemIn(doc map[string]any, list, by, name string) map[string]any {
	l, _ := doc[list].(*itemList)
	if l == nil {
		l = &itemList{}
		doc[list] = l
	}
	for _, entry := range l.List {
		if entry[by] == name {
			return entry
		}
	}
	entry := map[string]any{by: name}
	l.List = append(l.List, entry)
	return entry
}

// itemOf finds an item by its name, and the key that names it.
func itemOf(list *yaml.Node, name string) (by string, item *yaml.Node) {
	for _, item := range list.Content {
		if n := lookUp(item, nameKey(item)); n != nil && n.Value == name {
			return nameKey(item), item
		}
	}
	return "", nil
}

// itemAt finds the item that the first n steps name, since a name may have dots. Without such an item it
// returns the key that names items of the list.
func itemAt(list *yaml.Node, steps []string) (by string, item *yaml.Node, n int) {
	for n = len(steps); n > 0; n-- {
		if by, item = itemOf(list, strings.Join(steps[:n], ".")); item != nil {
			return by, item, n
		}
	}
	if len(list.Content) > 0 {
		by = nameKey(list.Content[0])
	}
	return by, nil, 1
}

// listOf returns the list of a file that has an item of this name; empty: none.
func listOf(root *yaml.Node, name string) (key string) {
	eachList(root, func(k string, list *yaml.Node) {
		if _, item := itemOf(list, name); item != nil && key == "" {
			key = k
		}
	})
	return key
}

// names returns the keys of a file, and the names of the items of its lists.
func names(root *yaml.Node) (out []string) {
	for k := range pairs(root) {
		out = append(out, k.Value)
	}
	eachList(root, func(_ string, list *yaml.Node) {
		for _, item := range list.Content {
			if n := lookUp(item, nameKey(item)); n != nil && n.Kind == yaml.ScalarNode {
				out = append(out, n.Value)
			}
		}
	})
	return out
}

func eachList(root *yaml.Node, do func(key string, list *yaml.Node)) {
	for k, list := range pairs(root) {
		if list.Kind == yaml.SequenceNode {
			do(k.Value, list)
		}
	}
}
