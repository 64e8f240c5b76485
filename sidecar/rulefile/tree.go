// Package rulefile reads files that people write in YAML: folders of them, the layers that
// one file is made of, values with the places where they stand, and problems that quote
// those places. It also formats files and watches folders. It is the only package that
// knows YAML and file system events. It never knows what a file says.
package rulefile

import (
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Shape is what layers are told of rule files, since they know none.
type Shape struct {
	Names []string   // of the files that the program ships, for hints
	OneOf [][]string // keys of which an item has one of a row: another one takes its place
}

// Tree is a rule file with all it includes, as one YAML tree.
type Tree struct {
	shape    Shape
	source   *source // of the file itself
	root     *yaml.Node
	files    []string // that were merged into it
	origin   map[*yaml.Node]*source
	strays   map[*yaml.Node]string // items that change nothing they include → a hint
	locked   bool                  // a file of the locked folder
	taken    []Taken
	gone     map[*yaml.Node]bool // nodes that take something away
	problems Problems
}

// Plant reads a file with what it includes and what extra files say. The root is nil where there is none.
func Plant(files Files, name string, shape Shape) *Tree {
	t := &Tree{
		shape:  shape,
		source: newSource(name, files[name]),
		origin: map[*yaml.Node]*source{}, strays: map[*yaml.Node]string{}, gone: map[*yaml.Node]bool{},
		locked: strings.HasPrefix(name, PolicyFolder+"/"),
	}
	t.root = t.plant(files, name)
	t.prune(t.root)
	return t
}

// Single reads a file that includes no others.
func Single(name, doc string) *Tree {
	t := &Tree{source: newSource(name, doc)}
	t.root, t.problems = document(t.source, doc)
	return t
}

// Decode reads the tree into what out, a pointer to a struct, holds already. A partial
// tree may leave out every key but version.
func (t *Tree) Decode(out any, partial bool) Problems {
	d := decoder{src: t.source, origin: t.origin, strays: t.strays, partial: partial, problems: t.problems}
	if t.root != nil {
		d.value(t.root, reflect.ValueOf(out).Elem(), "", "the file", 0)
	}
	return d.problems
}

// Includes are the names of the files that are merged into it.
func (t *Tree) Includes() []string { return t.files }

// Says reports whether a key is written down, in the file or in what it includes.
func (t *Tree) Says(keys ...string) bool { return lookUp(t.root, keys...) != nil }

// At is where a key stands; the first line of the file for one that is missing.
func (t *Tree) At(keys ...string) Place {
	if n := lookUp(t.root, keys...); n != nil {
		return t.places().at(n)
	}
	return t.source.lineAt(1)
}

// places finds where the nodes of the tree stand.
func (t *Tree) places() *decoder { return &decoder{src: t.source, origin: t.origin} }

func (t *Tree) report(at Place, code, msg, hint string) {
	t.problems = append(t.problems, at.Problem(code, msg, hint))
}
