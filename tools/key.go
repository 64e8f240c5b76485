package tools

import (
	"bytes"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Key is equal for calls that are the same: the same tool, and arguments that differ in blanks
// and the order of keys at most. Decoding loses the last digits of a long number and what a
// lone surrogate was, so numbers and arguments with escapes stand for themselves.
func (c *Call) Key() string {
	args := []byte(c.Arguments)
	if !bytes.Contains(args, []byte(`\u`)) {
		if canon, ok := jsontext.Canon(args); ok {
			args = canon
		}
	}
	return c.Name + "\x00" + string(args)
}
