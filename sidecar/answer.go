package sidecar

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// responseAnswer is a Response as it grows, item by item: see newAnswer.
type responseAnswer struct {
	asked *askedResponse
	tell  func(event []byte) // nil: no listener
	head  []byte             // what the Response says of itself, up to its status
	seq   int64              // of the next event
	begun bool               // the first events are told
	buf   []byte             // the event that is made

	items []byte // those that have ended, with commas between
	count int64  // of them

	kind   *kind  // of the item that is open; nil: none is
	id     string // its id
	text   []byte // what it says so far, as the inside of a JSON string
	plain  []byte // the same as it is, if it goes out sealed
	callID string // of a call
	called []byte // the name of its tool, as members of the item
	quoted []byte // what is added to it
	blank  string // white space that waits for text: alone it is no item
}

// kind is a kind of item, and how events tell of it.
type kind struct {
	name, prefix string // of its id
	part         string // what its text stands in; "": the item itself
	says         string // under which name its events say all of the text
	delta, done  string // those events
	more         string // what they say, too
}

var (
	message = &kind{"message", "msg_", `{"type":"output_text","annotations":[],"logprobs":[],"text":"`,
		"text",
		"response.output_text.delta", "response.output_text.done", `,"content_index":0,"logprobs":[]`}
	// OpenClaw drops reasoning whose id begins with rs_, as OpenAI's does, where nothing is encrypted.
	reasoning = &kind{"reasoning", "rsn_", `{"type":"reasoning_text","text":"`, "text",
		"response.reasoning_text.delta", "response.reasoning_text.done", `,"content_index":0`}
	call = &kind{"function_call", "fc_", "", "arguments",
		"response.function_call_arguments.delta", "response.function_call_arguments.done", ""}
	custom = &kind{"custom_tool_call", "ctc_", "", "input",
		"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", ""}
)

// newAnswer is a Response without items, made at a time in Unix seconds by the model that was asked
// for. Each event goes to tell as soon as it is known, as server-sent events have it, and is valid
// during the call; tell may be nil.
func newAnswer(asked *askedResponse, model string, created int64, tell func(event []byte)) *responseAnswer {
	return &responseAnswer{asked: asked, tell: tell, head: answerHead(asked, model, created)}
}

// Begin tells that there will be an answer, once.
func (a *responseAnswer) Begin() {
	if !a.begun {
		a.begun = true
		a.state("response.created")
		a.state("response.in_progress")
	}
}

// Alive tells that the answer goes on. Callers take no notice of comments.
func (a *responseAnswer) Alive() {
	if !a.begun {
		a.Begin()
		return
	}
	a.state("response.in_progress")
}

// Text adds to what the user reads.
func (a *responseAnswer) Text(text string) {
	if a.kind != message {
		if text = a.blank + text; strings.TrimSpace(text) == "" {
			a.blank = text
			return
		}
		a.open(message)
	}
	a.add(text)
}

// Thought adds to the reasoning.
func (a *responseAnswer) Thought(text string) {
	if a.kind != reasoning {
		a.open(reasoning)
	}
	if a.asked.sealed {
		a.plain = append(a.plain, text...)
	}
	a.add(text)
}

// Call adds a call, and gives its id as the house knows it.
func (a *responseAnswer) Call(c *tools.Call) (id string) {
	a.Break()
	a.callID, a.called = openai.NewCallID(), nil
	t, known := a.asked.tools[c.Name]
	if !known {
		t.name = openai.AppendString(nil, c.Name)
	}
	if t.space != nil {
		a.called = append([]byte(`,"namespace":`), t.space...)
	}
	a.called = append(append(a.called, `,"name":`...), t.name...)
	if t.custom {
		a.open(custom)
		a.add(gjson.GetBytes(c.Arguments, customInput).String())
	} else {
		a.open(call)
		a.add(string(c.Arguments))
	}
	a.Break()
	return a.callID
}

// Break ends the item that is open: what comes next is another one.
func (a *responseAnswer) Break() { a.end("completed") }

// End ends the answer, and gives all of it. Why it ended, and usage, are as chat completions have
// them; usage and what is said of a run may be nil.
func (a *responseAnswer) End(finish string, usage, run []byte) []byte {
	o := outcome{status: "completed", usage: usage, run: run}
	switch finish {
	case "length":
		o.status, o.why = "incomplete", "max_output_tokens"
	case openai.ContentFilter:
		o.status, o.why = "incomplete", "content_filter"
	}
	return a.finish(o)
}

// Fail ends an answer that cannot go on.
func (a *responseAnswer) Fail(e *openai.Error) { a.finish(outcome{status: "failed", failed: e}) }

// outcome is how an answer ends.
type outcome struct {
	status     string
	why        string        // it is incomplete
	failed     *openai.Error // nil: it has not
	usage, run []byte
}

func (a *responseAnswer) finish(o outcome) []byte {
	last := o.status
	if last == "failed" {
		last = "incomplete"
	}
	a.end(last)
	a.Begin()
	doc := a.document(o)
	a.endWhole("response."+o.status, doc)
	return doc
}

// open begins an item.
func (a *responseAnswer) open(k *kind) {
	a.Break()
	a.Begin()
	a.kind, a.id, a.blank = k, newID(k.prefix), ""
	a.text, a.plain = a.text[:0], a.plain[:0]
	a.opened()
}

// add adds to the text of the item that is open.
func (a *responseAnswer) add(text string) {
	a.quoted = openai.AppendString(a.quoted[:0], text)
	a.text = append(a.text, a.quoted[1:len(a.quoted)-1]...)
	a.added()
}

// end ends the item that is open.
func (a *responseAnswer) end(status string) {
	if a.kind == nil {
		return
	}
	if a.count > 0 {
		a.items = append(a.items, ',')
	}
	from := len(a.items)
	a.items = a.item(a.items, status, true)
	a.ended(a.items[from:])
	a.kind = nil
	a.count++
}

// tokens is a usage object as Responses have it.
func answerTokens(chat []byte) [5]int64 {
	found := gjson.GetManyBytes(chat, "prompt_tokens", "prompt_tokens_details.cached_tokens",
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
