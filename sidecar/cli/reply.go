package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// readReply makes a record of the file that was named, or of standard input.
func readReply(args []string, env Env) (*replay.Record, error) {
	doc, err := readDocument(args, env)
	if err != nil {
		return nil, err
	}
	return replay.ParseRecord(doc)
}

// maxReply is the longest reply that is read, in bytes.
const maxReply = 64 << 20

// readDocument reads the file that was named, or standard input.
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
	return bytes.TrimPrefix(doc, []byte("\ufeff")), nil // that some editors write before UTF-8
}
