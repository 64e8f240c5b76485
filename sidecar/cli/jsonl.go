package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// recordOn is the record on a line. Where it is wrong, what could be read of it comes
// with the error.
func recordOn(l jsontext.Line) (*replay.Record, error) {
	var rec replay.Record
	err := json.Unmarshal(l.Text, &rec)
	return &rec, jsontext.Error(err)
}

// openInput opens the file that was named, or takes standard input.
func OpenInput(args []string, env Env) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(env.In), nil
	}
	return os.Open(args[0])
}

// answerLines writes an answer for each line of JSON in a file. A line that has none gets
// an error in its place.
func answerLines(args []string, env Env, answer func(jsontext.Line) (any, json.RawMessage, error)) error {
	in, err := OpenInput(args, env)
	if err != nil {
		return err
	}
	defer in.Close()
	p := env.Paper(true)
	lines := jsontext.Reader{In: in}
	bad := 0
	jsontext.InOrder(lines.All(), func(l jsontext.Line) any {
		a, id, err := answer(l)
		if err != nil {
			return badLine{ID: id, Error: fmt.Sprintf("line %d: %v", l.N, err)}
		}
		return a
	}, func(a any) {
		if _, is := a.(badLine); is {
			bad++
		}
		p.Item(a, nil)
	})
	switch err := p.Done(); {
	case err != nil:
		return err
	case lines.Err != nil:
		return lines.Err
	case bad > 0:
		return fmt.Errorf("%d of %d lines could not be read", bad, lines.N)
	}
	return nil
}

// badLine stands in the place of an answer.
type badLine struct {
	Error string          `json:"error"`
	ID    json.RawMessage `json:"id"`
}
