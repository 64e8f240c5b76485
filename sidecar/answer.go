package sidecar

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// responseAnswer builds a Response item by item and reports each step as a server-sent event.
type responseAnswer struct {
	req     *responseParams
	emit    func(event []byte) // nil: no events are wanted
	head    []byte             // the members in front of the status, as JSON
	seq     int64              // number of the next event
	started bool               // response.created was emitted
	buf     []byte             // the event being built

	items []byte // finished items, separated by commas
	count int64  // number of finished items

	kind        *itemKind // of the open item; nil: no item is open
	id          string    // of the open item
	text        []byte    // its text so far, inside a JSON string
	plain       []byte    // its text without escapes, for encrypted_content
	callID      string    // of a call
	toolMembers []byte    // name and namespace of the called tool, as members of the item
	delta       []byte    // the latest addition, as a JSON string
	space       string    // white space before any text, which alone makes no item
}

// itemKind describes how items of one kind appear in a Response and its events.
type itemKind struct {
	name, prefix string
	part         string // how the content part with the text begins; "": the item holds the text itself
	textKey      string // member with the whole text
	delta, done  string // names of the events
	extra        string // members that these events also have
}

var (
	messageKind = &itemKind{"message", "msg_", `{"type":"output_text","annotations":[],"logprobs":[],"text":"`,
		"text",
		"response.output_text.delta", "response.output_text.done", `,"content_index":0,"logprobs":[]`}
	// OpenClaw drops reasoning whose id begins with rs_, as OpenAI's does, where nothing is encrypted.
	reasoningKind = &itemKind{"reasoning", "rsn_", `{"type":"reasoning_text","text":"`, "text",
		"response.reasoning_text.delta", "response.reasoning_text.done", `,"content_index":0`}
	callKind = &itemKind{"function_call", "fc_", "", "arguments",
		"response.function_call_arguments.delta", "response.function_call_arguments.done", ""}
	customKind = &itemKind{"custom_tool_call", "ctc_", "", "input",
		"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", ""}
)

// newAnswer returns a Response without items, created at a Unix time in seconds. emit may be nil; it gets
// each event at once, as bytes that are valid during the call.
func newAnswer(req *responseParams, model string, created int64, emit func(event []byte)) *responseAnswer {
	return &responseAnswer{req: req, emit: emit, head: responseHead(req, model, created)}
}

// Begin emits the first two events, once.
func (a *responseAnswer) Begin() {
	if !a.started {
		a.started = true
		a.emitState("response.created")
		a.emitState("response.in_progress")
	}
}

// Alive emits an event that changes nothing: clients ignore comments.
func (a *responseAnswer) Alive() {
	if !a.started {
		a.Begin()
		return
	}
	a.emitState("response.in_progress")
}

// Text adds to the message for the user.
func (a *responseAnswer) Text(text string) {
	if a.kind != messageKind {
		if text = a.space + text; strings.TrimSpace(text) == "" {
			a.space = text
			return
		}
		a.beginItem(messageKind)
	}
	a.appendText(text)
}

// Thought adds to the reasoning.
func (a *responseAnswer) Thought(text string) {
	if a.kind != reasoningKind {
		a.beginItem(reasoningKind)
	}
	if a.req.sealed {
		a.plain = append(a.plain, text...)
	}
	a.appendText(text)
}

// Call adds a complete call and returns its id in the form of chat completions.
func (a *responseAnswer) Call(c *tools.Call) (id string) {
	a.Break()
	a.callID, a.toolMembers = openai.NewCallID(), nil
	t, known := a.req.tools[c.Name]
	if !known {
		t.name = openai.AppendString(nil, c.Name)
	}
	if t.namespace != nil {
		a.toolMembers = append([]byte(`,"namespace":`), t.namespace...)
	}
	a.toolMembers = append(append(a.toolMembers, `,"name":`...), t.name...)
	if t.custom {
		a.beginItem(customKind)
		a.appendText(gjson.GetBytes(c.Arguments, customInput).String())
	} else {
		a.beginItem(callKind)
		a.appendText(string(c.Arguments))
	}
	a.Break()
	return a.callID
}

// Break ends the open item.
func (a *responseAnswer) Break() { a.endItem("completed") }

// End ends the answer and returns the whole Response. finish and usage are those of chat completions; usage
// and run may be nil.
func (a *responseAnswer) End(finish string, usage, run []byte) []byte {
	o := ending{status: "completed", usage: usage, run: run}
	switch finish {
	case "length":
		o.status, o.incomplete = "incomplete", "max_output_tokens"
	case openai.ContentFilter:
		o.status, o.incomplete = "incomplete", "content_filter"
	}
	return a.finish(o)
}

// Fail ends the answer with an error.
func (a *responseAnswer) Fail(e *openai.Error) { a.finish(ending{status: "failed", err: e}) }

