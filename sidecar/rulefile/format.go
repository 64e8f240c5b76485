package rulefile

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Format formats a rule file: no byte order mark, LF line ends, no trailing blanks, at most one empty line in
// a row, and each `when` that isCondition accepts in a block. Indentation, values and comments stay: each
// step is verified by parsing, and dropped if it changes anything. A file that is not YAML comes back
// unchanged, with the problem.
func Format(name, text string, isCondition func(string) bool) (string, *Problem) {
	src := newSource(name, text)
	if root, problems := document(src, text); root == nil {
		return text, &problems[0]
	}
	unsafe := src.whole(CodeYAML, "this file is written in a way that cannot be formatted safely",
		"it stays as it is")
	before := readScript(strings.ReplaceAll(strings.TrimPrefix(text, byteOrder), "\r\n", "\n"))
	var written yaml.Node
	if before == nil || yaml.Unmarshal([]byte(text), &written) != nil ||
		!sameTree(before.root, &written, "") {
		return text, &unsafe
	}
	now := before
	for _, step := range []func(*script) string{func(s *script) string { return s.blocks(isCondition) },
		(*script).tidy} {
		if next := readScript(step(now)); next != nil && next.sameContent(before) {
			now = next
		}
	}
	if now == before {
		return text, &unsafe
	}
	return now.text(), nil
}

// script is a YAML text as lines, with what formatting needs.
type script struct {
	lines       []string
	root        *yaml.Node
	ends        map[*yaml.Node]spot // of scalars
	scalarLines map[int]bool        // from 0; their end belongs to a scalar
}

// readScript parses a text; nil: it is not YAML, or a scalar cannot be located.
func readScript(text string) *script {
	s := &script{
		lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), root: &yaml.Node{},
		ends: map[*yaml.Node]spot{}, scalarLines: map[int]bool{},
	}
	if yaml.Unmarshal([]byte(text), s.root) != nil || !s.collect(s.root) {
		return nil
	}
	return s
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// collect locates all scalars below a node.
func (s *script) collect(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !s.collect(c) })
	}
	spots := locate(s.lines, n.Line, n.Column, n.Value)
	if spots == nil {
		return false
	}
	end := spots[len(spots)-1]
	from, to := n.Line-1, end.line-1
	if isBlock(n) {
		if len(spots) > 1 {
			end = spots[len(spots)-2] // the value ends with the break of this line
		}
		from, to = n.Line, end.line // it begins below its head
	}
	for line := from; line < to; line++ {
		s.scalarLines[line] = true
	}
	s.ends[n] = end
	return true
}

func isBlock(n *yaml.Node) bool { return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 }

// sameContent reports whether two scripts have the same values and number of comments.
func (s *script) sameContent(o *script) bool {
	return sameTree(s.root, o.root, "") && strings.Count(s.text(), "#") == strings.Count(o.text(), "#")
}

// sameTree compares values, ignoring blanks around a condition.
func sameTree(a, b *yaml.Node, key string) bool {
	x, y := a.Value, b.Value
	if key == conditionKey {
		x, y = strings.TrimSpace(x), strings.TrimSpace(y)
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Anchor != b.Anchor || x != y ||
		len(a.Content) != len(b.Content) {
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

// tidy removes trailing blanks, and all but one of consecutive empty lines.
func (s *script) tidy() string {
	var out []string
	for i, line := range s.lines {
		if !s.scalarLines[i] {
			line = strings.TrimRight(line, " \t")
			if line == "" && (len(out) == 0 || out[len(out)-1] == "" && !s.scalarLines[i-1]) {
				continue
			}
		}
		out = append(out, line)
	}
	for n := len(out); n > 0 && out[n-1] == "" && !s.scalarLines[len(s.lines)-1]; n-- {
		out = out[:n-1]
	}
	return strings.Join(out, "\n") + "\n"
}

// deletedLine stands for a deleted line; no YAML text holds a zero byte.
const deletedLine = "\x00"

// blocks writes each `when` as a | block if possible, in which no character has a meaning to YAML. It leaves
// out what YAML has cut at a #, which its author must correct.
func (s *script) blocks(isCondition func(string) bool) string {
	lines := slices.Clone(s.lines)
	eachCondition(s.root, func(key, value *yaml.Node) {
		if !becomesBlock(value) || !isCondition(value.Value) {
			return
		}
		end := s.ends[value]
		block := string([]rune(s.lines[key.Line-1])[:key.Column-1]) + key.Value + ": |"
		rest := string([]rune(s.lines[end.line-1])[end.col-1:])
		if at := strings.IndexByte(rest, '#'); at >= 0 { // a comment
			block += " " + rest[at:]
		}
		for line := range strings.SplitSeq(strings.TrimSpace(value.Value), "\n") {
			if line != "" {
				line = strings.Repeat(" ", key.Column+1) + line
			}
			block += "\n" + line
		}
		for l := key.Line - 1; l < end.line; l++ {
			lines[l] = deletedLine
		}
		lines[key.Line-1] = block
	})
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == deletedLine }),
		"\n") + "\n"
}

// eachCondition calls f for each `when` outside of brackets, in which blocks are impossible.
func eachCondition(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Style&yaml.FlowStyle != 0 {
		return
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == conditionKey {
			f(n.Content[i-1], c)
		}
		eachCondition(c, f)
	}
}

// becomesBlock reports whether a block can hold the text unchanged.
func becomesBlock(v *yaml.Node) bool {
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" || isBlock(v) || v.Style&yaml.TaggedStyle != 0 ||
		v.Anchor != "" || strings.TrimSpace(v.Value) == "" {
		return false
	}
	return !strings.ContainsFunc(v.Value, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}
