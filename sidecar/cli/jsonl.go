package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"

	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// maxLine is the longest record that is read, in bytes.
const maxLine = 64 << 20

// jsonLines reads JSON lines, one at a time. After all, n is the number of lines,
// and err says why it ended early.
type jsonLines struct {
	in  io.Reader
	n   int
	err error
}

// jsonLine is one of them, without the blanks around it.
type jsonLine struct {
	n    int // from 1
	text []byte
}

// all yields the lines that are not blank.
func (l *jsonLines) all() iter.Seq[jsonLine] {
	return func(yield func(jsonLine) bool) {
		scan := bufio.NewScanner(l.in)
		scan.Buffer(make([]byte, 0, 64<<10), maxLine)
		for scan.Scan() {
			l.n++
			if text := bytes.TrimSpace(scan.Bytes()); len(text) > 0 && !yield(jsonLine{l.n, bytes.Clone(text)}) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			l.err = fmt.Errorf("line %d: %w", l.n+1, err)
		}
	}
}

// record is the record on a line. Where it is wrong, what could be read of it comes
// with the error.
func (l jsonLine) record() (*replay.Record, error) {
	var rec replay.Record
	err := json.Unmarshal(l.text, &rec)
	return &rec, plainjson.Error(err)
}

// inOrder does the work of all jobs on all cores, a few jobs ahead, and yields the
// results in the order of the jobs.
func inOrder[J, R any](jobs iter.Seq[J], work func(J) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		ahead := make(chan chan R, 2*runtime.GOMAXPROCS(0))
		left := make(chan struct{})
		go func() {
			defer close(ahead)
			for job := range jobs {
				result := make(chan R, 1)
				select {
				case ahead <- result:
					go func() { result <- work(job) }()
				case <-left:
					return
				}
			}
		}()
		defer func() { // nobody reads jobs any more once we are gone
			close(left)
			for range ahead {
			}
		}()
		for result := range ahead {
			if !yield(<-result) {
				return
			}
		}
	}
}

// answerLines writes an answer for each line of JSON. A line that has none gets an
// error in its place.
func answerLines(in io.Reader, out io.Writer, answer func(jsonLine) (any, json.RawMessage, error)) error {
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	lines := jsonLines{in: in}
	bad := 0
	for a := range inOrder(lines.all(), func(l jsonLine) any {
		a, id, err := answer(l)
		if err != nil {
			return badLine{ID: id, Error: fmt.Sprintf("line %d: %v", l.n, err)}
		}
		return a
	}) {
		if _, is := a.(badLine); is {
			bad++
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if lines.err != nil {
		return lines.err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d lines could not be read", bad, lines.n)
	}
	return nil
}

// badLine stands in the place of an answer.
type badLine struct {
	Error string          `json:"error"`
	ID    json.RawMessage `json:"id"`
}
