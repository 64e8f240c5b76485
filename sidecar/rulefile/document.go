package rulefile

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

const maxFile = 1 << 20

// document parses the one document of a file, and reports duplicate keys; nil: none.
func document(src *source, doc string) (*yaml.Node, Problems) {
	if p, ok := src.checkText(doc); !ok {
		return nil, Problems{p}
	}
	dec := yaml.NewDecoder(strings.NewReader(doc))
	var root, second yaml.Node
	err := dec.Decode(&root)
	if errors.Is(err, io.EOF) || err == nil && (len(root.Content) == 0 ||
		root.Content[0].ShortTag() == "!!null") {
		return nil, Problems{src.whole(CodeFile, "this file is empty",
			"an empty file never takes effect")}
	}
	if err != nil {
		return nil, Problems{src.syntax(doc, err)}
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, Problems{src.lineAt(second.Line).Problem(CodeYAML, "a second document begins with ---",
			"a rule file holds one document")}
	case !errors.Is(err, io.EOF):
		return nil, Problems{src.syntax(doc, err)}
	}
	d := decoder{src: src}
	d.distinctKeys(root.Content[0])
	return root.Content[0], d.problems
}

// distinctKeys reports and removes duplicate keys, which the merge of layers would lose.
func (d *decoder) distinctKeys(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		first, kept := map[string]int{}, n.Content[:0]
		for k, v := range pairs(n) {
			if line, twice := first[k.Value]; twice {
				todo := "put both parts together there"
				if v.Kind == yaml.ScalarNode {
					todo = "leave one of them out"
				}
				d.report(k, CodeDup, fmt.Sprintf("%s stands here twice", display(k)),
					fmt.Sprintf("it stands in line %d, too; %s", line, todo))
				continue
			}
			if k.Kind == yaml.ScalarNode {
				first[k.Value] = k.Line
			}
			kept = append(kept, k, v)
		}
		n.Content = kept
	}
	for _, c := range n.Content {
		d.distinctKeys(c)
	}
}

// otherBreaks end a line for YAML, but in few editors.
const otherBreaks = "\r\u0085\u2028\u2029"

// checkText reports what no text file holds; ok is false if it finds any.
func (s *source) checkText(doc string) (Problem, bool) {
	if len(doc) > maxFile {
		return s.whole(CodeFile, "this file is longer than 1 MiB",
			"no rule file that people write is as long"), false
	}
	for i, l := range s.lines {
		col := -1
		for _, r := range l {
			col++
			if r == 0 || r == utf8.RuneError && !utf8.ValidString(l) {
				return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, "this is not text in UTF-8",
					"save the file as UTF-8"), false
			}
			what := ""
			switch {
			case strings.ContainsRune(otherBreaks, r):
				what = "editors do not show this line break"
			case unicode.IsControl(r) && r != '\t':
				what = "this is a control character"
			default:
				continue
			}
			return Place{s, i + 1, col + 1, col + 2}.Problem(CodeFile, what,
				"delete it, or write it as "+strings.Trim(strconv.QuoteRuneToASCII(r), "'")+
					" in double quotes"), false
		}
	}
	return Problem{}, true
}
