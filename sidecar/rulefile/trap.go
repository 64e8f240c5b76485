package rulefile

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// trap reports what is YAML but not what people mean by it.
func (d *decoder) trap(n *yaml.Node, key string, depth int) bool {
	switch {
	case depth > maxDepth:
		d.report(n, CodeYAML, "this is nested too deep", "")
	case n.Kind == yaml.AliasNode:
		place := Place{d.from(n), n.Line, n.Column, n.Column + 1 + len([]rune(n.Value))}
		d.problems = append(d.problems, repeats(place, "*"+n.Value))
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		place := Place{d.from(n), n.Line, n.Column, n.Column + len([]rune(n.Tag))}
		d.problems = append(d.problems,
			place.Problem(CodeYAML, fmt.Sprintf("YAML takes the ! at the start of %s for a tag", key),
				notInstead(key)))
	default:
		return false
	}
	return true
}

// conditionKey is the key under which people write expressions, whose signs YAML takes
// for its own.
const conditionKey = "when"

// notInstead is what to do about a ! at the start of a text.
func notInstead(key string) string {
	if key == conditionKey {
		return "write not instead of !, or put the text into a block: " + key + ": |"
	}
	return "a text that begins with ! needs quotes"
}
