package rulefile

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Format gives a rule file the usual shape: no byte order mark, lines end with LF alone and
// without blanks, at most one line is empty in a row, and every `when` that isCondition takes
// is a block. Indents stay as they are, and so does what the file says, with its
// comments: it is read again, and a step that would change anything is not taken. A
// file that is no YAML comes back as it is, with the problem.
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
	lines []string
	root  *yaml.Node
	ends  map[*yaml.Node]spot // of scalars
	held  map[int]bool        // lines, from 0, whose end belongs to a scalar
}

// readScript reads a text; nil where it is no YAML, or a scalar cannot be followed.
func readScript(text string) *script {
	s := &script{
		lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), root: &yaml.Node{},
		ends: map[*yaml.Node]spot{}, held: map[int]bool{},
	}
	if yaml.Unmarshal([]byte(text), s.root) != nil || !s.collect(s.root) {
		return nil
	}
	return s
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// collect follows all scalars below a node.
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
		s.held[line] = true
	}
	s.ends[n] = end
	return true
}

func isBlock(n *yaml.Node) bool { return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 }

// says reports whether two scripts have the same values and as many comments.
func (s *script) says(o *script) bool {
	return sameTree(s.root, o.root, "") && strings.Count(s.text(), "#") == strings.Count(o.text(), "#")
}

// sameTree compares values. Blanks around a condition make no difference.
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

// tidy cuts trailing blanks, and leaves at most one empty line in a row.
func (s *script) tidy() string {
	var out []string
	for i, line := range s.lines {
		if !s.held[i] {
			line = strings.TrimRight(line, " \t")
			if line == "" && (len(out) == 0 || out[len(out)-1] == "" && !s.held[i-1]) {
				continue
			}
		}
		out = append(out, line)
	}
	for n := len(out); n > 0 && out[n-1] == "" && !s.held[len(s.lines)-1]; n-- {
		out = out[:n-1]
	}
	return strings.Join(out, "\n") + "\n"
}

// gone stands for a line that is left out; no YAML text holds a zero byte.
const gone = "\x00"

// blocks writes every `when` that can be one as a | block: nothing in it means
// anything to YAML any more. What is no condition, since YAML has cut it at a #, is left
// for its writer to mend.
func (s *script) blocks(isCondition func(string) bool) string {
	lines := slices.Clone(s.lines)
	eachWhen(s.root, func(key, value *yaml.Node) {
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
			lines[l] = gone
		}
		lines[key.Line-1] = block
	})
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == gone }), "\n") + "\n"
}

// eachWhen calls f for every `when` outside of brackets, in which there are no blocks.
func eachWhen(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Style&yaml.FlowStyle != 0 {
		return
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == conditionKey {
			f(n.Content[i-1], c)
		}
		eachWhen(c, f)
	}
}

// becomesBlock reports whether a text can be written as a block and still say the same.
func becomesBlock(v *yaml.Node) bool {
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" || isBlock(v) || v.Style&yaml.TaggedStyle != 0 ||
		v.Anchor != "" || strings.TrimSpace(v.Value) == "" {
		return false
	}
	return !strings.ContainsFunc(v.Value, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}
