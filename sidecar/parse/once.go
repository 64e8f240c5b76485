package parse

import (
	"bytes"
	"encoding/json"

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
		return o.first.Name == c.Name && sameKey(*o.first) == sameKey(c)
	}
	return o.keys != nil && o.keys[sameKey(c)]
}

// add notes a call as the model wrote it: the judge may change it afterwards.
func (o *once) add(c tools.Call) {
	if o.first == nil && o.keys == nil {
		o.first = &c
		return
	}
	if o.first != nil {
		o.keys = map[string]bool{sameKey(*o.first): true}
		o.first = nil
	}
	o.keys[sameKey(c)] = true
}

// sameKey is equal for equal calls. Decoding loses what a lone surrogate was, so arguments
// with escapes stand for themselves.
func sameKey(c tools.Call) string {
	args := []byte(c.Arguments)
	if !bytes.Contains(args, []byte(`\u`)) {
		var v any
		d := json.NewDecoder(bytes.NewReader(args))
		d.UseNumber()
		if d.Decode(&v) == nil {
			if sorted, err := json.Marshal(v); err == nil {
				args = sorted
			}
		}
	}
	return c.Name + "\x00" + string(args)
}
