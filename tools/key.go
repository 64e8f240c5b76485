package tools

import (
	"bytes"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Key is equal for calls of the same tool whose arguments differ only in blanks and the order of keys.
// Decoding loses digits of long numbers and lone surrogates, so numbers and arguments with escapes are
// compared as text.
func (c *Call) Key() string {
	key := append([]byte(c.Name), 0)
	if bytes.Contains(c.Arguments, []byte(`\u`)) {
		return string(append(key, c.Arguments...))
	}
	return string(jsontext.AppendCanon(key, c.Arguments))
}
