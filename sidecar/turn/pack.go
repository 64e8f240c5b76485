package turn

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// Bytes are bytes that were made small. The zero value is none.
type Bytes struct {
	packed []byte
	size   int // of what was packed
}

// writers are reused: each has tables of half a megabyte.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil { // the level is one of flate
		panic(err)
	}
	return w
}}

// Of packs b, which may be changed afterwards.
func Of(b []byte) Bytes {
	var out bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	_, err := w.Write(b)
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a bytes.Buffer takes all
		panic(fmt.Sprintf("pack: %v", err))
	}
	return Bytes{bytes.Clone(out.Bytes()), len(b)}
}

// None reports whether nothing was packed.
func (p Bytes) None() bool { return p.packed == nil }

// Size is how much it takes.
func (p Bytes) Size() int { return len(p.packed) }

// Open is what was packed.
func (p Bytes) Open() []byte {
	out := make([]byte, p.size)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(p.packed)), out); err != nil { // we packed it
		panic(fmt.Sprintf("unpack: %v", err))
	}
	return out
}
