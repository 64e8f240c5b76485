package rulefile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

const maxFile = 1 << 20

// document parses the one document of a file; nil where there is none. No key stands in it twice.
func document(src *source, doc string) (*yaml.Node, Problems) {
	if p, ok := src.notText(doc); !ok {
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

// distinctKeys reports keys that stand twice in a mapping, and leaves the second out, which
// would be lost as layers are merged.
func (d *decoder) distinctKeys(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		first, kept := map[string]int{}, n.Content[:0]
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if line, twice := first[k.Value]; twice {
				todo := "put both parts together there"
				if v.Kind == yaml.ScalarNode {
					todo = "leave one of them out"
				}
				d.report(k, CodeDup, fmt.Sprintf("%s stands here twice", shown(k)),
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
