package scan

// Bytes is a set of bytes. The zero value is empty.
type Bytes [4]uint64

// Add adds b to the set.
func (s *Bytes) Add(b byte) { s[b>>6] |= 1 << (b & 63) }

// Has reports whether b is in the set.
func (s *Bytes) Has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// Pairs is a set of byte pairs, which tells most words from a few literals at one look.
type Pairs []uint64

// NewPairs returns an empty set.
func NewPairs() Pairs { return make(Pairs, 1<<16/64) }

// Add adds the pair a, b.
func (p Pairs) Add(a, b byte) {
	i := int(a)<<8 | int(b)
	p[i>>6] |= 1 << (i & 63)
}

// Has reports whether the pair is in the set.
func (p Pairs) Has(a, b byte) bool {
	i := int(a)<<8 | int(b)
	return p[i>>6]&(1<<(i&63)) != 0
}
