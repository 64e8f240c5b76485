package sidecar

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// wholeSink answers with one JSON document: that of the model server, with as few edits as
// can be, or one of our own where it sent none. It is a turn.Sink.
type wholeSink struct {
	w       http.ResponseWriter
	model   string        // that the caller asked for
	idle    time.Duration // it may take no bytes for so long
	metrics *telemetry.Metrics

	doc     *openai.Completion // nil: the reply is no document
	answers []*answer
	usage   []byte // of a reply that is no document
	before  tokens // of the replies before this one
	own     bool   // a sentence of ours stands in the answer
	run     []byte // what it says of the run that it is from; nil: nothing
}

// answer is what one choice says.
type answer struct {
	index   int
	reading *parse.Reading
	calls   []openai.Call // with the ids under which they leave
	text    string        // for the user
	finish  string        // why it ended
}

// NewWhole prepares the answer; model is what the caller asked for, and idle how long it may take no bytes.
func NewWhole(w http.ResponseWriter, model string, idle time.Duration, m *telemetry.Metrics) *wholeSink {
	return &wholeSink{w: w, model: model, idle: idle, metrics: m}
}

// Flows is false: everything leaves at the end.
func (o *wholeSink) Flows() bool { return false }

// Stop has nothing to do.
func (o *wholeSink) Stop() {}

// Sent is false until the end.
func (o *wholeSink) Sent() bool { return false }

// Begin forgets the reply before.
func (o *wholeSink) Begin(server string) {
	if o.doc != nil && o.doc.Usage.Present() {
		o.usage = o.doc.Usage.Of(o.doc.Doc)
	}
	o.before.add(o.usage)
	if o.doc, o.answers, o.usage = nil, nil, nil; server != "" {
		o.w.Header().Set(web.Upstream, server)
	}
}

