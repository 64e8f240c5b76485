package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
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

// inOrder does the work of all jobs on all cores, a few jobs ahead, and gives the results
// to take in the order of the jobs.
func inOrder[J, R any](jobs iter.Seq[J], work func(J) R, take func(R)) {
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

// openInput opens the file that was named, or takes standard input.
func openInput(args []string, env Env) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(env.In), nil
	}
	return os.Open(args[0])
}

// answerLines writes an answer for each line of JSON in a file. A line that has none gets
// an error in its place.
func answerLines(args []string, env Env, answer func(jsonLine) (any, json.RawMessage, error)) error {
	in, err := openInput(args, env)
	if err != nil {
		return err
	}
	defer in.Close()
	p := env.paper(true)
	lines := jsonLines{in: in}
	bad := 0
	inOrder(lines.all(), func(l jsonLine) any {
		a, id, err := answer(l)
		if err != nil {
			return badLine{ID: id, Error: fmt.Sprintf("line %d: %v", l.n, err)}
		}
		return a
	}, func(a any) {
		if _, is := a.(badLine); is {
			bad++
		}
		p.item(a, nil)
	})
	switch err := p.done(); {
	case err != nil:
		return err
	case lines.err != nil:
		return lines.err
	case bad > 0:
		return fmt.Errorf("%d of %d lines could not be read", bad, lines.n)
	}
	return nil
}

// badLine stands in the place of an answer.
type badLine struct {
	Error string          `json:"error"`
	ID    json.RawMessage `json:"id"`
}
