package sidecar

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// opened tells of an item that begins.
func (a *responseAnswer) opened() {
	if a.tell == nil {
		return
	}
	a.event("response.output_item.added")
	a.place()
	a.buf = a.item(append(a.buf, `,"item":`...), "in_progress", false)
	a.send()
	if a.kind.part != "" {
		a.about("response.content_part.added", `,"content_index":0`)
		a.with(`,"part":`, []byte(a.kind.part), []byte(`"}`))
		a.send()
	}
}

// added tells what has just been added to the item.
func (a *responseAnswer) added() {
	if a.tell == nil {
		return
	}
	a.about(a.kind.delta, a.kind.more)
	a.with(`,"delta":`, a.quoted)
	a.send()
}

// ended tells of the item that ends.
func (a *responseAnswer) ended(item []byte) {
	if a.tell == nil {
		return
	}
	a.about(a.kind.done, a.kind.more)
	if a.kind == call {
		a.with("", a.called)
	}
	a.with(`,"`+a.kind.says+`":"`, a.text, []byte(`"`))
	a.send()
	if a.kind.part != "" {
		a.about("response.content_part.done", `,"content_index":0`)
		a.with(`,"part":`, []byte(a.kind.part), a.text, []byte(`"}`))
		a.send()
	}
	a.event("response.output_item.done")
	a.place()
	a.with(`,"item":`, item)
	a.send()
}

// state tells where the answer is, without its items.
func (a *responseAnswer) state(event string) {
	if a.tell == nil {
		return
	}
	a.event(event)
	a.with(`,"response":`, a.head,
		[]byte(`in_progress","error":null,"incomplete_details":null,"output":[],"usage":null}`))
	a.send()
}

// endWhole tells of the whole answer: it has ended.
func (a *responseAnswer) endWhole(event string, doc []byte) {
	if a.tell == nil {
		return
	}
	a.event(event)
	a.with(`,"response":`, doc)
	a.send()
}

// event begins an event. What it says follows, up to send.
func (a *responseAnswer) event(name string) {
	a.buf = append(append(a.buf[:0], "event: "...), name...)
	a.buf = append(append(a.buf, "\ndata: {\"type\":\""...), name...)
	a.buf = strconv.AppendInt(append(a.buf, `","sequence_number":`...), a.seq, 10)
}

// about begins an event of the item that is open.
func (a *responseAnswer) about(name, more string) {
	a.event(name)
	a.with(`,"item_id":"`, []byte(a.id), []byte(`"`))
	a.place()
	a.buf = append(a.buf, more...)
}

func (a *responseAnswer) place() {
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
	a.tell(a.buf)
}

// item is the item that is open: with its text, or as it begins.
func (a *responseAnswer) item(b []byte, status string, full bool) []byte {
	b = fmt.Appendf(b, `{"id":"%s","type":"%s","status":"%s"`, a.id, a.kind.name, status)
	var text []byte
	if full {
		text = a.text
	}
	switch a.kind {
	case message:
		b = append(b, `,"role":"assistant"`...)
	case reasoning:
		b = append(b, `,"summary":[]`...)
		if full && a.asked.sealed {
			b = openai.AppendString(append(b, `,"encrypted_content":`...), sealed(string(a.plain)))
		}
	case call, custom:
		b = append(fmt.Appendf(b, `,"call_id":"%s"`, outside(a.callID)), a.called...)
		return append(append(fmt.Appendf(b, `,"%s":"`, a.kind.says), text...), `"}`...)
	}
	b = append(b, `,"content":[`...)
	if full {
		b = append(append(append(b, a.kind.part...), text...), `"}`...)
	}
	return append(b, "]}"...)
}

// head is what a Response says of itself, up to its status.
func answerHead(asked *askedResponse, model string, created int64) []byte {
	b := fmt.Appendf(nil, `{"id":"%s","object":"response","created_at":%d,"model":`, newID("resp_"), created)
	b = openai.AppendString(b, model)
	b = append(b, `,"background":false,"instructions":null,"previous_response_id":null,"store":false,"tools":[]`...)
	return append(append(b, asked.echo...), `,"status":"`...)
}

// failure is the code of an error, and what it says. Agents try again after the two codes that OpenAI has
// for that, so a fault of a server has that one, and its own behind the message.
func failure(e *openai.Error) (code, message string) {
	code = cmp.Or(e.Code, e.Type)
	if e.Status < 500 {
		return code, e.Late()
	}
	return "server_error", e.Late() + " (" + code + ")"
}

// document is the whole Response.
func (a *responseAnswer) document(o outcome) []byte {
	b := append(make([]byte, 0, len(a.head)+len(a.items)+512), a.head...)
	b = append(append(b, o.status...), `","error":`...)
	if o.failed == nil {
		b = append(b, "null"...)
	} else {
		code, message := failure(o.failed)
		b = openai.AppendString(append(b, `{"code":`...), code)
		b = append(openai.AppendString(append(b, `,"message":`...), message), '}')
	}
	b = append(b, `,"incomplete_details":`...)
	if o.why == "" {
		b = append(b, "null"...)
	} else {
		b = append(append(append(b, `{"reason":"`...), o.why...), `"}`...)
	}
	b = append(append(append(b, `,"output":[`...), a.items...), `],"usage":`...)
	if o.usage == nil {
		b = append(b, "null"...)
	} else {
		n := answerTokens(o.usage)
		b = fmt.Appendf(b, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`, n[0], n[1], n[2], n[3], n[4])
	}
	if o.run != nil {
		b = append(append(b, `,"executor_metadata":`...), o.run...)
	}
	return append(b, '}')
}