// ending is how a Response ends.
type ending struct {
	status     string
	incomplete string        // the reason of an incomplete Response
	err        *openai.Error // nil: it did not fail
	usage, run []byte
}

func (a *responseAnswer) finish(o ending) []byte {
	last := o.status
	if last == "failed" {
		last = "incomplete"
	}
	a.endItem(last)
	a.Begin()
	doc := a.document(o)
	a.emitResponse("response."+o.status, doc)
	return doc
}

func (a *responseAnswer) beginItem(k *itemKind) {
	a.Break()
	a.Begin()
	a.kind, a.id, a.space = k, newID(k.prefix), ""
	a.text, a.plain = a.text[:0], a.plain[:0]
	a.emitAdded()
}

func (a *responseAnswer) appendText(text string) {
	a.delta = openai.AppendString(a.delta[:0], text)
	a.text = append(a.text, a.delta[1:len(a.delta)-1]...)
	a.emitDelta()
}

// endItem ends the open item, if there is one.
func (a *responseAnswer) endItem(status string) {
	if a.kind == nil {
		return
	}
	if a.count > 0 {
		a.items = append(a.items, ',')
	}
	from := len(a.items)
	a.items = a.appendItem(a.items, status, true)
	a.emitDone(a.items[from:])
	a.kind = nil
	a.count++
}

// responseUsage reads input, cached, output, reasoning and total tokens from the usage object of a chat
// completion.
func responseUsage(usage []byte) [5]int64 {
	found := gjson.GetManyBytes(usage, "prompt_tokens", "prompt_tokens_details.cached_tokens",
		"completion_tokens", "completion_tokens_details.reasoning_tokens", "total_tokens")
	var n [5]int64
	for i := range found {
		n[i] = found[i].Int()
	}
	if !found[4].Exists() {
		n[4] = n[0] + n[2]
	}
	return n
}

// emitAdded reports an item that begins.
func (a *responseAnswer) emitAdded() {
	if a.emit == nil {
		return
	}
	a.event("response.output_item.added")
	a.putIndex()
	a.buf = a.appendItem(append(a.buf, `,"item":`...), "in_progress", false)
	a.send()
	if a.kind.part != "" {
		a.itemEvent("response.content_part.added", `,"content_index":0`)
		a.with(`,"part":`, []byte(a.kind.part), []byte(`"}`))
		a.send()
	}
}

// emitDelta reports the latest addition to the item.
func (a *responseAnswer) emitDelta() {
	if a.emit == nil {
		return
	}
	a.itemEvent(a.kind.delta, a.kind.extra)
	a.with(`,"delta":`, a.delta)
	a.send()
}

// emitDone reports an item that ends.
func (a *responseAnswer) emitDone(item []byte) {
	if a.emit == nil {
		return
	}
	a.itemEvent(a.kind.done, a.kind.extra)
	if a.kind == callKind {
		a.with("", a.toolMembers)
	}
	a.with(`,"`+a.kind.textKey+`":"`, a.text, []byte(`"`))
	a.send()
	if a.kind.part != "" {
		a.itemEvent("response.content_part.done", `,"content_index":0`)
		a.with(`,"part":`, []byte(a.kind.part), a.text, []byte(`"}`))
		a.send()
	}
	a.event("response.output_item.done")
	a.putIndex()
	a.with(`,"item":`, item)
	a.send()
}

// emitState emits an event about the whole answer, without its items.
func (a *responseAnswer) emitState(event string) {
	a.emitResponse(event, a.head,
		[]byte(`in_progress","error":null,"incomplete_details":null,"output":[],"usage":null}`))
}

// emitResponse emits an event with a Response, which may come in pieces.
func (a *responseAnswer) emitResponse(event string, doc ...[]byte) {
	if a.emit == nil {
		return
	}
	a.event(event)
	a.with(`,"response":`, doc...)
	a.send()
}

// event begins an event, which ends with send.
func (a *responseAnswer) event(name string) {
	a.buf = append(append(a.buf[:0], "event: "...), name...)
	a.buf = append(append(a.buf, "\ndata: {\"type\":\""...), name...)
	a.buf = strconv.AppendInt(append(a.buf, `","sequence_number":`...), a.seq, 10)
}

// itemEvent begins an event about the open item.
func (a *responseAnswer) itemEvent(name, more string) {
	a.event(name)
	a.with(`,"item_id":"`, []byte(a.id), []byte(`"`))
	a.putIndex()
	a.buf = append(a.buf, more...)
}

func (a *responseAnswer) putIndex() {
	a.buf = strconv.AppendInt(append(a.buf, `,"output_index":`...), a.count, 10)
}

func (a *responseAnswer) with(key string, value ...[]byte) {
	a.buf = append(a.buf, key...)
	for _, v := range value {
		a.buf = append(a.buf, v...)
	}
}

func (a *responseAnswer) send() {
	a.seq++
	a.buf = append(a.buf, "}\n\n"...)
	a.emit(a.buf)
}

