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

// tagged reports whether n is a scalar of one of the types, as YAML resolves it.
func (d *decoder) tagged(n *yaml.Node, key, want string, tags ...string) bool {
	if n.Kind == yaml.ScalarNode && slices.Contains(tags, n.ShortTag()) {
		return !d.octal(n)
	}
	msg, hint := fmt.Sprintf("%s must be %s", key, want), ""
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		msg += ", not a text"
		hint = "write it without quotes"
	case n.Kind == yaml.ScalarNode:
		msg += ", not " + shown(n)
	}
	d.report(n, CodeType, msg, hint)
	return false
}

// octal reports a number that begins with a zero, which makes octal digits of its digits in YAML 1.1 alone.
func (d *decoder) octal(n *yaml.Node) bool {
	digits := strings.TrimLeft(n.Value, "+-")
	if n.ShortTag() == "!!str" || len(digits) < 2 || digits[0] != '0' || digits[1] < '0' || digits[1] > '9' {
		return false
	}
	d.report(n, CodeYAML, n.Value+" is not the same number for all who read YAML", "leave the 0 at its start out")
	return true
}

// isText reports whether n is a string. What YAML takes for something else gets
// a hint, since 10 and true look like texts to people.
func (d *decoder) isText(n *yaml.Node, tag reflect.StructTag, key string) bool {
	switch {
	case n.Kind == yaml.SequenceNode && tag.Get("is") == "NAMES":
		d.report(n, CodeType, key+" must be a text",
			"write them behind each other, with blanks between them: "+tag.Get("eg"))
	case n.Kind != yaml.ScalarNode:
		d.report(n, CodeType, key+" must be a text", "a text that begins with [ or { needs quotes")
	case n.ShortTag() != "!!str":
		d.report(n, CodeType, fmt.Sprintf("%s must be a text, not %s", key, shown(n)), asText(n, tag))
	default:
		return true
	}
	return false
}

// asText is a hint how to write the text that is meant.
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
	d.report(n, CodeValue, fmt.Sprintf("%s cannot be %s", key, shown(n)), hint)
}

func (d *decoder) inRange(n *yaml.Node, tag reflect.StructTag, key string, x float64, err error) {
	least, most := bound(tag.Get("min"), math.Inf(-1)), bound(tag.Get("max"), math.Inf(1))
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		d.report(n, CodeValue, fmt.Sprintf("%s is not a number", shown(n)), "")
	case x < least || x > most:
		d.report(n, CodeValue, fmt.Sprintf("%s cannot be %s", key, shown(n)),
			within(tag.Get("min"), tag.Get("max")))
	}
}

func bound(s string, none float64) float64 {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x
	}
	return none
}

func within(least, most string) string {
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

// json is a node as a JSON value: map[string]any, []any, string, int, uint64 (what
// is too large for int), float64, bool or nil.
func (d *decoder) json(n *yaml.Node, depth int) any {
	return d.tree(n, depth, func(members []Member) any {
		out := map[string]any{}
		for _, m := range members {
			out[m.Key] = m.Value
		}
		return out
	})
}

// tree reads any value. A mapping becomes what it is made into.
func (d *decoder) tree(n *yaml.Node, depth int, mapping func([]Member) any) any {
	if d.trap(n, "the value", depth) {
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

// JSON is a short YAML text as a JSON value; nil where it is none.
func JSON(doc string) any {
	d := decoder{src: newSource("", doc)}
	root, _ := document(d.src, doc)
	if root == nil {
		return nil
	}
	return d.json(root, 0)
}

// shown is a node as people call it in a message: short and on one line.
func shown(n *yaml.Node) string {
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
