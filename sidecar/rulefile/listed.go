package rulefile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// List adds a word to a list that stands below two keys of a rule file, and tells the line, from 1. A list
// that is not there is made, as the last one below the first key. The line is 0, and the text stays, where
// that cannot be said in this place.
func List(text, key, of, add string) (edited string, line int) {
	var file, now yaml.Node
	if yaml.Unmarshal([]byte(text), &file) != nil || len(file.Content) == 0 {
		return text, 0
	}
	l := lister{lines: strings.Split(text, "\n")}
	if list, all := lookUp(file.Content[0], key, of), lookUp(file.Content[0], key); list != nil {
		line = l.into(list, word(add), 1)
	} else if all != nil && all.Style&yaml.FlowStyle != 0 {
		line = l.into(all, word(of)+": ["+word(add)+"]", 2)
	} else if all != nil {
		line = l.below(file.Content[0], key, all, word(of)+": ["+word(add)+"]")
	}
	edited = strings.Join(l.lines, "\n")
	if line == 0 || yaml.Unmarshal([]byte(edited), &now) != nil || leaves(&now) != leaves(&file)+l.more {
		return text, 0
	}
	return edited, line
}

// lister writes into the lines of a file. More is how many words it has then.
type lister struct {
	lines []string
	more  int
}

// into says something in brackets, or as an item of its own. It gives the line from 1; 0: nowhere.
func (l *lister) into(n *yaml.Node, say string, more int) int {
	l.more = more
	w := walker{lines: l.lines, l: n.Line - 1, cur: []rune(l.lines[n.Line-1]), c: n.Column - 1}
	w.properties()
	switch open := w.peek(); {
	case open == '[' || open == '{' && len(n.Content) == 0:
		before, rest := string(w.cur[:w.c+1]), string(w.cur[w.c+1:])
		if trimmed := strings.TrimSpace(rest); len(n.Content) > 0 && (trimmed == "" || trimmed[0] == '#') {
			say += ","
		} else if len(n.Content) > 0 {
			say += ", "
		}
		l.lines[w.l] = before + say + rest
		return w.l + 1
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0:
		last := n.Content[len(n.Content)-1]
		dash := string([]rune(l.lines[last.Line-1])[:last.Column-1])
		if last.Kind != yaml.ScalarNode || strings.TrimSpace(dash) != "-" {
			return 0
		}
		l.lines = slices.Insert(l.lines, last.Line, dash+say)
		return last.Line + 1
	}
	return 0
}

// below says something in a line of its own, behind the others below a key and in front of the comments
// there.
func (l *lister) below(root *yaml.Node, key string, all *yaml.Node, say string) int {
	indent := "  "
	switch {
	case all.Kind == yaml.MappingNode:
		first := all.Content[0]
		indent, l.more = string([]rune(l.lines[first.Line-1])[:first.Column-1]), 2
	case all.ShortTag() == "!!null":
		l.more = 1 // in its place
	default:
		return 0
	}
	end := len(l.lines)
	for i := 0; i+2 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			end = root.Content[i+2].Line - 1
		}
	}
	for end > 0 && (isBlank(l.lines[end-1]) || strings.TrimSpace(l.lines[end-1])[0] == '#') {
		end--
	}
	l.lines = slices.Insert(l.lines, end, indent+say)
	return end + 1
}

// leaves is how many words a tree has.
func leaves(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode {
		return 1
	}
	sum := 0
	for _, c := range n.Content {
		sum += leaves(c)
	}
	return sum
}

var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// word is a text as YAML writes it in a list: plain, or in quotes.
func word(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
	default:
		if plainWord.MatchString(s) {
			return s
		}
	}
	return strconv.Quote(s)
}