// appendItem appends the open item, with its text if full.
func (a *responseAnswer) appendItem(b []byte, status string, full bool) []byte {
	b = fmt.Appendf(b, `{"id":"%s","type":"%s","status":"%s"`, a.id, a.kind.name, status)
	var text []byte
	if full {
		text = a.text
	}
	switch a.kind {
	case messageKind:
		b = append(b, `,"role":"assistant"`...)
	case reasoningKind:
		b = append(b, `,"summary":[]`...)
		if full && a.req.sealed {
			b = openai.AppendString(append(b, `,"encrypted_content":`...), seal(string(a.plain)))
		}
	case callKind, customKind:
		b = append(fmt.Appendf(b, `,"call_id":"%s"`, responseCallID(a.callID)), a.toolMembers...)
		return append(append(fmt.Appendf(b, `,"%s":"`, a.kind.textKey), text...), `"}`...)
	}
	b = append(b, `,"content":[`...)
	if full {
		b = append(append(append(b, a.kind.part...), text...), `"}`...)
	}
	return append(b, "]}"...)
}

// responseHead returns the members of a Response in front of its status.
func responseHead(asked *responseParams, model string, created int64) []byte {
	b := fmt.Appendf(nil, `{"id":"%s","object":"response","created_at":%d,"model":`, newID("resp_"), created)
	b = openai.AppendString(b, model)
	b = append(b, `,"background":false,"instructions":null,"previous_response_id":null,"store":false,"tools":[]`...)
	return append(append(b, asked.echo...), `,"status":"`...)
}

// failure returns code and message of an error. Agents try again only after two codes of OpenAI, so a fault
// of a server gets one of those, and its own code in the message.
func failure(e *openai.Error) (code, message string) {
	code = cmp.Or(e.Code, e.Type)
	if e.Status < 500 {
		return code, e.Late()
	}
	return "server_error", e.Late() + " (" + code + ")"
}

// document returns the whole Response.
func (a *responseAnswer) document(o ending) []byte {
	b := append(make([]byte, 0, len(a.head)+len(a.items)+512), a.head...)
	b = append(append(b, o.status...), `","error":`...)
	if o.err == nil {
		b = append(b, "null"...)
	} else {
		code, message := failure(o.err)
		b = openai.AppendString(append(b, `{"code":`...), code)
		b = append(openai.AppendString(append(b, `,"message":`...), message), '}')
	}
	b = append(b, `,"incomplete_details":`...)
	if o.incomplete == "" {
		b = append(b, "null"...)
	} else {
		b = append(append(append(b, `{"reason":"`...), o.incomplete...), `"}`...)
	}
	b = append(append(append(b, `,"output":[`...), a.items...), `],"usage":`...)
	if o.usage == nil {
		b = append(b, "null"...)
	} else {
		n := responseUsage(o.usage)
		b = fmt.Appendf(b, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`, n[0], n[1], n[2], n[3], n[4])
	}
	if o.run != nil {
		b = append(append(b, `,"executor_metadata":`...), o.run...)
	}
	return append(b, '}')
}

// The ids of our calls are letters and digits in chat completions. OpenClaw writes every id of the Responses
// API anew that does not begin with call_, and then the call is not known any more.
const (
	chatPrefix     = "call"
	responsePrefix = "call_"
	callIDLetters  = 26 // after the prefix
)

// newID returns a fresh id with this prefix.
func newID(prefix string) string { return prefix + strings.TrimPrefix(openai.NewCallID(), chatPrefix) }

// responseCallID turns the id of a call into the form for callers of the Responses API.
func responseCallID(id string) string { return responsePrefix + strings.TrimPrefix(id, chatPrefix) }

// chatCallID turns our id of a call, a JSON string, back into the form of chat completions. Other ids stay
// as they are.
func chatCallID(id []byte) []byte {
	ours, ok := bytes.CutPrefix(id, []byte(`"`+responsePrefix))
	if !ok || len(ours) != callIDLetters+len(`"`) ||
		!openai.OwnCallID(chatPrefix+string(ours[:callIDLetters])) {
		return id
	}
	return append([]byte(`"`+chatPrefix), ours...)
}

// sealPrefix marks our encrypted_content among that of other servers.
const sealPrefix = "gpt-oss."

// seal encodes a chain of thought for clients that keep encrypted_content and nothing else of a reasoning
// item. It need not be secret: the item shows the text, too.
func seal(thought string) string {
	return sealPrefix + base64.StdEncoding.EncodeToString([]byte(thought))
}

// unseal decodes a chain of thought that a client sends back; false: it is not ours.
func unseal(content string) (string, bool) {
	ours, ok := strings.CutPrefix(content, sealPrefix)
	if !ok {
		return "", false
	}
	thought, err := base64.StdEncoding.DecodeString(ours)
	return string(thought), err == nil
}
