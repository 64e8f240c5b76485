package rulefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Item writes a struct, by its json tags, as an item of a list below a key, indented by two spaces. A mapping
// in a list, and a list of texts, is on one line.
func Item(item any) (string, error) {
	node, err := nodeOf([]any{item})
	if err != nil {
		return "", err
	}
	restyle(node.Content[0].Content[0], 0)
	node.Content[0].Style = 0
	var doc bytes.Buffer
	enc := yaml.NewEncoder(&doc)
	enc.SetIndent(2)
	if err := enc.Encode(&node); err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(doc.String()) {
		if strings.TrimSpace(line) != "" {
			line = "  " + line
		}
		out.WriteString(line)
	}
	return out.String(), nil
}

// nodeOf converts a value to a node in the style of JSON.
func nodeOf(v any) (n yaml.Node, err error) {
	doc, err := json.Marshal(v)
	if err == nil {
		err = yaml.Unmarshal([]byte(escaped(string(doc))), &n)
	}
	return n, err
}

// escaped makes JSON valid YAML, which has other line breaks and forbids some characters.
func escaped(doc string) string {
	var b strings.Builder
	for _, r := range doc {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z_][\w./-]*( [\w./-]+)*$`)
	// no blank in front, nothing invisible
	blockText = regexp.MustCompile(`^[^\s\pC\pZ]([^\pC\pZ]| |\n)*\n([^\pC\pZ]| |\n)*$`)
)

// flow is the depth from which everything is on one line.
const flow = 3

// restyle gives a node of JSON the style in which people write rules.
func restyle(n *yaml.Node, depth int) {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	switch {
	case n.Kind == yaml.MappingNode && depth < flow-1:
		n.Style = 0
		depth++
	case n.Kind == yaml.SequenceNode && depth < flow && len(n.Content) > 0 &&
		n.Content[0].Kind == yaml.MappingNode:
		n.Style = 0
		depth = flow
	case n.Kind != yaml.ScalarNode:
		depth = flow
	case n.ShortTag() != "!!str":
	case plainText.MatchString(n.Value) && plain.ShortTag() == "!!str":
		n.Style = 0
	case depth < flow && blockText.MatchString(n.Value):
		n.Style = yaml.LiteralStyle
	}
	for _, c := range n.Content {
		restyle(c, depth)
	}
}

// blocks writes a node in block style. A text that begins with white space stays in quotes: yaml.v3 3.0.1
// writes a wrong indentation for it.
func blocks(n *yaml.Node) (string, error) {
	var restyle func(n *yaml.Node)
	restyle = func(n *yaml.Node) {
		n.Style = 0
		if n.ShortTag() == "!!str" && strings.TrimLeftFunc(n.Value, unicode.IsSpace) != n.Value {
			n.Style = yaml.DoubleQuotedStyle
		}
		for _, c := range n.Content {
			restyle(c)
		}
	}
	restyle(n)
	doc, err := yaml.Marshal(n)
	return string(doc), err
}

// RawJSON is a JSON value as it was read.
type RawJSON []byte

// MarshalJSON removes needless escapes, which YAML does not know.
func (j RawJSON) MarshalJSON() ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(j))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// namedBy are the keys that name an item of a list: those of the first row whose last key the item has.
var namedBy = [][]string{{"id"}, {"mode", "tool"}, {"tools", "names"}}

// NameKeys returns the keys that name an item, of those that it has; nil: it has no name.
func NameKeys(has func(key string) bool) []string {
	for _, keys := range namedBy {
		if has(keys[len(keys)-1]) {
			return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !has(key) })
		}
	}
	return nil
}

func nameKeys(item *yaml.Node) []string {
	return NameKeys(func(key string) bool { return lookUp(item, key) != nil })
}

// nameKey returns the last of them, which names the item in paths; empty: none.
func nameKey(item *yaml.Node) string {
	keys := nameKeys(item)
	if len(keys) == 0 {
		return ""
	}
	return keys[len(keys)-1]
}

// nameOf returns the name of an item; empty: none.
func nameOf(item *yaml.Node) string {
	var words []string
	for _, key := range nameKeys(item) {
		switch n := lookUp(item, key); n.Kind {
		case yaml.ScalarNode:
			words = append(words, n.Value)
		case yaml.SequenceNode:
			for _, c := range n.Content {
				words = append(words, c.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

// describe names an item in a message.
func describe(item *yaml.Node) string {
	what := "entry"
	if keys := nameKeys(item); len(keys) == 1 {
		what = keys[0]
	}
	return "the " + what + " " + nameOf(item)
}

// distinctItems reports items of a file with the same name, which the merge of layers would hide. Lists
// inside items have no named ones.
func (d *decoder) distinctItems(n *yaml.Node) {
	first := map[string]int{}
	for i, c := range n.Content {
		switch name, at := nameOf(c), lookUp(c, nameKey(c)); {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			d.distinctItems(c)
		case n.Kind != yaml.SequenceNode || name == "":
		case first[name] > 0:
			d.report(at, CodeDup, describe(c)+" stands here twice", fmt.Sprintf("it stands in line %d, too",
				first[name]))
		default:
			first[name] = at.Line
		}
	}
}

// mergeItems merges lists of named items. A changed item keeps its place.
func (t *Tree) mergeItems(base, over *yaml.Node) *yaml.Node {
	at, names := map[string]int{}, []string{}
	changed := slices.Clone(base.Content)
	for i, item := range changed {
		name := nameOf(item)
		at[name] = i
		names = append(names, name)
	}
	var added []*yaml.Node
	for _, item := range over.Content {
		name := nameOf(item)
		if i, both := at[name]; both {
			changed[i] = t.mergeItem(changed[i], item, name)
			continue
		}
		if isDeletion(item) {
			t.report(t.places().head(item), CodeRef, "there is no "+name+" to take away",
				DidYouMeanOr(name, names, "nothing that is included has this name"))
			continue
		}
		t.hint(item, "nothing that is included has "+describe(item), name, names)
		added = append(added, item)
	}
	return t.withContent(over, append(added, changed...))
}

// items reports whether all items of a list have names.
func items(list *yaml.Node) bool {
	return len(list.Content) > 0 && !slices.ContainsFunc(list.Content,
		func(n *yaml.Node) bool { return nameOf(n) == "" })
}

// Amend replaces words and numbers in the text of a rule file by those that over has in the same place. rest
// is what remains of over; empty: nothing. Longer values stay, in both.
func Amend(text, over string) (amended, rest string, err error) {
	var file, change yaml.Node
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return "", "", err
	}
	if err := yaml.Unmarshal([]byte(over), &change); err != nil {
		return "", "", err
	}
	if len(file.Content) == 0 || len(change.Content) == 0 {
		return text, over, nil
	}
	a := amender{lines: strings.Split(text, "\n")}
	a.apply(file.Content[0], change.Content[0])
	if len(a.edits) == 0 {
		return text, over, nil
	}
	if n := change.Content[0]; len(n.Content) > 2 { // more than its version
		doc, err := blocks(n)
		return a.text(), doc, err
	}
	return a.text(), "", nil
}

type amender struct {
	lines []string
	edits []wordEdit
}

type wordEdit struct {
	line, from int
	was, now   string
}

// apply moves values from over into the file.
func (a *amender) apply(file, over *yaml.Node) {
	switch {
	case file == nil || file.Kind != over.Kind:
	case over.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(over.Content); {
			name, value := over.Content[i].Value, over.Content[i+1]
			at := lookUp(file, name)
			if name == "version" || slices.Contains(nameKeys(over), name) || !a.replaceScalar(at, value) {
				i += 2
				continue
			}
			over.Content = slices.Delete(over.Content, i, i+2)
		}
	case over.Kind == yaml.SequenceNode:
		over.Content = slices.DeleteFunc(over.Content, func(item *yaml.Node) bool {
			name := nameOf(item)
			i := slices.IndexFunc(file.Content,
				func(at *yaml.Node) bool { return name != "" && nameOf(at) == name })
			if i < 0 {
				return false
			}
			a.apply(file.Content[i], item)
			return len(item.Content) == 2*len(nameKeys(item)) // its name alone
		})
	}
}

// replaceScalar replaces the value at a node, and reports whether nothing of the new value remains.
func (a *amender) replaceScalar(at, value *yaml.Node) bool {
	if at == nil {
		return false
	}
	if value.Kind != yaml.ScalarNode {
		a.apply(at, value)
		return len(value.Content) == 0
	}
	word, err := yaml.Marshal(value)
	now := strings.TrimSuffix(string(word), "\n")
	if err != nil || at.Kind != yaml.ScalarNode || at.Anchor != "" || strings.ContainsAny(now, "\n,[]{}") {
		return false
	}
	line := []rune(a.lines[at.Line-1])
	from := min(at.Column-1, len(line))
	for _, was := range []string{`"` + at.Value + `"`, "'" + at.Value + "'", at.Value} {
		if rest, is := strings.CutPrefix(string(line[from:]), was); is && was != "" &&
			(rest == "" || strings.ContainsRune(" ,}]\r", rune(rest[0]))) {
			a.edits = append(a.edits, wordEdit{at.Line - 1, from, was, now})
			return true
		}
	}
	return false
}

// text returns the text with all edits, the last in a line first, since their columns are those before the
// edits.
func (a *amender) text() string {
	slices.SortFunc(a.edits, func(x, y wordEdit) int { return y.from - x.from })
	for _, e := range a.edits {
		replace(&a.lines[e.line], e.from, e.was, e.now)
	}
	return strings.Join(a.lines, "\n")
}

// replace replaces text at a character of a line. It returns false if something else stands there: YAML knows
// line breaks that this package does not.
func replace(line *string, from int, old, text string) bool {
	all := []rune(*line)
	to := from + len([]rune(old))
	if to > len(all) || string(all[from:to]) != old {
		return false
	}
	*line = string(all[:from]) + text + string(all[to:])
	return true
}
