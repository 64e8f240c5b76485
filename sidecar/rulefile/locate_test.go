package rulefile

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// scalars calls f for every scalar of a document.
func scalars(n *yaml.Node, f func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		f(n)
	}
	for _, c := range n.Content {
		scalars(c, f)
	}
}

// wrongSpot is the first rune of a scalar whose spot does not hold that rune, or
// what it was folded or escaped from; -1 where there is none.
func wrongSpot(lines []string, value []rune, spots []spot) int {
	for i, r := range value {
		raw, got := []rune(lines[spots[i].line-1]), '\n'
		if spots[i].col-1 < len(raw) {
			got = raw[spots[i].col-1]
		}
		if got != r && got != '\\' && r != ' ' && r != '\n' {
			return i
		}
	}
	return -1
}

// misplaced counts the runes of all scalars of a document, and reports those
// that are not found, or found in a wrong place.
func misplaced(t *testing.T, doc string) (runes int) {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(doc), &root); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	lines := newSource("", doc).lines
	scalars(&root, func(n *yaml.Node) {
		value := []rune(n.Value)
		runes += len(value)
		spots := locate(lines, n.Line, n.Column, n.Value)
		if len(spots) != len(value)+1 {
			t.Fatalf("%d places for %q of\n%s", len(spots), n.Value, doc)
		}
		if i := wrongSpot(lines, value, spots); i >= 0 {
			t.Fatalf("rune %d of %q is not at %v of\n%s", i, n.Value, spots[i], doc)
		}
	})
	return runes
}

func TestLocate(t *testing.T) {
	for _, doc := range []string{
		"when: tool == \"x\" && n > 1\n",
		"when: !!str tool == \"x\"\n",
		"a: &a tool == \"x\"\n",
		"when: 'tool == ''x'' and y'\n",
		"when: \"tool == \\\"x\\\" \\u00e9 \\t\\x41 and y\"\n",
		"rules:\n  - when: |\n      tool == \"x\"\n        && more\n\n      || less\n    then: x\n",
		"when: >-\n  tool == \"x\"\n  && more\n\n  || less\n\n\n  and so on\n    indented\n  back\n",
		"when: |2-  # comment\n    indented\n  x\n",
		"when:\n  tool == \"é\" &&\n  more   \n\n  less\n",
		"{when: 'é ü', then: \"日本 x\", c: d}\n",
		"when: \"a \\\n   b\n   c\n\n   d\"\n",
		"when: 'a\n   b\n\n\n   d'\n",
		"x:\twhen\n",
		"\ufeffwhen: tool == \"x\"\n",
		"when: |\r\n  tool == \"x\"\r\n  && y\r\n",
		"when: |+\n  a\n\n\n",
		"when: >\n\n\n  a\n  b\n",
		"- >\n  a\n  \n  b\n",
	} {
		if misplaced(t, doc) == 0 {
			t.Errorf("nothing was found in\n%s", doc)
		}
	}
}

func FuzzLocate(f *testing.F) {
	for _, doc := range []string{"when: >-\n  a\n  b\n", "when: \"a \\\n b\"\n", "- 'it''s'\n",
		"a: |2\n   x\n  y\n"} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		var root yaml.Node
		if yaml.Unmarshal([]byte(doc), &root) != nil {
			return
		}
		lines := newSource("", doc).lines
		scalars(&root, func(n *yaml.Node) {
			spots := locate(lines, n.Line, n.Column, n.Value)
			if spots == nil { // it checks itself, and says that it does not know
				return
			}
			if i := wrongSpot(lines, []rune(n.Value), spots); i >= 0 {
				t.Fatalf("rune %d of %q is not at %v of\n%s", i, n.Value, spots[i], doc)
			}
		})
	})
}

func TestSyntaxLine(t *testing.T) {
	for _, c := range []struct {
		doc  string
		want int
	}{
		{"x: 1\ny: 2\nwhen: \"exec\" == tool\nz: 3\n", 3},
		{"x: 1\ny: 2\nwhen: a ? b : c\nz: 3\n", 3},
		{"x: 1\ny: 2\nwhen: !done && c\nz: 3\n", 3},
		{"x: 1\ny: 2\n\twhen: c\nz: 3\n", 3},
		{"x: 1\ny:\n  - a\n - b\nz: 3\n", 4},
		{"x: 1\ny: 'abc\nz: 3\n", 2},
		{"x: 1\nwhen: |\n  a\n b\nz: 3\n", 4},
		{"when: a ? b : c\n", 1},
		{"a: 'one\n  two'\nb: [1,\n 2]\nc: [1\nd: 2\n", 5},
		{"a: 1\n%YAML 1.2\n", 2},
		// each beginning parsed once would take minutes
		{"a:\n" + strings.Repeat("  - b\n", 10_000) + "   bad: x\n", 10_002},
		{"a:\n" + strings.Repeat("  - [b,\n    c]\n", 1_000) + "   bad: x\n", 2_002},
	} {
		src := newSource("", c.doc)
		err := yaml.Unmarshal([]byte(c.doc), new(yaml.Node))
		if got := src.syntaxLine(c.doc); got != c.want {
			t.Errorf("%q: line %d, want %d (%v)", c.doc, got, c.want, err)
		}
	}
}
