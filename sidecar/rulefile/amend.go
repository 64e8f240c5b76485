package rulefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Amend replaces words and numbers in the text of a rule file by those that over has in the same place. rest
// is what remains of over; empty: nothing. Longer values stay, in both.
func Amend(text, over string) (amended, rest string, err error) {
	var file, change yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return "", "", err
	}
	if err := yaml.Unmarshal([]byte(over), &change); err != nil {
		return "", "", err
	}
	if len(file.Content) == 0 || len(change.Content) == 0 {
		return text, over, nil
	}
	a := amender{lines: strings.Split(text, "\n")}
	a.apply(file.Content[0], change.Content[0])
	if len(a.edits) == 0 {
		return text, over, nil
	}
	if n := change.Content[0]; len(n.Content) > 2 { // more than its version
		doc, err := blocks(n)
		return a.text(), doc, err
	}
	return a.text(), "", nil
}

type amender struct {
	lines []string
	edits []wordEdit
}

type wordEdit struct {
	line, from int
	was, now   string
}

// apply moves values from over into the file.
func (a *amender) apply(file, over *yaml.Node) {
	switch {
	case file == nil || file.Kind != over.Kind:
	case over.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(over.Content); {
			name, value := over.Content[i].Value, over.Content[i+1]
			at := lookUp(file, name)
			if name == "version" || slices.Contains(nameKeys(over), name) || !a.replaceScalar(at, value) {
				i += 2
				continue
			}
			over.Content = slices.Delete(over.Content, i, i+2)
		}
	case over.Kind == yaml.SequenceNode:
		over.Content = slices.DeleteFunc(over.Content, func(item *yaml.Node) bool {
			name := nameOf(item)
			i := slices.IndexFunc(file.Content,
				func(at *yaml.Node) bool { return name != "" && nameOf(at) == name })
			if i < 0 {
				return false
			}
			a.apply(file.Content[i], item)
			return len(item.Content) == 2*len(nameKeys(item)) // its name alone
		})
	}
}

// replaceScalar replaces the value at a node, and reports whether nothing of the new value remains.
func (a *amender) replaceScalar(at, value *yaml.Node) bool {
	if at == nil {
		return false
	}
	if value.Kind != yaml.ScalarNode {
		a.apply(at, value)
		return len(value.Content) == 0
	}
	word, err := yaml.Marshal(value)
	now := strings.TrimSuffix(string(word), "\n")
	if err != nil || at.Kind != yaml.ScalarNode || at.Anchor != "" || strings.ContainsAny(now, "\n,[]{}") {
		return false
	}
	line := []rune(a.lines[at.Line-1])
	from := min(at.Column-1, len(line))
	for _, was := range []string{`"` + at.Value + `"`, "'" + at.Value + "'", at.Value} {
		if rest, is := strings.CutPrefix(string(line[from:]), was); is && was != "" &&
			(rest == "" || strings.ContainsRune(" ,}]\r", rune(rest[0]))) {
			a.edits = append(a.edits, wordEdit{at.Line - 1, from, was, now})
			return true
		}
	}
	return false
}

// text returns the text with all edits, the last in a line first, since their columns are those before the
// edits.
func (a *amender) text() string {
	slices.SortFunc(a.edits, func(x, y wordEdit) int { return y.from - x.from })
	for _, e := range a.edits {
		replace(&a.lines[e.line], e.from, e.was, e.now)
	}
	return strings.Join(a.lines, "\n")
}

// replace replaces text at a character of a line. It returns false if something else stands there: YAML knows
// line breaks that this package does not.
func replace(line *string, from int, old, text string) bool {
	all := []rune(*line)
	to := from + len([]rune(old))
	if to > len(all) || string(all[from:to]) != old {
		return false
	}
	*line = string(all[:from]) + text + string(all[to:])
	return true
}
