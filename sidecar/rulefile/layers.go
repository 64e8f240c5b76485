package rulefile

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A rule file may include others: their rules stand behind its own. The files of the folder
// extra stand in front of it: extra/exec.NAME.yaml of exec.yaml. Layers are merged as YAML,
// before anything is decoded, so every kind of file has them:
//
//	mappings               key by key
//	lists of named items   item by item; new ones stand in front
//	other lists            joined, the part of the file in front comes first; but
//	                       inside an item with a name they replace
//	everything else        the value of the file in front
//	key: null              takes the key away; {id: x, delete: true} takes that item away.
//	                       A key without anything behind it is a problem
//
// Only files that were read can be included, so no name leads out of the folder. Those
// of the locked folder include files of the program alone.

const IncludeKey = "include"

// layer is one file, split into its own content and what it includes.
type layer struct {
	src      *source
	root     *yaml.Node // nil: not readable
	includes *yaml.Node // nil: none
}

// layer parses one file, and records that in done. Files other than the main one must have a version, since
// the merge would hide its absence.
func (t *Tree) layer(files Files, name string, more bool, done map[string]bool) layer {
	done[name] = true
	src := newSource(name, files[name])
	root, problems := document(src, files[name])
	t.problems = append(t.problems, problems...)
	if root == nil {
		return layer{}
	}
	d := decoder{src: src}
	isMapping := d.isMapping(root, "the file")
	d.distinctItems(root)
	t.problems = append(t.problems, d.problems...)
	if !isMapping {
		return layer{}
	}
	if more {
		t.setOrigin(root, src)
	}
	list := cutKey(root, IncludeKey)
	if list != nil || more {
		t.version(src, root)
	}
	return layer{src, root, list}
}

// mergeIncludes merges root over what a file includes. path are the files that led here; done are all merged
// files, since a file counts once.
func (t *Tree) mergeIncludes(root *yaml.Node, by layer, files Files, path []string,
	done map[string]bool) *yaml.Node {
	if by.includes == nil {
		return root
	}
	src, name := by.src, path[len(path)-1]
	for _, entry := range t.entries(src, by.includes) {
		at := Text{entry.Value, Place{src, entry.Line, entry.Column, entry.Column + 1}, ""}.All()
		switch {
		case slices.Contains(path, entry.Value):
			t.report(at, CodeRef, name+" includes itself", strings.Join(append(path, entry.Value), " → "))
		case t.locked && !strings.HasPrefix(entry.Value, BuiltinFolder+"/"):
			t.report(at, CodeRef, "a locked file cannot include "+entry.Value,
				"write builtin/NAME.yaml for a file of the program; all others are the operator's")
		case !includable(entry.Value):
			t.report(at, CodeRef, entry.Value+" cannot be included",
				"write packs/NAME.yaml for a file of this folder, or builtin/NAME.yaml for one of the program's own")
		case !files.Has(entry.Value):
			t.report(at, CodeRef, "there is no "+entry.Value, DidYouMean(entry.Value, t.shareable(files)))
		case !done[entry.Value]:
			t.files = append(t.files, entry.Value)
			if base := t.layer(files, entry.Value, true, done); base.root != nil {
				all := t.mergeIncludes(base.root, base, files, append(slices.Clone(path), entry.Value), done)
				root = t.merge(all, root, false)
			}
		}
	}
	return root
}

// includable reports whether a name is that of a pack or of a file of the program.
func includable(name string) bool {
	inside := strings.HasPrefix(name, PackFolder+"/") || strings.HasPrefix(name, BuiltinFolder+"/")
	return inside && path.Clean(name) == name && path.Ext(name) == ".yaml"
}

