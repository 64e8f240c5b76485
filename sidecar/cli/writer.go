package cli

import (
	"cmp"
	"fmt"
	"io"
)

// Writer remembers the first error of To.
type Writer struct {
	To  io.Writer
	Err error
}

func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.To.Write(b)
	if err != nil {
		err = fmt.Errorf("write: %w", err)
		w.Err = cmp.Or(w.Err, err)
	}
	return n, err
}

// Unwrap returns the writer beneath a Writer.
func Unwrap(w io.Writer) io.Writer {
	if t, is := w.(*Writer); is {
		return t.To
	}
	return w
}
