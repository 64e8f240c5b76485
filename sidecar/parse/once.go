package parse

import (
	"maps"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// once knows the calls that have left. A server that gives the very same call twice in one
// reply gets it done once: a message must not be sent twice.
type once struct {
	first *tools.Call // the only one so far, which most replies stay with: it needs no key
	keys  map[string]bool
}

// has reports whether the same call has left: the same tool, and arguments that differ in
// blanks and the order of keys at most.
func (o *once) has(c tools.Call) bool {
	if o.first != nil {
		return o.first.Name == c.Name && o.first.Key() == c.Key()
	}
	return o.keys != nil && o.keys[c.Key()]
}

// add notes a call as the model wrote it: the judge may change it afterwards.
func (o *once) add(c tools.Call) {
	if o.first == nil && o.keys == nil {
		o.first = &c
		return
	}
	if o.first != nil {
		o.keys = map[string]bool{o.first.Key(): true}
		o.first = nil
	}
	o.keys[c.Key()] = true
}

// changed forgets the calls that read: behind one that changes something they may find
// something else.
func (o *once) changed(c *tools.Catalog) {
	reads := func(name string) bool { return c.Class(name) == tools.Read }
	if o.first != nil && reads(o.first.Name) {
		o.first = nil
	}
	maps.DeleteFunc(o.keys, func(key string, _ bool) bool {
		name, _, _ := strings.Cut(key, "\x00")
		return reads(name)
	})
}
