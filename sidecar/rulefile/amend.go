package rulefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Amend says in the text of a rule file what over says, wherever that file has another word or
// number in the same place. Rest is what remains of over; empty for nothing. What is longer
// than a word is left as it is, in both.
func Amend(text, over string) (amended, rest string, err error) {
	var file, said yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return "", "", err
	}
	if err := yaml.Unmarshal([]byte(over), &said); err != nil {
		return "", "", err
	}
	if len(file.Content) == 0 || len(said.Content) == 0 {
		return text, over, nil
	}
	a := amender{lines: strings.Split(text, "\n")}
	a.walk(file.Content[0], said.Content[0])
	if len(a.edits) == 0 {
		return text, over, nil
	}
	if n := said.Content[0]; len(n.Content) > 2 { // more than its version
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

// walk takes from over what it has said in the file.
func (a *amender) walk(file, over *yaml.Node) {
	switch {
	case file == nil || file.Kind != over.Kind:
	case over.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(over.Content); {
			name, value := over.Content[i].Value, over.Content[i+1]
			at := lookUp(file, name)
			if name == "version" || slices.Contains(naming(over), name) || !a.replaceScalar(at, value) {
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
			a.walk(file.Content[i], item)
			return len(item.Content) == 2*len(naming(item)) // its name alone
		})
	}
}

// replaceScalar says a value in place of what stands at a node, and whether nothing of it is left to say.
func (a *amender) replaceScalar(at, value *yaml.Node) bool {
	if at == nil {
		return false
	}
	if value.Kind != yaml.ScalarNode {
		a.walk(at, value)
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

// text is the text with all edits, the last of a line first: places are those before them.
func (a *amender) text() string {
	slices.SortFunc(a.edits, func(x, y wordEdit) int { return y.from - x.from })
	for _, e := range a.edits {
		replace(&a.lines[e.line], e.from, e.was, e.now)
	}
	return strings.Join(a.lines, "\n")
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
