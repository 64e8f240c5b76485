package scan

// Bytes is a set of bytes. Its zero value is empty.
type Bytes [4]uint64

// Add adds b to the set.
func (s *Bytes) Add(b byte) { s[b>>6] |= 1 << (b & 63) }

// Has says that b is in the set.
func (s *Bytes) Has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
