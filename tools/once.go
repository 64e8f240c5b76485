package tools

import (
	"maps"
	"strings"
)

// Once knows the calls of one reply that have left, so that the very same call is made once: a model that
// writes it twice means it once, and a message must not be sent twice.
type Once struct {
	first *Call // the only one so far, which most replies stay with: it needs no key
	keys  map[string]bool
}

// Has reports whether the same call has left: the same tool, and arguments that differ in
// blanks and the order of keys at most.
func (o *Once) Has(c Call) bool {
	if o.first != nil {
		return o.first.Name == c.Name && o.first.Key() == c.Key()
	}
	return o.keys != nil && o.keys[c.Key()]
}

// Add notes a call as the model wrote it: the judge may change it afterwards.
func (o *Once) Add(c Call) {
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

// Changed forgets the calls that read, where call changes something: behind it they may find
// something else.
func (o *Once) Changed(c *Catalog, call Call) {
	if c.Class(call.Name) == Read {
		return
	}
	reads := func(name string) bool { return c.Class(name) == Read }
	if o.first != nil && reads(o.first.Name) {
		o.first = nil
	}
	maps.DeleteFunc(o.keys, func(key string, _ bool) bool {
		name, _, _ := strings.Cut(key, "\x00")
		return reads(name)
	})
}
