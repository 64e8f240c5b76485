package parse

import "bytes"

// PlainThought says of reasoning, as the raw JSON string it came in, that the reader
// would let it through as it is: it holds no markup and is no call. Then it need
// not be decoded; tell the reader with Reasoned that there was some.
func (r *Reader) PlainThought(raw []byte) bool {
	if !r.s.header.Alphabet.Plain(raw) || bytes.ContainsAny(raw, "{=") {
		return false
	}
	inside := bytes.TrimLeft(bytes.Trim(raw, `"`), " \t")
	return len(inside) > 0 && inside[0] != '[' && inside[0] != '\\'
}

// Reasoned tells the reader that the server sent reasoning apart from the text.
func (r *Reader) Reasoned() { r.content.settle(Text) }
