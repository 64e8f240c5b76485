package rulefile

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// IncludeKey is the key of the files that a rule file includes: their rules come after its own. Files of the
// folder extra come before it: extra/exec.NAME.yaml before exec.yaml. Layers are merged as YAML, before
// anything is decoded, so every kind of file has them:
//
//	mappings               key by key
//	lists of named items   item by item; new ones come first
//	other lists            joined, the part of the file in front comes first; but
//	                       inside a named item they replace
//	everything else        the value of the file in front
//	key: null              removes the key; {id: x, delete: true} removes that item.
//	                       A key without a value is a problem
//
// Only files that were read can be included, so no name leads out of the folder. Files of the locked folder
// include only files of the program.
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
		case !files.Has(entry.Value) && t.shape.Gone[entry.Value] != "":
			gone := at.Problem(CodeRef, entry.Value+" is a file of earlier versions", t.shape.Gone[entry.Value])
			gone.Warning = true
			t.problems = append(t.problems, gone)
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

// deleteKey removes an item of an included file: {id: markers, delete: true}.
const deleteKey = "delete"

// Taken is a key or an item that a file removes from one that it includes.
type Taken struct {
	What string `json:"what"` // the key, or the name of the item
	From string `json:"from"` // file:line
	By   string `json:"by"`   // file:line
}

func (t Taken) String() string { return t.By + " takes away " + t.What + " of " + t.From }

// Taken returns everything that was removed, in merge order.
func (t *Tree) Taken() []Taken { return t.taken }

// markRemoved records that by removes from. Both stay in the tree until it is complete, so that conflicts
// with other files are seen.
func (t *Tree) markRemoved(from, by *yaml.Node, what string) {
	t.taken = append(t.taken, Taken{what, t.places().head(from).String(), t.places().head(by).String()})
	t.removed[by] = true
}

// reportMissing reports a key without a value in one of two layers: an unfinished one would remove the other,
// and a null in the included layer has nothing to remove. Not even null removes the condition of a rule,
// which would then hold for everything.
func (t *Tree) reportMissing(key, was, now *yaml.Node, inItem bool) bool {
	report := func(n *yaml.Node, hint string) bool {
		t.report(t.places().at(n), CodeMissing, key.Value+" has no value", hint)
		return true
	}
	switch {
	case isNull(was) && !t.removed[was]:
		return report(was, t.hints[was])
	case isNull(now) && inItem && key.Value == conditionKey:
		return report(now, "write a condition, or take the whole rule away with delete: true; without one it holds for everything")
	case isNull(now) && now.Value == "":
		return report(now, "leave the key out, or write null to take away what "+t.places().at(key).String()+
			" says")
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// hintNulls records a hint for each key without a value that has nothing to remove.
func (t *Tree) hintNulls(base, over *yaml.Node) {
	var names []string
	for k := range pairs(base) {
		names = append(names, k.Value)
	}
	for k, v := range pairs(over) {
		if key := k.Value; isNull(v) && lookUp(base, key) == nil {
			t.hint(v, "nothing that is included has the key "+key+", so there is nothing to take away", key, names)
		}
	}
}

// hint records a hint about a node, with the name that may be meant.
func (t *Tree) hint(n *yaml.Node, hint, name string, names []string) {
	if near, ok := Nearest(name, names); ok {
		hint += "; did you mean " + near + "?"
	}
	t.hints[n] = hint
}

// mergeItem merges an item with one of the same name: it is changed, removed, or replaced after a removal.
func (t *Tree) mergeItem(base, over *yaml.Node, name string) *yaml.Node {
	switch {
	case t.removed[base]:
		t.reportConflict(base, over)
		if isDeletion(over) {
			t.removed[over] = true
		}
		return over
	case isDeletion(over):
		t.reportConflict(base, over)
		t.markRemoved(base, over, name)
		return over
	}
	return t.merge(base, over, true)
}

// isDeletion reports whether an item has only its name and delete: true. The decoder reports anything else
// beside delete.
func isDeletion(item *yaml.Node) bool {
	says := lookUp(item, deleteKey)
	return says != nil && says.ShortTag() == "!!bool" && says.Value == "true" &&
		len(item.Content) == 2*len(nameKeys(item))+2
}

// prune removes deleted nodes from the tree.
func (t *Tree) prune(n *yaml.Node) {
	if len(t.removed) == 0 || n == nil {
		return
	}
	var kept []*yaml.Node
	for i := 0; i < len(n.Content); i++ {
		switch {
		case n.Kind == yaml.MappingNode && i+1 < len(n.Content):
			if !t.removed[n.Content[i+1]] {
				kept = append(kept, n.Content[i], n.Content[i+1])
				t.prune(n.Content[i+1])
			}
			i++
		case !t.removed[n.Content[i]]:
			kept = append(kept, n.Content[i])
			t.prune(n.Content[i])
		}
	}
	n.Content = kept
}
