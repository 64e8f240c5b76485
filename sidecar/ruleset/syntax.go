package ruleset

import (
	"fmt"
	"regexp"
	"strconv"
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
		d.problems = append(d.problems, place.problem(codeYAML, "*"+n.Value+" repeats another part of the file",
			"rules are written out; a text that begins with * stands in quotes"))
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		place := place{d.from(n), n.Line, n.Column, n.Column + len([]rune(n.Tag))}
		d.problems = append(d.problems, place.problem(codeYAML, fmt.Sprintf("YAML takes the ! at the start of %s for a tag", key),
			"write not instead of !, or put the text into a block: "+key+": |"))
	default:
		return false
	}
	return true
}

// syntax is the problem with a file that is no YAML. yaml.v3's own line is
// often one short and absent on the first line, so the place is found anew.
func (s *source) syntax(doc string, err error) Problem {
	line := s.syntaxLine(doc, reportedLine(err))
	msg, hint := s.explain(line, err)
	return s.lineAt(line).problem(codeYAML, msg, hint)
}

var lineInError = regexp.MustCompile(`line (\d+)`)

// reportedLine is the line that yaml.v3 names, 1 where it names none.
func reportedLine(err error) int {
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return 1
}

// syntaxLine is the first line after which no longer beginning of the file
// parses. Beginnings that reach past the reported line cannot parse.
func (s *source) syntaxLine(doc string, reported int) int {
	const tries = 300
	lines := strings.SplitAfter(doc, "\n")
	last := min(len(lines), reported+2)
	head := strings.Join(lines[:last], "")
	for i := last; i > max(0, last-tries); i-- {
		head = strings.TrimSuffix(head, lines[i-1])
		if yaml.Unmarshal([]byte(head), new(yaml.Node)) == nil {
			return i
		}
	}
	return min(reported, len(s.lines))
}

var (
	keyOfLine = regexp.MustCompile(`^\s*(?:- +)?([A-Za-z_]\w*): *(.*)$`)
	ternary   = regexp.MustCompile(`\?.*: `)
)

// explain says in plain words what the line does to YAML. The traps are those
// that an expression, a question or a tab springs.
func (s *source) explain(line int, err error) (msg, hint string) {
	raw := s.line(line)
	indent := raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))]
	key, value := "", strings.TrimSpace(raw)
	if m := keyOfLine.FindStringSubmatch(raw); m != nil {
		key, value = m[1], strings.TrimSpace(m[2])
	}
	block := "put the text into a block: " + key + ": |"
	if key == "" {
		block = "put the text into quotes"
	}
	switch {
	case strings.Contains(indent, "\t"):
		return "YAML takes no tabs at the start of a line", "indent with spaces"
	case strings.HasPrefix(value, "!"):
		return "YAML takes the ! at the start for a tag", "write not instead of !, or " + block
	case strings.HasPrefix(value, "`") || strings.HasPrefix(value, "@") || strings.HasPrefix(value, "%"):
		return fmt.Sprintf("no YAML text begins with %c", value[0]), block
	case strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{"):
		return "YAML cannot read what stands in these brackets", "close every bracket and quote, and put texts with ? : , [ ] { } into quotes"
	case ternary.MatchString(value):
		return "YAML takes the colon for a key", block
	case quoteEndsEarly(value):
		return "YAML ends the text at its second quote", block
	case strings.Contains(value, ": "):
		return "YAML takes the second colon for a key", block
	}
	detail := lineInError.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
	return "not YAML: " + strings.TrimLeft(detail, ": "), "is the line indented like its neighbours, and every quote and bracket closed?"
}

// quoteEndsEarly reports whether a value begins with a quoted text and goes on.
func quoteEndsEarly(value string) bool {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return false
	}
	end := strings.IndexByte(value[1:], value[0])
	if end < 0 {
		return false
	}
	rest := strings.TrimSpace(value[end+2:])
	return rest != "" && rest[0] != '#' && rest[0] != ',' && rest[0] != value[0]
}
