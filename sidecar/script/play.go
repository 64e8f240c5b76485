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

// created is the time of every reply, since a script has no clock.
const created = 1_700_000_000

// noTime is Ollama's time of a reply without one.
const noTime = -62_135_596_800

// piece is how many bytes of text a chunk has, about a token.
const piece = 5

// player writes one reply.
type player struct {
	w       http.ResponseWriter
	dialect Dialect
	id      string
	q       *Request
	events  int // events of the Responses API
	created int
}

func (p *player) play(ctx context.Context, r Reply) {
	if !wait(ctx, r.Delay) {
		return
	}
	if r.Until != nil {
		select {
		case <-r.Until:
		case <-ctx.Done():
			return
		}
	}
	if r.Retry != "" {
		p.w.Header().Set("Retry-After", r.Retry)
	}
	p.dialect.ChatErrors = p.q.ollama
	if p.dialect.Parse != nil && r.Body == "" {
		r = p.dialect.Parse(r, p.q)
	}
	switch {
	case r.Body != "":
		p.verbatim(r)
	case r.Err.Status != 0 && r.End != Fault:
		p.dialect.fail(p.w, r.Err)
	case p.q.ollama:
		p.chat(ctx, r)
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

// wait waits for d, and reports whether the caller is still there.
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
	if len(deltas) == 0 && p.dialect.Broken == Blanked && r.End != Done {
		p.nothing(r)
		return
	}
	if !p.begin(ctx, r) {
		return
	}
	if p.dialect.First != "" {
		p.chunk(p.dialect.First, "null")
	}
	for i, d := range deltas {
		if !wait(ctx, r.Pause) {
			return
		}
		if p.dialect.WholeCalls && len(r.Calls) > 0 && i == len(deltas)-1 && r.End == Done {
			p.finish(r, d)
			return
		}
		p.chunk(d, "null")
	}
	p.end(ctx, r)
}

// nothing sends what Ollama sends if a stream fails before its first chunk.
func (p *player) nothing(r Reply) {
	if r.End == Fault {
		p.dialect.fail(p.w, r.Err)
		return
	}
	p.w.Header().Set("Content-Type", "application/x-ndjson")
}

// begin sends the headers and comments of a stream. It reports whether the caller is still there.
func (p *player) begin(ctx context.Context, r Reply) bool {
	p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for k, v := range p.dialect.Stream {
		p.w.Header().Set(k, v)
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

// end sends what follows the last delta of a stream.
func (p *player) end(ctx context.Context, r Reply) {
	switch r.End {
	case Hang:
		<-ctx.Done()
	case Reset:
		panic(http.ErrAbortHandler) // net/http's way to cut a connection without a word
	case Fault:
		p.fault(r.Err)
	case Garbled:
		p.event([]byte("{not json"))
		p.event([]byte("[DONE]"))
	case Unsaid:
		p.event([]byte("[DONE]"))
	case Done:
		p.finish(r, p.delta(""))
	}
}

// fault sends an error in a stream.
func (p *player) fault(e Error) {
	if p.dialect.Broken == Blanked {
		p.dialect.Model, p.dialect.OwnModel = "", true
		p.chunk(p.delta(""), "null")
		return
	}
	p.event(p.dialect.errorBody(e))
	if p.dialect.Broken == ErrorThenDone {
		p.event([]byte("[DONE]"))
	}
}

// finish sends the last delta of a stream, and what belongs to a regular end.
func (p *player) finish(r Reply, delta string) {
	usage, timings := p.q.Usage && !r.NoUsage, p.dialect.Timings
	if usage {
		timings = ""
	}
	p.event(p.envelope("chat.completion.chunk",
		fmt.Sprintf(`[%s]%s`, p.choice("delta", delta, quote(r.finish())), timings)))
	if usage {
		p.event(p.envelope("chat.completion.chunk", fmt.Sprintf(`[],"usage":%s%s`, p.usage(r),
			p.dialect.Timings)))
	}
	p.event([]byte("[DONE]"))
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
	message := map[string]any{"role": "assistant", "content": r.Content}
	if !p.dialect.Sparse && r.Content == "" {
		message["content"] = nil
	}
	if !p.dialect.Sparse {
		message[p.dialect.Reasoning] = nil
	}
	if r.Reasoning != "" {
		message[p.dialect.Reasoning] = r.Reasoning
	}
	if len(r.Calls) > 0 {
		calls := make([]json.RawMessage, len(r.Calls))
		for i, c := range r.Calls {
			index := ""
			if p.dialect.WholeCalls {
				index = fmt.Sprintf(`"index":%d,`, i)
			}
			calls[i] = json.RawMessage(call(c, index))
		}
		message["tool_calls"] = calls
	}
	finish, usage := quote(r.finish()), p.usage(r)
	if r.End == Short && p.dialect.Broken == Blanked { // Ollama has given up
		finish, usage = "null", `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
		if len(message) == 2 && r.Content == "" {
			message["role"], p.dialect.Model, p.dialect.OwnModel, p.created = "", "", true, noTime
		}
	}
	p.w.Header().Set("Content-Type", "application/json")
	_, _ = p.w.Write(p.envelope("chat.completion", fmt.Sprintf(`[%s],"usage":%s%s`,
		// the caller may be gone
		p.choice("message", string(encode(message)), finish), usage, p.dialect.Timings)))
}

// deltas returns the delta objects of a reply, with its texts in pieces.
func (p *player) deltas(r Reply) []string {
	var out []string
	for _, t := range pieces(r.Reasoning, piece) {
		out = append(out, p.delta(fmt.Sprintf(`%q:%s`, p.dialect.Reasoning, quote(t))))
	}
	for _, t := range pieces(r.Content, piece) {
		out = append(out, p.delta(`"content":`+quote(t)))
	}
	for i, c := range r.Calls {
		index := fmt.Sprintf(`"index":%d,`, i)
		if p.dialect.WholeCalls {
			out = append(out, p.delta(`"tool_calls":[`+call(c, index)+`]`))
			continue
		}
		texts, first := pieces(c.Arguments, piece), ""
		if p.dialect.Sparse && len(texts) > 0 {
			first, texts = texts[0], texts[1:]
		}
		out = append(out, p.delta(`"tool_calls":[`+call(Call{ID: c.ID, Name: c.Name, Arguments: first},
			index)+`]`))
		for _, t := range texts {
			out = append(out, p.delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`,
				i, quote(t))))
		}
	}
	return append(out, r.Deltas...)
}

