package cli

import (
	"cmp"
	"fmt"
	"io"
)

// Writer keeps the first error.
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

// Under is what a writer writes to: for what asks whether it is a terminal, or hands it on.
func Under(w io.Writer) io.Writer {
	if t, is := w.(*Writer); is {
		return t.To
	}
	return w
}
