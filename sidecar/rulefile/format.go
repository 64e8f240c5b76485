package rulefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Format gives a rule file the usual shape: lines end with LF alone and without
// blanks, at most one line is empty in a row, each level is indented by two spaces,
// and every `when` that isCondition takes is a block. What the file says and its comments stay the same: it
// is read again, and a step that would change anything is not taken. A file that is
// no YAML comes back as it is, with the problem.
func Format(name, text string, isCondition func(string) bool) (string, *Problem) {
	src := newSource(name, text)
	if root, problems := document(src, text); root == nil {
		return text, &problems[0]
	}
	unsafe := src.whole(CodeYAML, "this file is written in a way that cannot be formatted safely", "it stays as it is")
	before := readScript(strings.ReplaceAll(text, "\r\n", "\n"))
	var written yaml.Node
	if before == nil || yaml.Unmarshal([]byte(text), &written) != nil || !sameTree(before.root, &written, "") {
		return text, &unsafe
	}
	now := before
	blocks := func(s *script) string { return s.blocks(isCondition) }
	for _, step := range []func(*script) string{blocks, (*script).indented, (*script).tidy} {
		if next := readScript(step(now)); next != nil && next.says(before) {
			now = next
		}
	}
	if now == before {
		return text, &unsafe
	}
	return now.text(), nil
}

// script is a YAML text as lines, with what a formatter must know of each.
type script struct {
	lines   []string
	root    *yaml.Node
	scalars []region
}

// region is where a scalar stands, from its first rune to the one after its last.
// Lines and columns count from 0. The text of a block begins on the next line.
type region struct {
	node      *yaml.Node
	line, col int
	last, end int
}

func (r *region) block() bool { return r.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 }

// readScript reads a text; nil where it is no YAML, or a scalar cannot be followed.
func readScript(text string) *script {
	s := &script{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), root: &yaml.Node{}}
	if yaml.Unmarshal([]byte(text), s.root) != nil {
		return nil
	}
	if !s.collect(s.root) {
		return nil
	}
	return s
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// collect gathers the regions of all scalars below a node.
func (s *script) collect(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		spots := locate(s.lines, n.Line, n.Column, n.Value)
		if spots == nil {
			return false
		}
		end := spots[len(spots)-1]
		if runes := len(spots) - 1; runes > 0 && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			end = spots[runes-1] // the value ends with the break of this line
		}
		s.scalars = append(s.scalars, region{n, n.Line - 1, n.Column - 1, end.line - 1, end.col - 1})
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !s.collect(c) })
}

// says reports whether two scripts have the same values and comments.
func (s *script) says(o *script) bool {
	return sameTree(s.root, o.root, "") && slices.Equal(s.comments(), o.comments())
}

// sameTree compares values. Blanks around a condition make no difference.
func sameTree(a, b *yaml.Node, key string) bool {
	x, y := a.Value, b.Value
	if key == conditionKey {
		x, y = strings.TrimSpace(x), strings.TrimSpace(y)
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Anchor != b.Anchor || x != y || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		key := ""
		if a.Kind == yaml.MappingNode && i%2 == 1 {
			key = a.Content[i-1].Value
		}
		if !sameTree(a.Content[i], b.Content[i], key) {
			return false
		}
	}
	return true
}

// comments are all comments, in their order.
func (s *script) comments() (out []string) {
	for i := range s.lines {
		if at := s.comment(i); at >= 0 {
			out = append(out, strings.TrimSpace(string([]rune(s.lines[i])[at:])))
		}
	}
	return out
}

// comment is the column where the comment of a line begins, or -1.
func (s *script) comment(line int) int {
	runes := []rune(s.lines[line])
	for col, r := range runes {
		if r == '#' && (col == 0 || runes[col-1] == ' ' || runes[col-1] == '\t') && !s.inside(line, col) {
			return col
		}
	}
	return -1
}

// inside reports whether a rune belongs to a scalar.
func (s *script) inside(line, col int) bool {
	return slices.ContainsFunc(s.scalars, func(r region) bool {
		from, fromCol := r.line, r.col
		if r.block() {
			from, fromCol = r.line+1, 0
		}
		return (line > from || line == from && col >= fromCol) && (line < r.last || line == r.last && (r.block() || col < r.end))
	})
}

// held reports whether the end of a line belongs to a scalar that goes on in the
// next line, or to a block.
func (s *script) held(line int) bool {
	return slices.ContainsFunc(s.scalars, func(r region) bool {
		return r.block() && line > r.line && line <= r.last || !r.block() && line >= r.line && line < r.last
	})
}

// tidy cuts trailing blanks, and leaves at most one empty line in a row.
func (s *script) tidy() string {
	var out []string
	for i, line := range s.lines {
		if !s.held(i) {
			line = strings.TrimRight(line, " \t")
			if line == "" && (len(out) == 0 || out[len(out)-1] == "" && !s.held(i-1)) {
				continue
			}
		}
		out = append(out, line)
	}
	for n := len(out); n > 0 && out[n-1] == "" && !s.held(len(s.lines)-1); n-- {
		out = out[:n-1]
	}
	return strings.Join(out, "\n") + "\n"
}
