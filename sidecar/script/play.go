package script

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// created is the time of every reply: a script has no clock.
const created = 1_700_000_000

// piece is how many bytes of text are in one chunk: about a token.
const piece = 5

// player writes one reply.
type player struct {
	w       http.ResponseWriter
	dialect Dialect
	id      string
	q       *Request
	told    int // events of the Responses API
}

func (p *player) play(ctx context.Context, r Reply) {
	if !wait(ctx, r.Delay) {
		return
	}
	if r.Retry != "" {
		p.w.Header().Set("Retry-After", r.Retry)
	}
	switch {
	case r.Body != "":
		p.verbatim(r)
	case r.Err.Status != 0 && r.End != Fault:
		p.dialect.fail(p.w, r.Err)
	case p.q.responses:
		p.respond(ctx, r)
	case p.q.Stream && !r.Whole:
		p.stream(ctx, r)
	default:
		p.whole(ctx, r)
	}
}

func (p *player) verbatim(r Reply) {
	p.w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(r.Body, "<") {
		p.w.Header().Set("Content-Type", "text/html")
	}
	if r.Err.Status != 0 {
		p.w.WriteHeader(r.Err.Status)
	}
	fmt.Fprint(p.w, r.Body)
}

// wait tells whether the caller is still there after d.
func wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// stream sends a reply as server-sent events.
func (p *player) stream(ctx context.Context, r Reply) {
	deltas := p.deltas(r)
	if len(deltas) == 0 && r.silent() {
		p.end(ctx, r)
		return
	}
	if !p.begin(ctx, r) {
		return
	}
	p.chunk(`{"role":"assistant","content":""}`, "null")
	for _, d := range deltas {
		if !wait(ctx, r.Pause) {
			return
		}
		p.chunk(d, "null")
	}
	p.end(ctx, r)
}

// begin sends the headers of a stream, and its comments. It tells whether the caller is still there.
func (p *player) begin(ctx context.Context, r Reply) bool {
	p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if p.dialect.Comments {
		p.ping()
	}
	for range r.Pings {
		if !wait(ctx, r.Pause) {
			return false
		}
		p.ping()
	}
	return true
}

func (p *player) ping() {
	fmt.Fprint(p.w, ": ping\n\n")
	p.flush()
}

// end writes what comes after the last delta of a stream.
func (p *player) end(ctx context.Context, r Reply) {
	switch r.End {
	case Hang:
		<-ctx.Done()
	case Reset:
		panic(http.ErrAbortHandler) // net/http's way to cut a connection without a word
	case Fault:
		p.event(p.dialect.errorBody(r.Err))
		p.event([]byte("[DONE]"))
	case Garbled:
		p.event([]byte("{not json"))
		p.event([]byte("[DONE]"))
	case Unsaid:
		p.event([]byte("[DONE]"))
	case Done:
		p.chunk(`{}`, quote(r.finish()))
		if p.q.Usage && !r.NoUsage {
			p.event(fmt.Appendf(nil, `{"id":%q,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[],"usage":%s}`,
				p.id, created, quote(p.q.Model), p.usage(r)))
		}
		p.event([]byte("[DONE]"))
	}
}

// whole sends a reply as one JSON body.
func (p *player) whole(ctx context.Context, r Reply) {
	switch r.End {
	case Hang, Reset:
		p.end(ctx, r)
		return
	case Fault:
		p.dialect.fail(p.w, r.Err)
		return
	}
	message := map[string]any{"role": "assistant", "content": nil, p.dialect.Reasoning: nil}
	if r.Content != "" {
		message["content"] = r.Content
	}
	if r.Reasoning != "" {
		message[p.dialect.Reasoning] = r.Reasoning
	}
	if len(r.Calls) > 0 {
		calls := make([]json.RawMessage, len(r.Calls))
		for i, c := range r.Calls {
			calls[i] = json.RawMessage(call(c, ""))
		}
		message["tool_calls"] = calls
	}
	p.w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(p.w, `{"id":%q,"object":"chat.completion","created":%d,"model":%s,"choices":[{"index":0,"message":%s,"logprobs":null,"finish_reason":%s}],"usage":%s}`,
		p.id, created, quote(p.q.Model), encode(message), quote(r.finish()), p.usage(r))
}

// deltas are the delta objects of a reply, its texts cut into pieces.
func (p *player) deltas(r Reply) []string {
	var out []string
	for _, t := range pieces(r.Reasoning, piece) {
		out = append(out, fmt.Sprintf(`{%q:%s}`, p.dialect.Reasoning, quote(t)))
	}
	for _, t := range pieces(r.Content, piece) {
		out = append(out, `{"content":`+quote(t)+`}`)
	}
	for i, c := range r.Calls {
		index := fmt.Sprintf(`"index":%d,`, i)
		if p.dialect.WholeCalls {
			out = append(out, `{"tool_calls":[`+call(c, index)+`]}`)
			continue
		}
		out = append(out, `{"tool_calls":[`+call(Call{ID: c.ID, Name: c.Name}, index)+`]}`)
		for _, t := range pieces(c.Arguments, piece) {
			out = append(out, fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(t)))
		}
	}
	return append(out, r.Deltas...)
}

// call is a tool call as JSON, with more members in front. One without an id has no such member.
func call(c Call, members string) string {
	if c.ID != "" {
		members += `"id":` + quote(c.ID) + ","
	}
	return fmt.Sprintf(`{%s"type":"function","function":{"name":%s,"arguments":%s}}`, members, quote(c.Name), quote(c.Arguments))
}

func (p *player) chunk(delta, finish string) {
	p.event(fmt.Appendf(nil, `{"id":%q,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}`,
		p.id, created, quote(p.q.Model), delta, finish))
}

func (p *player) event(data []byte) {
	fmt.Fprintf(p.w, "data: %s\n\n", data)
	p.flush()
}

func (p *player) flush() {
	_ = http.NewResponseController(p.w).Flush() // a recorder in a test cannot flush, and need not
}

// usage is what a reply cost, as JSON.
func (p *player) usage(r Reply) string {
	prompt, completion, thought := p.tokens(r)
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}`,
		prompt, completion, prompt+completion, thought)
}

// tokens counts four bytes as a token. A model that says nothing has spent tokens all the same.
func (p *player) tokens(r Reply) (prompt, completion, thought int) {
	spent := len(r.Reasoning) + len(r.Content)
	for _, c := range r.Calls {
		spent += len(c.Name) + len(c.Arguments)
	}
	return cmp.Or(r.Prompt, len(p.q.Body)/4+1), spent/4 + 3, len(r.Reasoning) / 4
}

// pieces cuts text every n bytes or a little later, never inside a rune.
func pieces(text string, n int) []string {
	var out []string
	for len(text) > 0 {
		end := min(n, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return out
}

func quote(s string) string { return string(encode(s)) }

// encode is JSON as Python and Go servers write it to a stream: < and > stay.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and maps of them always encode
	}
	return bytes.TrimSpace(b.Bytes())
}
