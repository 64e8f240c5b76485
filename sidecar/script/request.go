package script

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"
)

// Request is one chat request, as it arrived.
type Request struct {
	Scenario string // the scenario that answered it; "" for none
	Step     int    // 0 for the first request of the scenario
	Header   http.Header
	Body     []byte
	Model    string
	Stream   bool
	Usage    bool // stream_options.include_usage
	Tools    []string
	Messages []Message
}

// Message is one message of a request.
type Message struct {
	Role   string
	Text   string // content; the text parts joined where it is an array
	CallID string // tool_call_id
	Calls  []Call
	Raw    json.RawMessage
}

// Field is a string member of the message, for example reasoning; "" where it
// is absent.
func (m Message) Field(name string) string { return gjson.GetBytes(m.Raw, name).Str }

// Call is a tool call, as it stands on the wire: nothing in it need be well
// formed.
type Call struct{ ID, Name, Arguments string }

func readRequest(header http.Header, body []byte) (Request, error) {
	var wire struct {
		Model         string            `json:"model"`
		Stream        bool              `json:"stream"`
		Messages      []json.RawMessage `json:"messages"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	q := Request{Header: header.Clone(), Body: body, Model: wire.Model, Stream: wire.Stream, Usage: wire.StreamOptions.IncludeUsage}
	for _, t := range wire.Tools {
		q.Tools = append(q.Tools, t.Function.Name)
	}
	for i, raw := range wire.Messages {
		m, err := readMessage(raw)
		if err != nil {
			return Request{}, fmt.Errorf("read messages[%d]: %w", i, err)
		}
		q.Messages = append(q.Messages, m)
	}
	return q, nil
}

func readMessage(raw json.RawMessage) (Message, error) {
	var wire struct {
		Role   string `json:"role"`
		CallID string `json:"tool_call_id"`
		Calls  []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Message{}, err
	}
	m := Message{Role: wire.Role, Text: readContent(gjson.GetBytes(raw, "content")), CallID: wire.CallID, Raw: raw}
	for _, c := range wire.Calls {
		m.Calls = append(m.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return m, nil
}

// readContent is the text of a content, be it a string or an array of parts.
func readContent(content gjson.Result) string {
	text := content.Str
	for _, part := range content.Get("#.text").Array() {
		text += part.Str
	}
	return text
}
