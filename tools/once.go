package tools

import (
	"maps"
	"strings"
)

// Calls are the calls of one reply that have left, so that a repeated call is made once: a message must
// not be sent twice.
type Calls struct {
	first *Call // the only call so far; it needs no key
	keys  map[string]bool
}

// Has reports whether the same call has left, up to blanks and the order of keys.
func (o *Calls) Has(c Call) bool {
	if o.first != nil {
		return o.first.Name == c.Name && o.first.Key() == c.Key()
	}
	return o.keys != nil && o.keys[c.Key()]
}

// Add adds a call as the model wrote it: the judge may change it afterwards.
func (o *Calls) Add(c Call) {
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

// Changed forgets the calls that read if call changes something: repeated behind it, they may return
// something else.
func (o *Calls) Changed(c *Catalog, call Call) {
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
