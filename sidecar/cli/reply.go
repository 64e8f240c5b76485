package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// readReply makes a record of the file that was named, or of standard input.
func readReply(args []string, env Env) (*replay.Record, error) {
	doc, err := readDocument(args, env)
	if err != nil {
		return nil, err
	}
	return anyReply(doc)
}

// readDocument reads the file that was named, or standard input.
func readDocument(args []string, env Env) ([]byte, error) {
	in, err := openInput(args, env)
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	defer in.Close()
	doc, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return doc, nil
}

// anyReply makes a record of whatever a person has at hand.
func anyReply(doc []byte) (*replay.Record, error) {
	text := bytes.TrimSpace(doc)
	if len(text) == 0 {
		return nil, errors.New("there is no reply to read")
	}
	var whole struct {
		replay.Record
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Finish  string          `json:"finish_reason"`
		} `json:"choices"`
		Content   json.RawMessage `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if text[0] == '{' && json.Unmarshal(text, &whole) == nil {
		rec := &whole.Record
		switch {
		case len(whole.Choices) > 0 && whole.Choices[0].Message == nil: // a piece of a stream
			rec.Chunks = []json.RawMessage{text}
			return rec, nil
		case len(whole.Choices) > 0:
			rec.Message, rec.Finish = whole.Choices[0].Message, whole.Choices[0].Finish
			return rec, nil
		case rec.Message != nil || rec.Chunks != nil || rec.Input != nil || rec.Upstream != nil:
			return rec, nil
		case whole.Content != nil || whole.ToolCalls != nil:
			rec.Message = text
			return rec, nil
		}
	}
	if bytes.HasPrefix(text, []byte("data:")) {
		rec := &replay.Record{}
		for line := range strings.Lines(string(text)) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if data = strings.TrimSpace(data); ok && data != "[DONE]" {
				rec.Chunks = append(rec.Chunks, json.RawMessage(data))
			}
		}
		return rec, nil
	}
	message, err := json.Marshal(map[string]string{"content": string(doc)})
	return &replay.Record{Message: message}, err
}
