package tools

import (
	"bytes"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Key is equal for calls of the same tool whose arguments differ only in blanks and the order of keys.
// Decoding loses digits of long numbers and lone surrogates, so numbers and arguments with escapes are
// compared as text.
func (c *Call) Key() string {
	args := []byte(c.Arguments)
	if !bytes.Contains(args, []byte(`\u`)) {
		if canon, ok := jsontext.Canon(args); ok {
			args = canon
		}
	}
	return c.Name + "\x00" + string(args)
}
