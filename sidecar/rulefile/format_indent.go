package rulefile

import (
	"strings"

	"gopkg.in/yaml.v3"
)

const indentStep = 2

// indenter finds out how far each line is to be moved.
type indenter struct {
	s    *script
	to   map[int]int   // line → the column of its first rune; others move as the line before
	gaps map[int][]gap // line → blanks behind a dash that become one
	safe bool
}

// gap is the columns from..to of a line.
type gap struct{ from, to int }

// indented gives each level of the tree two spaces. It leaves the text alone where
// that is not plain to do.
func (s *script) indented() string {
	in := indenter{s: s, to: map[int]int{}, gaps: map[int][]gap{}, safe: true}
	for _, n := range s.root.Content {
		in.node(n, 0)
	}
	if !in.safe {
		return s.text()
	}
	return strings.Join(in.lines(), "\n") + "\n"
}

// node moves a mapping or list of the block style to a column.
func (in *indenter) node(n *yaml.Node, col int) {
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Kind == yaml.AliasNode {
		in.safe = false
		return
	}
	if n.Style&yaml.FlowStyle != 0 {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			in.first(n.Content[i].Line-1, n.Content[i].Column-1, col)
			in.value(n.Content[i], n.Content[i+1], col)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			in.item(n, item, col)
		}
	case yaml.ScalarNode:
		in.scalar(n, col)
	}
}

// first moves the first rune of a line, if it stands at from.
func (in *indenter) first(line, from, to int) {
	if lead(in.s.lines[line]) == from {
		in.to[line] = to
	}
}

// value moves what stands behind a key.
func (in *indenter) value(k, v *yaml.Node, col int) {
	if k.Kind != yaml.ScalarNode || strings.HasPrefix(strings.TrimLeft(in.s.lines[k.Line-1], " -"), "? ") {
		in.safe = false
		return
	}
	if v.Line > k.Line {
		in.first(v.Line-1, v.Column-1, col+indentStep)
	}
	in.node(v, col+indentStep)
}

// item moves one entry of a list: its dash, and what stands behind it.
func (in *indenter) item(list, item *yaml.Node, col int) {
	dash, line := list.Column-1, item.Line-1
	for line > 0 && !in.hasDash(line, dash) {
		line--
	}
	if !in.hasDash(line, dash) {
		in.safe = false
		return
	}
	in.first(line, dash, col)
	switch {
	case item.ShortTag() == "!!null" && item.Value == "": // nothing stands behind the dash
	case line == item.Line-1:
		in.gaps[line] = append(in.gaps[line], gap{dash + 1, item.Column - 1})
	default:
		in.first(item.Line-1, item.Column-1, col+indentStep)
	}
	if item.Kind == yaml.ScalarNode {
		in.scalar(item, col+indentStep)
		return
	}
	in.node(item, col+indentStep)
}

// hasDash reports whether a list's dash stands at a column, with nothing but the
// dashes of lists around it in front.
func (in *indenter) hasDash(line, col int) bool {
	runes := []rune(in.s.lines[line])
	if col >= len(runes) || runes[col] != '-' || col+1 < len(runes) && runes[col+1] != ' ' {
		return false
	}
	return strings.Trim(string(runes[:col]), " -") == "" && !in.s.inside(line, col)
}

// scalar moves the text of a block. With a digit in its head, the text stands as far
// behind its parent as that says.
func (in *indenter) scalar(n *yaml.Node, col int) {
	r := &region{node: n}
	for i := range in.s.scalars {
		if in.s.scalars[i].node == n {
			r = &in.s.scalars[i]
		}
	}
	if !r.block() {
		return
	}
	head := string([]rune(in.s.lines[r.line])[r.col:])
	if strings.ContainsAny(strings.SplitN(head, "#", 2)[0], "123456789") {
		in.safe = false
		return
	}
	old := -1
	for line := r.line + 1; line <= r.last && old < 0; line++ {
		if strings.TrimSpace(in.s.lines[line]) != "" {
			old = lead(in.s.lines[line]) - lead(firstText(n.Value))
		}
	}
	for line := r.line + 1; line <= r.last; line++ {
		if from := lead(in.s.lines[line]); from > old || strings.TrimSpace(in.s.lines[line]) != "" {
			in.to[line] = from - old + col
		} else {
			in.to[line] = 0
		}
	}
}

// lines are the lines in their new places.
func (in *indenter) lines() []string {
	out := make([]string, len(in.s.lines))
	moved := 0
	for i, line := range in.s.lines {
		from := lead(line)
		to, placed := in.to[i]
		switch {
		case strings.TrimSpace(line) == "" && !in.s.held(i):
			continue
		case !placed && in.s.comment(i) == from:
			to = in.besides(i, from, moved)
		case !placed:
			to = max(0, from+moved)
		case !in.s.held(i) || in.s.comment(i) >= 0:
			moved = to - from
		}
		runes := []rune(line)
		for g := len(in.gaps[i]) - 1; g >= 0; g-- {
			runes = append(append(runes[:in.gaps[i][g].from:in.gaps[i][g].from], ' '), runes[in.gaps[i][g].to:]...)
		}
		out[i] = strings.Repeat(" ", to) + string(runes[from:])
	}
	return out
}

// besides is where a comment goes: beside the line below if it stood there, or
// else as far as the line above.
func (in *indenter) besides(line, col, moved int) int {
	for i := line + 1; i < len(in.s.lines); i++ {
		if text := in.s.lines[i]; strings.TrimSpace(text) != "" && in.s.comment(i) != lead(text) {
			if to, placed := in.to[i]; placed && lead(text) == col {
				return to
			}
			break
		}
	}
	return max(0, col+moved)
}
