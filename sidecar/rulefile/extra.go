package rulefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// plant gives the tree of a file with all its layers. What an extra file includes stands
// behind the file, too.
func (t *Tree) plant(files Files, name string) *yaml.Node {
	done := map[string]bool{}
	main := t.layer(files, name, false, done)
	if main.root == nil {
		return nil
	}
	root := t.over(main.root, main, files, []string{name}, done)
	for _, extra := range files.extras(name) {
		t.files = append(t.files, extra)
		if over := t.layer(files, extra, true, done); over.root != nil {
			root = t.over(root, over, files, []string{name, extra}, done)
			root = t.with(main.root, t.merge(root, over.root, false).Content)
		}
	}
	if arm := ArmFolder + "/" + name; files.Has(arm) {
		if over := t.layer(files, arm, true, done); over.root != nil {
			root = t.with(main.root, t.merge(root, over.root, false).Content)
		}
	}
	return root
}

// extras are the names of the files that say more of what a file says, sorted.
func (f Files) extras(name string) (out []string) {
	for extra := range f {
		if ExtraOf(extra) == name {
			out = append(out, extra)
		}
	}
	slices.Sort(out)
	return out
}

// ExtraOf is the file that an extra file says more of, exec.yaml for extra/exec.NAME.yaml,
// whether there is one or not; empty for all other names.
func ExtraOf(name string) string {
	stem, ok := strings.CutPrefix(name, ExtraFolder+"/")
	if kind, more, _ := strings.Cut(stem, "."); ok && strings.Contains(more, ".") {
		return kind + ".yaml"
	}
	return ""
}

// clash is an error where two extra files say different things: neither stands in front.
func (t *Tree) clash(base, over *yaml.Node) {
	was, now := t.places().at(base), t.places().at(over)
	if was.File() != now.File() && ExtraOf(was.File()) != "" && ExtraOf(now.File()) != "" &&
		!same(base, over) {
		t.report(now, CodeDup, "another file says something else here",
			"it is "+was.String()+"; leave one of the two out")
	}
}

// same reports whether two nodes say the same.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}