// Take keeps what the choices say that have ended.
func (o *wholeSink) Take(p *turn.Piece) {
	o.run = p.Run
	switch {
	case p.Doc == nil:
	case p.Raw == nil && len(p.Doc.Choices) > 0 && !slices.ContainsFunc(p.Doc.Choices, bodiless):
		o.doc = p.Doc
	case p.Doc.Usage.Present():
		o.usage = bytes.Clone(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Reading == nil {
			continue
		}
		a := &answer{index: part.Choice, reading: part.Reading, text: part.Reading.Content,
			finish: part.Reading.Finish}
		var chunk *openai.Choice // of the document
		if o.doc != nil {
			chunk = part.Source
		}
		a.calls = callsOf(chunk, part.Reading)
		o.answers = append(o.answers, a)
	}
}

// bodiless choices have no message in which an answer could stand.
func bodiless(ch openai.Choice) bool { return !ch.Body.Present() }

// callsOf gives the calls of a reading as they leave. One that the choice, which may be nil, holds
// as well has its id, if OpenClaw leaves that alone.
func callsOf(chunk *openai.Choice, r *parse.Reading) []openai.Call {
	calls, seen := make([]openai.Call, 0, len(r.Calls)), make(map[string]bool, len(r.Calls))
	for i := range r.Calls {
		c, id := &r.Calls[i], ""
		if chunk != nil && len(chunk.Calls) == len(r.Calls) && chunk.Calls[i].Name == c.Name &&
			bytes.Equal(chunk.Calls[i].Arguments, c.Arguments) {
			id = chunk.Calls[i].ID
		}
		if id == "" || openai.CleanCallID(id) != id || seen[id] {
			id = openai.NewCallID()
		}
		seen[id] = true
		calls = append(calls, openai.Call{Index: i, ID: id, Name: c.Name, Arguments: c.Arguments})
	}
	return calls
}

// Called gives the ids of the calls of a choice.
func (o *wholeSink) Called(choice int) (ids []string) {
	for _, a := range o.answers {
		if a.index == choice {
			for i := range a.calls {
				ids = append(ids, a.calls[i].ID)
			}
		}
	}
	return ids
}

// Say adds a sentence to each choice whose reading is unmet, or makes it the answer where no
// reply has begun.
func (o *wholeSink) Say(text string) {
	o.own = true
	if len(o.answers) == 0 {
		o.answers = []*answer{{reading: &parse.Reading{}}}
	}
	for _, a := range o.answers {
		switch {
		case !a.reading.Unmet():
			continue
		case a.reading.Empty():
			a.text = text
		default:
			a.text += apart + text
		}
		a.finish = spoken(a.finish)
	}
}

// apart stands between texts of which one does not continue the other.
const apart = "\n\n"

// Finish answers.
func (o *wholeSink) Finish() error {
	doc := o.doc
	if doc == nil {
		var err error
		if doc, err = o.made(); err != nil {
			return openai.Internal("make a document: " + err.Error())
		}
	}
	edits := o.edits(doc)
	if o.doc != nil && doc.Usage.Present() && o.before.asked {
		edits = append(edits, openai.Edit{Span: doc.Usage,
			With: o.before.with(bytes.Clone(doc.Usage.Of(doc.Doc)))})
	}
	if len(edits) == 0 {
		o.metrics.Untouch.Inc()
	}
	if name := openai.AppendString(nil, o.model); doc.Model.Present() && !bytes.Equal(doc.Model.Of(doc.Doc),
		name) {
		edits = append(edits, openai.Edit{Span: doc.Model, With: name})
	}
	body := doc.Doc
	if len(edits) > 0 {
		out := buffers.Get().(*bytes.Buffer)
		defer release(out)
		out.Grow(len(body) + 4<<10)
		body = openai.AppendEdited(out.AvailableBuffer(), doc.Doc, edits)
	}
	h := o.w.Header()
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	web.Send(o.w, body, o.idle)
	return nil
}

var jsonType = []string{"application/json"}

// buffers holds edited documents between answers.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept, in bytes.
const maxPooled = 1 << 20

func release(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}

// made is a document of our own without text and calls.
func (o *wholeSink) made() (*openai.Completion, error) {
	doc := fmt.Appendf(nil, `{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,"choices":[`,
		openai.NewCallID(), time.Now().Unix(), openai.AppendString(nil, o.model))
	for i, a := range o.answers {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = fmt.Appendf(doc, `{"index":%d,"message":{"role":"assistant","content":null},"finish_reason":null}`, a.index)
	}
	usage := o.usage
	if o.before.asked || o.own && usage == nil {
		usage = o.before.with(usage)
	} else if usage == nil {
		usage = []byte("null")
	}
	doc = fmt.Appendf(doc, `],"usage":%s`, usage)
	if o.run != nil {
		doc = fmt.Appendf(doc, `,"executor_metadata":%s`, o.run)
	}
	doc = append(doc, '}')
	var c openai.Completion
	return &c, c.Parse(doc)
}

// edits turn the document into the answer.
func (o *wholeSink) edits(doc *openai.Completion) (edits []openai.Edit) {
	for i, a := range o.answers {
		chunk, w := &doc.Choices[i], openai.Rewrite{Calls: a.calls}
		if a.text != chunk.Content.Text || chunk.Foreign {
			if cut, ok := dropped(doc, i, a.text); ok && !chunk.Foreign {
				edits = append(edits, cut) // most answers are only freed of what stands before them
			} else {
				w.Content = &a.text
			}
		}
		if a.reading.Reasoning != chunk.Reasoning.Text {
			w.Reasoning = &a.reading.Reasoning
		} else {
			edits = append(edits, doc.ReasoningEdits(chunk)...)
		}
		if a.finish != chunk.Finish {
			w.Finish = a.finish
		}
		edits = append(edits, doc.Edits(i, w)...)
	}
	return edits
}

// dropped is the edit that makes text of a choice's content, where text is its end.
func dropped(doc *openai.Completion, i int, text string) (openai.Edit, bool) {
	was := doc.Choices[i].Content.Text
	if !strings.HasSuffix(was, text) {
		return openai.Edit{}, false
	}
	return doc.DropPrefix(i, len(was)-len(text))
}

// Fail answers with the error.
func (o *wholeSink) Fail(e *openai.Error) error { return e }
