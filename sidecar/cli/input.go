package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// parseRecord parses the record of a line. With an error it also returns the part that could be read.
func parseRecord(l jsontext.Line) (*replay.Record, error) {
	var rec replay.Record
	err := json.Unmarshal(l.Text, &rec)
	return &rec, jsontext.Error(err)
}

// OpenInput opens the named file, or else standard input.
func OpenInput(args []string, env Env) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(env.In), nil
	}
	return os.Open(args[0])
}

// answerLines writes an answer to each line of a JSON Lines file, and an error in place of a missing
// answer.
func answerLines(args []string, env Env, answer func(jsontext.Line) (any, json.RawMessage, error)) error {
	in, err := OpenInput(args, env)
	if err != nil {
		return err
	}
	defer in.Close()
	p := env.Printer(true)
	lines := jsontext.Reader{In: in}
	bad := 0
	jsontext.InOrder(lines.All(), func(l jsontext.Line) any {
		a, id, err := answer(l)
		if err != nil {
			return errorLine{ID: id, Error: fmt.Sprintf("line %d: %v", l.N, err)}
		}
		return a
	}, func(a any) {
		if _, is := a.(errorLine); is {
			bad++
		}
		p.Item(a, nil)
	})
	switch err := p.Flush(); {
	case err != nil:
		return err
	case lines.Err != nil:
		return lines.Err
	case bad > 0:
		return fmt.Errorf("%d of %d lines could not be read", bad, lines.N)
	}
	return nil
}

// errorLine is written in place of an answer.
type errorLine struct {
	Error string          `json:"error"`
	ID    json.RawMessage `json:"id"`
}

// readReply reads a record from the named file or standard input.
func readReply(args []string, env Env) (*replay.Record, error) {
	doc, err := readDocument(args, env)
	if err != nil {
		return nil, err
	}
	return replay.ParseRecord(doc)
}

// maxReply is the maximal size of a reply, in bytes.
const maxReply = 64 << 20

// readDocument reads the named file or standard input.
func readDocument(args []string, env Env) ([]byte, error) {
	in, err := OpenInput(args, env)
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	defer in.Close()
	doc, err := io.ReadAll(io.LimitReader(in, maxReply))
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return bytes.TrimPrefix(doc, []byte("\ufeff")), nil // a byte order mark
}
