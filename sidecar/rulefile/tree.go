// Package rulefile reads YAML files that people write: folders of them, the layers of a file, values with
// their places, and problems that quote these places. It also formats files and watches folders. It is the
// only package that knows YAML and file system events. It does not know what a file means.
package rulefile

import (
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Shape is what layers need to know of rule files.
type Shape struct {
	Names []string          // of the program's own files, for hints
	OneOf [][]string        // rows of keys that exclude each other: one replaces another
	Gone  map[string]string // files of earlier versions that a file may include → what replaced them
}

// Tree is a rule file merged with its layers.
type Tree struct {
	shape    Shape
	source   *source // of the file itself
	root     *yaml.Node
	files    []string // merged files
	origin   map[*yaml.Node]*source
	hints    map[*yaml.Node]string // for items and keys that change nothing
	locked   bool                  // a file of the locked folder
	taken    []Taken
	removed  map[*yaml.Node]bool // nodes that remove something
	problems Problems
}

// ReadTree reads a file with what it includes and its extra files. The root is nil if there is none.
func ReadTree(files Files, name string, shape Shape) *Tree {
	t := &Tree{
		shape:  shape,
		source: newSource(name, files[name]),
		origin: map[*yaml.Node]*source{}, hints: map[*yaml.Node]string{}, removed: map[*yaml.Node]bool{},
		locked: strings.HasPrefix(name, PolicyFolder+"/"),
	}
	t.root = t.build(files, name)
	t.prune(t.root)
	return t
}

// Single reads a file without layers.
func Single(name, doc string) *Tree {
	t := &Tree{source: newSource(name, doc)}
	t.root, t.problems = document(t.source, doc)
	return t
}

// Decode decodes the tree into out, a pointer to a struct that may hold values. A partial tree needs only
// version.
func (t *Tree) Decode(out any, partial bool) Problems {
	d := decoder{src: t.source, origin: t.origin, hints: t.hints, partial: partial, problems: t.problems}
	if t.root != nil {
		d.value(t.root, reflect.ValueOf(out).Elem(), "", "the file", 0)
	}
	return d.problems
}

// Includes returns the names of the merged files.
func (t *Tree) Includes() []string { return t.files }

// Says reports whether a key is in the file or its layers.
func (t *Tree) Says(keys ...string) bool { return lookUp(t.root, keys...) != nil }

// At returns the place of a key, or the first line of the file if it is missing.
func (t *Tree) At(keys ...string) Place {
	if n := lookUp(t.root, keys...); n != nil {
		return t.places().at(n)
	}
	return t.source.lineAt(1)
}

// places returns a decoder that locates nodes of the tree.
func (t *Tree) places() *decoder { return &decoder{src: t.source, origin: t.origin} }

func (t *Tree) report(at Place, code, msg, hint string) {
	t.problems = append(t.problems, at.Problem(code, msg, hint))
}
