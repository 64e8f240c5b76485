package jsontext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"runtime"
)

// longest bounds a line in bytes.
const longest = 64 << 20

// Reader reads lines, one at a time. After All, N is the number of lines, and Err tells why it ended
// early.
type Reader struct {
	In  io.Reader
	N   int
	Err error
}

// Line is a line without the blanks around it.
type Line struct {
	N    int // from 1
	Text []byte
}

// All yields the lines that are not blank.
func (r *Reader) All() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		scan := bufio.NewScanner(r.In)
		scan.Buffer(make([]byte, 0, 64<<10), longest)
		for scan.Scan() {
			r.N++
			text := scan.Bytes()
			if r.N == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write it before UTF-8
			}
			if text = bytes.TrimSpace(text); len(text) > 0 && !yield(Line{r.N, bytes.Clone(text)}) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			r.Err = fmt.Errorf("line %d: %w", r.N+1, err)
		}
	}
}

// InOrder runs the jobs on all cores, a few jobs ahead, and passes the results to take in order.
func InOrder[J, R any](jobs iter.Seq[J], work func(J) R, take func(R)) {
	ahead := make(chan chan R, 2*runtime.GOMAXPROCS(0))
	go func() {
		defer close(ahead)
		for job := range jobs {
			result := make(chan R, 1)
			ahead <- result
			go func() { result <- work(job) }()
		}
	}()
	for result := range ahead {
		take(<-result)
	}
}
