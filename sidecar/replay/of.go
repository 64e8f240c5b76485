package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Of makes a record of whatever a person has at hand.
func Of(doc []byte) (*Record, error) {
	text := bytes.TrimSpace(doc)
	if len(text) == 0 {
		return nil, errors.New("there is no reply to read")
	}
	var whole struct {
		Record
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
		rec := &Record{}
		for line := range strings.Lines(string(text)) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if data = strings.TrimSpace(data); ok && data != "[DONE]" {
				rec.Chunks = append(rec.Chunks, json.RawMessage(data))
			}
		}
		return rec, nil
	}
	message, err := json.Marshal(map[string]string{"content": string(doc)})
	return &Record{Message: message}, err
}
