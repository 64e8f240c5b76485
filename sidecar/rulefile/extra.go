package rulefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// build returns the tree of a file with all its layers. What an extra file includes comes after the file,
// too.
func (t *Tree) build(files Files, name string) *yaml.Node {
	done := map[string]bool{}
	main := t.layer(files, name, false, done)
	if main.root == nil {
		return nil
	}
	root := t.mergeIncludes(main.root, main, files, []string{name}, done)
	for _, extra := range files.extras(name) {
		t.files = append(t.files, extra)
		if over := t.layer(files, extra, true, done); over.root != nil {
			root = t.mergeIncludes(root, over, files, []string{name, extra}, done)
			root = t.withContent(main.root, t.merge(root, over.root, false).Content)
		}
	}
	if arm := ArmFolder + "/" + name; files.Has(arm) {
		if over := t.layer(files, arm, true, done); over.root != nil {
			root = t.withContent(main.root, t.merge(root, over.root, false).Content)
		}
	}
	return root
}

// extras returns the names of the extra files of a file, sorted.
func (f Files) extras(name string) (out []string) {
	for extra := range f {
		if ExtraOf(extra) == name {
			out = append(out, extra)
		}
	}
	slices.Sort(out)
	return out
}

// ExtraOf returns the file that an extra file extends, exec.yaml for extra/exec.NAME.yaml, whether it exists
// or not; empty for other names.
func ExtraOf(name string) string {
	stem, ok := strings.CutPrefix(name, ExtraFolder+"/")
	if kind, more, _ := strings.Cut(stem, "."); ok && strings.Contains(more, ".") {
		return kind + ".yaml"
	}
	return ""
}

// reportConflict reports different values in two extra files, since neither has precedence.
func (t *Tree) reportConflict(base, over *yaml.Node) {
	was, now := t.places().at(base), t.places().at(over)
	if was.File() != now.File() && ExtraOf(was.File()) != "" && ExtraOf(now.File()) != "" &&
		!same(base, over) {
		t.report(now, CodeDup, "another file says something else here",
			"it is "+was.String()+"; leave one of the two out")
	}
}

func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}