// shareable returns the files that others may include.
func (t *Tree) shareable(files Files) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if includable(name) {
			out = append(out, name)
		}
	}
	for _, name := range t.shape.Names {
		out = append(out, BuiltinFolder+"/"+name)
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// setOrigin records the file of all nodes in n.
func (t *Tree) setOrigin(n *yaml.Node, src *source) {
	t.origin[n] = src
	for _, c := range n.Content {
		t.setOrigin(c, src)
	}
}

// cutKey removes a key from a mapping and returns its value, or nil.
func cutKey(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			n.Content = slices.Delete(n.Content, i, i+2)
			return value
		}
	}
	return nil
}

// entries returns the names in an include list.
func (t *Tree) entries(src *source, list *yaml.Node) (out []*yaml.Node) {
	d := decoder{src: src}
	if list.Kind != yaml.SequenceNode {
		d.report(list, CodeType, "include must be a list of files", "write include: [packs/NAME.yaml]")
	} else {
		for _, n := range list.Content {
			if !d.reportTrap(n, IncludeKey, 0) && d.isText(n, "", "an entry of include") {
				out = append(out, n)
			}
		}
	}
	t.problems = append(t.problems, d.problems...)
	return out
}

// version checks that a file has a known version.
func (t *Tree) version(src *source, root *yaml.Node) {
	d := decoder{src: src}
	if v := lookUp(root, "version"); v != nil {
		d.oneOf(v, `one:"1"`, "version")
	} else {
		d.problems = Problems{d.head(root).Problem(CodeMissing, "the file lacks version", "")}
	}
	t.problems = append(t.problems, d.problems...)
}

// merge merges over on top of base. inItem means that both are in a named item.
func (t *Tree) merge(base, over *yaml.Node, inItem bool) *yaml.Node {
	switch {
	case base.Kind == yaml.MappingNode && over.Kind == yaml.MappingNode:
		return t.mergeKeys(base, over, inItem)
	case base.Kind == yaml.SequenceNode && over.Kind == yaml.SequenceNode && !inItem:
		if items(over) && (items(base) || len(base.Content) == 0) {
			return t.mergeItems(base, over)
		}
		return t.withContent(over, slices.Concat(over.Content, base.Content))
	}
	t.reportConflict(base, over)
	return over
}

// withContent returns a copy of a node with other content.
func (t *Tree) withContent(n *yaml.Node, content []*yaml.Node) *yaml.Node {
	out := *n
	out.Content = content
	t.origin[&out] = t.origin[n]
	return &out
}

func (t *Tree) mergeKeys(base, over *yaml.Node, inItem bool) *yaml.Node {
	content := slices.Clone(over.Content)
	at := map[string]int{}
	for i := 0; i+1 < len(content); i += 2 {
		at[content[i].Value] = i + 1
	}
	for name, was := range pairs(base) {
		key := name.Value
		if other, gives := t.replacement(key, at); inItem && gives {
			t.reportConflict(name, content[other-1])
			continue
		}
		j, both := at[key]
		switch {
		case !both:
			content = append(content, name, was)
			continue
		case t.reportMissing(name, was, content[j], inItem):
			if isNull(content[j]) {
				content[j] = was
			}
			continue
		case isNull(content[j]) && t.removed[was]:
			t.removed[content[j]] = true
		case isNull(content[j]):
			t.markRemoved(name, content[j], key)
		}
		content[j] = t.merge(was, content[j], inItem)
	}
	t.hintNulls(base, over)
	return t.withContent(over, content)
}

// replacement returns the index of the key that replaces another one, if any.
func (t *Tree) replacement(key string, at map[string]int) (other int, gives bool) {
	if _, both := at[key]; both {
		return 0, false
	}
	for _, row := range t.shape.OneOf {
		for _, e := range row {
			if other, gives = at[e]; gives && slices.Contains(row, key) {
				return other, true
			}
		}
	}
	return 0, false
}

// lookUp follows keys down from a mapping; nil: nothing there.
func lookUp(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		n, _ = entry(n, key)
	}
	return n
}

// pairs yields the keys of a mapping with their values.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
