package script

import (
	"encoding/json"
	"net/http"

	"github.com/tidwall/gjson"
)

// Request is a received request.
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

	responses bool // it came over the Responses API
	ollama    bool // it came over Ollama's own API
}

// Message is one message of a request.
type Message struct {
	Role   string
	Text   string // content; the text parts joined where it is an array
	CallID string // tool_call_id
	Calls  []Call
	Raw    json.RawMessage
}

// Field returns a string member of the message, such as reasoning; "" if it is missing.
func (m Message) Field(name string) string { return gjson.GetBytes(m.Raw, name).Str }

// Call is a tool call as it is on the wire, perhaps malformed.
type Call struct{ ID, Name, Arguments string }

func readRequest(header http.Header, body []byte) (Request, error) {
	doc, err := object(body)
	if err != nil {
		return Request{}, err
	}
	q := Request{
		Header: header.Clone(), Body: body, Model: doc.Get("model").Str,
		Stream: doc.Get("stream").Bool(), Usage: doc.Get("stream_options.include_usage").Bool(),
	}
	for _, name := range doc.Get("tools.#.function.name").Array() {
		q.Tools = append(q.Tools, name.Str)
	}
	for _, m := range doc.Get("messages").Array() {
		q.Messages = append(q.Messages, readMessage(m))
	}
	return q, nil
}

func object(body []byte) (gjson.Result, error) {
	var fields map[string]json.RawMessage
	return gjson.ParseBytes(body), json.Unmarshal(body, &fields)
}

func readMessage(doc gjson.Result) Message {
	content := doc.Get("content")
	m := Message{Role: doc.Get("role").Str, Text: content.Str, CallID: doc.Get("tool_call_id").Str,
		Raw: json.RawMessage(doc.Raw)}
	for _, part := range content.Get("#.text").Array() {
		m.Text += part.Str
	}
	for _, c := range doc.Get("tool_calls").Array() {
		m.Calls = append(m.Calls, Call{c.Get("id").Str, c.Get("function.name").Str,
			c.Get("function.arguments").String()})
	}
	return m
}
