package tools

import (
	"bytes"
	"encoding/json"
)

// Key is equal for calls that are the same: the same tool, and arguments that differ in blanks
// and the order of keys at most. Decoding loses the last digits of a long number and what a
// lone surrogate was, so numbers and arguments with escapes stand for themselves.
func (c *Call) Key() string {
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
