package rulefile

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// blocks writes every `when` that can be one as a | block: nothing in it means
// anything to YAML any more. What is no condition, since YAML has cut it at a #, is left
// for its writer to mend.
func (s *script) blocks(isCondition func(string) bool) string {
	lines := slices.Clone(s.lines)
	s.eachWhen(s.root, func(key, value *yaml.Node) {
		if !isCondition(value.Value) {
			return
		}
		i := slices.IndexFunc(s.scalars, func(r region) bool { return r.node == value })
		r := s.scalars[i]
		head := []rune(s.lines[key.Line-1])[:key.Column-1]
		block := string(head) + key.Value + ": |"
		if at := s.comment(r.last); at >= 0 {
			block += " " + string([]rune(s.lines[r.last])[at:])
		}
		for line := range strings.SplitSeq(strings.TrimSpace(value.Value), "\n") {
			if line != "" {
				line = strings.Repeat(" ", key.Column+1) + line
			}
			block += "\n" + line
		}
		for l := key.Line - 1; l <= r.last; l++ {
			lines[l] = gone
		}
		lines[key.Line-1] = block
	})
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == gone }), "\n") + "\n"
}

// gone stands for a line that is left out; no YAML text holds a zero byte.
const gone = "\x00"

// eachWhen calls f for every `when` that is to become a block.
func (s *script) eachWhen(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Style&yaml.FlowStyle != 0 {
		return // there is no block inside brackets
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k, v := n.Content[i], n.Content[i+1]; k.Value == conditionKey && s.becomesBlock(v) {
				f(k, v)
			}
		}
	}
	for _, c := range n.Content {
		s.eachWhen(c, f)
	}
}

// becomesBlock reports whether a text can be written as a block and still say the same.
func (s *script) becomesBlock(v *yaml.Node) bool {
	const no = yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" || v.Style&no != 0 || v.Anchor != "" || strings.TrimSpace(v.Value) == "" {
		return false
	}
	return !strings.ContainsFunc(v.Value, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}
