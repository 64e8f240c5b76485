package script

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tidwall/gjson"
)

// ollamaPath is the path of chats in Ollama's own API.
const ollamaPath = "/api/chat"

// chatLine is a line of a stream of Ollama's own API, or a whole reply.
type chatLine struct {
	Model   string      `json:"model"`
	Created time.Time   `json:"created_at"`
	Message chatMessage `json:"message"`
	Done    bool        `json:"done"`
	Reason  string      `json:"done_reason,omitempty"`
	Total   int         `json:"total_duration,omitempty"`
	Load    int         `json:"load_duration,omitempty"`
	Prompt  int         `json:"prompt_eval_count,omitempty"`
	Spent   int         `json:"eval_count,omitempty"`
}

type chatMessage struct {
	Role     string     `json:"role"`
	Content  string     `json:"content"`
	Thinking string     `json:"thinking,omitempty"`
	Calls    []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// readOllama parses a request of Ollama's own API, which streams by default.
func readOllama(header http.Header, body []byte) (Request, error) {
	q, err := readRequest(header, body)
	q.ollama, q.Stream = true, q.Stream || !gjson.GetBytes(body, "stream").Exists()
	return q, err
}

// chat answers in Ollama's own API. A stream that fails before its first line sends the error with its
// status.
func (p *player) chat(ctx context.Context, r Reply) {
	lines := p.lines(&r)
	switch {
	case r.End == Fault && len(lines) == 0 || r.End == Fault && !p.q.Stream:
		p.dialect.fail(p.w, r.Err)
		return
	case p.q.Stream:
		p.w.Header().Set("Content-Type", "application/x-ndjson")
	case r.End == Hang || r.End == Reset:
		p.end(ctx, r)
		return
	default:
		p.w.Header().Set("Content-Type", "application/json")
		lines = []chatLine{p.document(&r)}
		r.End, r.Pause = Unsaid, 0
	}
	for _, line := range lines {
		if !wait(ctx, r.Pause) {
			return
		}
		p.line(encode(line))
	}
	switch r.End {
	case Hang, Reset:
		p.end(ctx, r)
	case Fault:
		p.line(p.dialect.errorBody(r.Err))
	case Garbled:
		p.line([]byte("{not json"))
	case Done:
		last := p.document(&r)
		last.Message.Content, last.Message.Thinking = "", ""
		p.line(encode(last))
	}
}

// lines returns the lines of a reply, with its texts in pieces.
func (p *player) lines(r *Reply) []chatLine {
	var out []chatLine
	add := func(m chatMessage) {
		m.Role = "assistant"
		out = append(out, chatLine{Model: p.dialect.Model, Created: time.Unix(created, 0).UTC(), Message: m})
	}
	for _, t := range pieces(r.Reasoning, piece) {
		add(chatMessage{Thinking: t})
	}
	for _, t := range pieces(r.Content, piece) {
		add(chatMessage{Content: t})
	}
	for _, d := range r.Deltas {
		add(chatMessage{Content: gjson.Get(d, "content").Str, Thinking: gjson.Get(d, "reasoning").Str})
	}
	return out
}

// document returns a whole reply. If Ollama gave up, it is not done, and has no model if there was no text.
func (p *player) document(r *Reply) chatLine {
	if r.End != Done && r.Content+r.Reasoning == "" {
		return chatLine{}
	}
	line := chatLine{
		Model: p.dialect.Model, Created: time.Unix(created, 0).UTC(), Done: r.End == Done,
		Message: chatMessage{Role: "assistant", Content: r.Content, Thinking: r.Reasoning},
	}
	if !line.Done {
		return line
	}
	for i, c := range r.Calls {
		call := chatCall{ID: c.ID}
		call.Function.Index, call.Function.Name, call.Function.Arguments = i, c.Name,
			json.RawMessage(c.Arguments)
		line.Message.Calls = append(line.Message.Calls, call)
	}
	if line.Reason = "stop"; r.Finish != "" {
		line.Reason = r.Finish
	}
	line.Total, line.Load = 1, 1
	line.Prompt, line.Spent, _ = p.tokens(*r)
	return line
}

func (p *player) line(data []byte) {
	fmt.Fprintf(p.w, "%s\n", data)
	p.flush()
}
