package script

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"
)

// readResponses parses a request of the Responses API. Items of its input become messages.
func readResponses(header http.Header, body []byte) (Request, error) {
	doc, err := object(body)
	if err != nil {
		return Request{}, err
	}
	q := Request{
		Header: header.Clone(), Body: body, Model: doc.Get("model").Str,
		Stream: doc.Get("stream").Bool(), Usage: true, responses: true,
	}
	for _, name := range doc.Get("tools.#.name").Array() {
		q.Tools = append(q.Tools, name.Str)
	}
	for _, item := range doc.Get("input").Array() {
		q.Messages = append(q.Messages, readItem(item))
	}
	return q, nil
}

func readItem(item gjson.Result) Message {
	switch item.Get("type").Str {
	case "function_call":
		call := Call{item.Get("call_id").Str, item.Get("name").Str, item.Get("arguments").Str}
		return Message{Role: "assistant", Calls: []Call{call}, Raw: json.RawMessage(item.Raw)}
	case "function_call_output":
		return Message{Role: "tool", Text: item.Get("output").Str, CallID: item.Get("call_id").Str,
			Raw: json.RawMessage(item.Raw)}
	case "reasoning":
		return Message{Role: "assistant", Raw: json.RawMessage(item.Raw)}
	}
	return readMessage(item)
}

// respond sends a reply as events of the Responses API, with the same damage as in a chat. Deltas are for
// chats only.
func (p *player) respond(ctx context.Context, r Reply) {
	items := p.items(r)
	if len(items) == 0 && r.silent() {
		p.end(ctx, r)
		return
	}
	if r.End == Fault && p.dialect.Broken == Blanked && (len(items) == 0 || r.Whole || !p.q.Stream) {
		p.dialect.fail(p.w, r.Err)
		return
	}
	if r.Whole || !p.q.Stream {
		p.w.Header().Set("Content-Type", "application/json")
		_, _ = p.w.Write(encode(p.response(r, items))) // the caller may be gone
		return
	}
	if !p.begin(ctx, r) {
		return
	}
	p.tell("response.created", member{"response", p.response(Reply{End: Short}, nil)})
	for i, it := range items {
		p.tell("response.output_item.added", member{"output_index", i}, member{"item", it.open})
		for _, t := range pieces(it.text, piece) {
			if !wait(ctx, r.Pause) {
				return
			}
			p.tell(it.delta+".delta", append(it.at(i), member{"delta", t})...)
		}
		if i == len(items)-1 && r.End != Done {
			break // it ends inside this item
		}
		p.tell(it.delta+".done", append(it.at(i), member{it.says, it.text})...)
		p.tell("response.output_item.done", member{"output_index", i}, member{"item", it.whole})
	}
	p.responded(ctx, r, items)
}

// responded sends what follows the last item.
func (p *player) responded(ctx context.Context, r Reply, items []item) {
	if r.End == Fault && p.dialect.Broken == Blanked {
		return // the error is not reported
	}
	switch r.End {
	case Done, Fault:
		p.tell("response."+status(r), member{"response", p.response(r, items)})
	case Garbled:
		p.event([]byte("{not json"))
	case Short, Unsaid, Reset, Hang:
		p.end(ctx, Reply{End: r.End})
	}
}

// item is one item of an output.
type item struct {
	open, whole map[string]any
	delta, says string // its events, and the member of the last one that has the text
	text        string
}

// at returns the members that identify the item in an event.
func (it item) at(index int) []member {
	return []member{{"item_id", it.open["id"]}, {"output_index", index}, {"content_index", 0}}
}

// items returns the items of a reply.
func (p *player) items(r Reply) (out []item) {
	add := func(kind, delta, says, text string, more, ended map[string]any) {
		it := item{open: map[string]any{"id": fmt.Sprintf("item_%d", len(out)), "type": kind},
			whole: map[string]any{}, delta: "response." + delta, says: says, text: text}
		for k, v := range more {
			it.open[k] = v
		}
		for k, v := range it.open {
			it.whole[k] = v
		}
		for k, v := range ended {
			it.whole[k] = v
		}
		out = append(out, it)
	}
	if r.Reasoning != "" {
		add("reasoning", "reasoning_text", "text", r.Reasoning, map[string]any{"summary": []any{},
			"content": []any{}},
			map[string]any{"content": []any{map[string]any{"type": "reasoning_text", "text": r.Reasoning}}})
	}
	if r.Content != "" {
		add("message", "output_text", "text", r.Content, map[string]any{"role": "assistant",
			"status": "in_progress", "content": []any{}},
			map[string]any{"status": "completed",
				"content": []any{map[string]any{"type": "output_text", "text": r.Content,
					"annotations": []any{}}}})
	}
	for _, c := range r.Calls {
		more := map[string]any{"name": c.Name, "arguments": "", "status": "in_progress"}
		if c.ID != "" {
			more["call_id"] = c.ID
		}
		add("function_call", "function_call_arguments", "arguments", c.Arguments, more,
			map[string]any{"arguments": c.Arguments, "status": "completed"})
	}
	return out
}

// status returns the final status of a response.
func status(r Reply) string {
	switch {
	case r.End == Fault:
		return "failed"
	case r.End != Done:
		return "in_progress"
	case r.Finish == "length" || r.Finish == "content_filter":
		return "incomplete"
	}
	return "completed"
}

func (p *player) response(r Reply, items []item) map[string]any {
	output := make([]any, len(items))
	for i, it := range items {
		output[i] = it.whole
	}
	out := map[string]any{"id": p.id, "object": "response", "created_at": created, "model": p.q.Model,
		"status": status(r), "output": output, "error": nil}
	switch {
	case r.End == Fault:
		out["error"] = map[string]any{"code": "server_error", "message": r.Err.Message}
	case r.Finish == "length":
		out["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	case r.Finish == "content_filter":
		out["incomplete_details"] = map[string]any{"reason": "content_filter"}
	}
	if r.End == Done && !r.NoUsage {
		prompt, completion, thought := p.tokens(r)
		out["usage"] = map[string]any{"input_tokens": prompt, "output_tokens": completion,
			"total_tokens":          prompt + completion,
			"output_tokens_details": map[string]any{"reasoning_tokens": thought}}
	}
	return out
}

// member is one member of an event.
type member struct {
	key   string
	value any
}

// tell sends an event of the Responses API.
func (p *player) tell(kind string, members ...member) {
	event := map[string]any{"type": kind, "sequence_number": p.events}
	for _, m := range members {
		event[m.key] = m.value
	}
	p.events++
	fmt.Fprintf(p.w, "event: %s\n", kind)
	p.event(encode(event))
}
