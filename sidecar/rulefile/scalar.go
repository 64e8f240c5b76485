package rulefile

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// hasType reports whether n is a scalar of one of the types that YAML resolves.
func (d *decoder) hasType(n *yaml.Node, key, want string, tags ...string) bool {
	if n.Kind == yaml.ScalarNode && slices.Contains(tags, n.ShortTag()) {
		return !d.octal(n)
	}
	msg, hint := fmt.Sprintf("%s must be %s", key, want), ""
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		msg += ", not a text"
		hint = "write it without quotes"
	case n.Kind == yaml.ScalarNode:
		msg += ", not " + display(n)
	}
	d.report(n, CodeType, msg, hint)
	return false
}

// octal reports a number with a leading zero, which is octal only in YAML 1.1.
func (d *decoder) octal(n *yaml.Node) bool {
	digits := strings.TrimLeft(n.Value, "+-")
	if n.ShortTag() == "!!str" || len(digits) < 2 || digits[0] != '0' || digits[1] < '0' || digits[1] > '9' {
		return false
	}
	d.report(n, CodeYAML, n.Value+" is not the same number for all who read YAML", "leave the 0 at its start out")
	return true
}

// isText reports whether n is a string. 10 and true get a hint, since they look like texts to people.
func (d *decoder) isText(n *yaml.Node, tag reflect.StructTag, key string) bool {
	switch {
	case n.Kind == yaml.SequenceNode && tag.Get("is") == "NAMES":
		d.report(n, CodeType, key+" must be a text",
			"write them behind each other, with blanks between them: "+tag.Get("eg"))
	case n.Kind != yaml.ScalarNode:
		d.report(n, CodeType, key+" must be a text", "a text that begins with [ or { needs quotes")
	case n.ShortTag() != "!!str":
		d.report(n, CodeType, fmt.Sprintf("%s must be a text, not %s", key, display(n)), asText(n, tag))
	default:
		return true
	}
	return false
}

// asText is a hint how to write the intended text.
func asText(n *yaml.Node, tag reflect.StructTag) string {
	allowed := strings.Fields(tag.Get("one"))
	switch on := strings.EqualFold(n.Value, "true"); {
	case n.ShortTag() == "!!bool" && slices.Contains(allowed, "on") && slices.Contains(allowed, "off"):
		return "write " + map[bool]string{true: "on", false: "off"}[on]
	case len(allowed) > 0:
		return "it is one of " + strings.Join(allowed, ", ")
	case tag.Get("is") == "TIME":
		return "write it with its unit: " + n.Value + "s"
	}
	return fmt.Sprintf("write it in quotes: %q", n.Value)
}

func (d *decoder) oneOf(n *yaml.Node, tag reflect.StructTag, key string) {
	allowed := strings.Fields(tag.Get("one"))
	if len(allowed) == 0 || slices.Contains(allowed, n.Value) {
		return
	}
	hint := DidYouMean(n.Value, allowed)
	if len(allowed) == 1 {
		hint = "write " + allowed[0]
	}
	d.report(n, CodeValue, fmt.Sprintf("%s cannot be %s", key, display(n)), hint)
}

func (d *decoder) inRange(n *yaml.Node, tag reflect.StructTag, key string, x float64, err error) {
	least, most := parseBound(tag.Get("min"), math.Inf(-1)), parseBound(tag.Get("max"), math.Inf(1))
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		d.report(n, CodeValue, fmt.Sprintf("%s is not a number", display(n)), "")
	case x < least || x > most:
		d.report(n, CodeValue, fmt.Sprintf("%s cannot be %s", key, display(n)),
			rangeHint(tag.Get("min"), tag.Get("max")))
	}
}

func parseBound(s string, none float64) float64 {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x
	}
	return none
}

func rangeHint(least, most string) string {
	switch {
	case most == "":
		return "it is at least " + least
	case least == "":
		return "it is at most " + most
	}
	return "it lies between " + least + " and " + most
}

func parseSize(s string) (int, bool) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			s, shift = number, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n > 1<<31 {
		return 0, false
	}
	return int(n) << shift, int(n)<<shift <= 1<<40
}

// json returns a node as a JSON value: map[string]any, []any, string, int, uint64 (if too large for int),
// float64, bool or nil.
func (d *decoder) json(n *yaml.Node, depth int) any {
	return d.tree(n, depth, func(members []Member) any {
		out := map[string]any{}
		for _, m := range members {
			out[m.Key] = m.Value
		}
		return out
	})
}

// tree decodes any value; mapping converts mappings.
func (d *decoder) tree(n *yaml.Node, depth int, mapping func([]Member) any) any {
	if d.reportTrap(n, "the value", depth) {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		members := []Member{}
		d.mapping(n, "the value", func(k, v *yaml.Node) {
			members = append(members, Member{k.Value, d.tree(v, depth+1, mapping)})
		})
		return mapping(members)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = d.tree(c, depth+1, mapping)
		}
		return out
	}
	switch n.ShortTag() {
	case "!!int":
		if d.octal(n) {
			return nil
		}
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return int(i)
		}
		if u, err := strconv.ParseUint(n.Value, 0, 64); err == nil {
			return u
		}
	case "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!null":
		return nil
	}
	return n.Value
}

// JSON returns a short YAML text as a JSON value; nil if it is not YAML.
func JSON(doc string) any {
	d := decoder{src: newSource("", doc)}
	root, _ := document(d.src, doc)
	if root == nil {
		return nil
	}
	return d.json(root, 0)
}

// display returns a node for a message: short and on one line.
func display(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return "…"
	}
	s := []rune(strings.Join(strings.Fields(n.Value), " "))
	if len(s) > 40 {
		s = append(s[:39], '…')
	}
	if len(s) == 0 {
		return `""`
	}
	return string(s)
}

// reportTrap reports YAML that does not mean what people expect.
func (d *decoder) reportTrap(n *yaml.Node, key string, depth int) bool {
	switch {
	case depth > maxDepth:
		d.report(n, CodeYAML, "this is nested too deep", "")
	case n.Kind == yaml.AliasNode:
		place := Place{d.from(n), n.Line, n.Column, n.Column + 1 + len([]rune(n.Value))}
		d.problems = append(d.problems, aliasProblem(place, "*"+n.Value))
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		place := Place{d.from(n), n.Line, n.Column, n.Column + len([]rune(n.Tag))}
		d.problems = append(d.problems,
			place.Problem(CodeYAML, fmt.Sprintf("YAML takes the ! at the start of %s for a tag", key),
				exclamationHint(key)))
	default:
		return false
	}
	return true
}

// conditionKey is the key of conditions, whose characters YAML may interpret.
const conditionKey = "when"

// exclamationHint is a hint about a ! at the start of a text.
func exclamationHint(key string) string {
	if key == conditionKey {
		return "write not instead of !, or put the text into a block: " + key + ": |"
	}
	return "a text that begins with ! needs quotes"
}