// delta returns an object with these members and the common ones, and at most one content.
func (p *player) delta(members string) string {
	each := p.dialect.Each
	if strings.HasPrefix(members, `"content":`) {
		each = strings.TrimSuffix(each, `,"content":""`)
	}
	if each != "" && members != "" {
		each += ","
	}
	return "{" + each + members + "}"
}

// call returns a tool call as JSON, with members first. An empty id is left out.
func call(c Call, members string) string {
	if c.ID != "" {
		members += `"id":` + quote(c.ID) + ","
	}
	return fmt.Sprintf(`{%s"type":"function","function":{"name":%s,"arguments":%s}}`, members, quote(c.Name),
		quote(c.Arguments))
}

func (p *player) chunk(delta, finish string) {
	p.event(p.envelope("chat.completion.chunk", "["+p.choice("delta", delta, finish)+"]"))
}

// choice returns the only choice of a reply.
func (p *player) choice(member, value, finish string) string {
	logprobs := `"logprobs":null,`
	if p.dialect.Sparse {
		logprobs = ""
	}
	return fmt.Sprintf(`{"index":0,%q:%s,%s"finish_reason":%s}`, member, value, logprobs, finish)
}

// envelope returns an object of the API; choices may be followed by further members.
func (p *player) envelope(object, choices string) []byte {
	model, fingerprint := p.q.Model, ""
	if p.dialect.OwnModel {
		model = p.dialect.Model
	}
	if p.dialect.Fingerprint != "" {
		fingerprint = fmt.Sprintf(`"system_fingerprint":%q,`, p.dialect.Fingerprint)
	}
	return fmt.Appendf(nil, `{"id":%q,"object":%q,"created":%d,"model":%s,%s"choices":%s}`, p.id, object,
		p.created, quote(model), fingerprint, choices)
}

func (p *player) event(data []byte) {
	fmt.Fprintf(p.w, "data: %s\n\n", data)
	p.flush()
}

func (p *player) flush() {
	_ = http.NewResponseController(p.w).Flush() // a recorder in a test cannot flush, and need not
}

// usage returns the usage of a reply as JSON.
func (p *player) usage(r Reply) string {
	prompt, completion, thought := p.tokens(r)
	details := p.dialect.Details
	if strings.Contains(details, "%d") {
		details = fmt.Sprintf(details, thought)
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d%s}`, prompt, completion,
		prompt+completion, details)
}

// tokens counts four bytes as a token, and a few for a reply without text.
func (p *player) tokens(r Reply) (prompt, completion, thought int) {
	spent := len(r.Reasoning) + len(r.Content)
	for _, c := range r.Calls {
		spent += len(c.Name) + len(c.Arguments)
	}
	return cmp.Or(r.Prompt, len(p.q.Body)/4+1), spent/4 + 3, len(r.Reasoning) / 4
}

// pieces cuts text after every n bytes or a little later, never inside a rune.
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

// encode returns JSON as servers in Python and Go write it, with < and > unescaped.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and maps of strings can always be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}
