package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Entered is a number of a list: that of the item that Of names.
type Entered struct {
	Of    string
	Value float64
}

// Numbers are the places of numbers in a rule file: in the list under List, an item has its
// name under Name and its number under Value.
type Numbers struct{ List, Name, Value string }

// Write puts numbers in the place of those that stand in doc; all its other bytes stay. An
// item that doc does not hold is added below the last one. The result is read again: where it
// does not say what it should, nothing is changed.
func (at Numbers) Write(file, doc string, numbers []Entered) (string, error) {
	src := newSource(file, doc)
	list, err := at.list(src, doc)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(doc, "\n")
	var missing strings.Builder
	for _, n := range numbers {
		item := at.item(list, n.Of)
		if item == nil {
			fmt.Fprintf(&missing, "%s- {%s: %s, %s: %g}\n", strings.Repeat(" ", list.Column-1), at.Name, n.Of,
				at.Value, n.Value)
			continue
		}
		old := lookUp(item, at.Value)
		if old == nil || old.Kind != yaml.ScalarNode || old.Style != 0 || old.Anchor != "" {
			p := src.lineAt(item.Line).Problem(CodeValue, "this item has no plain number "+at.Value,
				fmt.Sprintf("write %s: %g", at.Value, n.Value))
			return "", &p
		}
		if old.Line > len(lines) || !replace(&lines[old.Line-1], old.Column-1, old.Value,
			fmt.Sprintf("%g", n.Value)) {
			return "", at.unsafe(src)
		}
	}
	if missing.Len() > 0 {
		end := lastLine(list)
		lines[end-1] = strings.TrimSuffix(lines[end-1], "\n") + "\n" + missing.String()
	}
	out := strings.Join(lines, "")
	if !at.holds(file, out, numbers) {
		return "", at.unsafe(src)
	}
	return out, nil
}

func (at Numbers) unsafe(src *source) error {
	p := src.whole(CodeYAML, "this file is written in a way in which numbers cannot be changed safely",
		"write each item of "+at.List+" on a line of its own: - {"+at.Name+": …, "+at.Value+": …}")
	return &p
}

// replace puts text in the place of what stands in a line from a character on. It is false
// where something else stands there: YAML knows line breaks that are none to us.
func replace(line *string, from int, old, text string) bool {
	all := []rune(*line)
	to := from + len([]rune(old))
	if to > len(all) || string(all[from:to]) != old {
		return false
	}
	*line = string(all[:from]) + text + string(all[to:])
	return true
}

// list is the list in a document.
func (at Numbers) list(src *source, doc string) (*yaml.Node, error) {
	root, problems := document(src, doc)
	if root == nil {
		return nil, problems
	}
	list := lookUp(root, at.List)
	if list == nil || list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 ||
		len(list.Content) == 0 {
		p := src.whole(CodeYAML, "this file has no list "+at.List+" with a line for each item",
			"numbers are written into such a list")
		return nil, &p
	}
	return list, nil
}

// item is the item of the list with a name.
func (at Numbers) item(list *yaml.Node, name string) *yaml.Node {
	i := slices.IndexFunc(list.Content, func(item *yaml.Node) bool {
		n := lookUp(item, at.Name)
		return n != nil && n.Value == name
	})
	if i < 0 {
		return nil
	}
	return list.Content[i]
}

// holds says that a document has these numbers.
func (at Numbers) holds(file, doc string, numbers []Entered) bool {
	list, err := at.list(newSource(file, doc), doc)
	return err == nil && !slices.ContainsFunc(numbers, func(n Entered) bool {
		item := at.item(list, n.Of)
		if item == nil {
			return true
		}
		value := lookUp(item, at.Value)
		return value == nil || value.Value != fmt.Sprintf("%g", n.Value)
	})
}

// lastLine is the last line on which something of a node begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}
