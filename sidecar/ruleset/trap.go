package ruleset

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// trap reports what is YAML but not what people mean by it.
func (d *decoder) trap(n *yaml.Node, key string, depth int) bool {
	switch {
	case depth > maxDepth:
		d.report(n, codeYAML, "nested too deep", "")
	case n.Kind == yaml.AliasNode:
		place := place{d.from(n), n.Line, n.Column, n.Column + 1 + len([]rune(n.Value))}
		d.problems = append(d.problems, repeats(place, "*"+n.Value))
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		place := place{d.from(n), n.Line, n.Column, n.Column + len([]rune(n.Tag))}
		d.problems = append(d.problems, place.problem(codeYAML, fmt.Sprintf("YAML takes the ! at the start of %s for a tag", key),
			notInstead(key)))
	default:
		return false
	}
	return true
}

// notInstead is what to do about a ! at the start of a text.
func notInstead(key string) string {
	if key == "when" {
		return "write not instead of !, or put the text into a block: when: |"
	}
	return "a text that begins with ! stands in quotes"
}
