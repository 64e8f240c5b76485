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

// wholeSink answers with one JSON document: that of the model server with few edits, or one of our own
// where it sent none. It implements turn.Sink.
type wholeSink struct {
	w       http.ResponseWriter
	model   string        // that the caller asked for
	idle    time.Duration // the caller may take no bytes for so long
	metrics *telemetry.Metrics

	doc     *openai.Completion // nil: the reply is no document
	choices []*wholeChoice
	usage   []byte // of a reply that is no document
	earlier tokens // tokens of earlier replies
	notice  bool   // the answer holds a sentence of ours
	run     []byte // what the answer says of its run; nil: nothing
}

// wholeChoice is the answer of one choice.
type wholeChoice struct {
	index   int
	reading *parse.Reading
	calls   []openai.Call // with the ids that the caller gets
	text    string        // for the user
	finish  string        // why it ended
}

// NewWhole returns a sink for the model that the caller asked for. The caller may take no bytes for as long
// as idle.
func NewWhole(w http.ResponseWriter, model string, idle time.Duration, m *telemetry.Metrics) *wholeSink {
	return &wholeSink{w: w, model: model, idle: idle, metrics: m}
}

func (o *wholeSink) Flows() bool { return false }

func (o *wholeSink) Stop() {}

func (o *wholeSink) Sent() bool { return false }

// Begin forgets the earlier reply.
func (o *wholeSink) Begin(server string) {
	if o.doc != nil && o.doc.Usage.Present() {
		o.usage = o.doc.Usage.Of(o.doc.Doc)
	}
	o.earlier.add(o.usage)
	if o.doc, o.choices, o.usage = nil, nil, nil; server != "" {
		o.w.Header().Set(web.Upstream, server)
	}
}

// Take keeps the choices that have ended.
func (o *wholeSink) Take(p *turn.Piece) {
	o.run = p.Run
	switch {
	case p.Doc == nil:
	case p.Raw == nil && len(p.Doc.Choices) > 0 && !slices.ContainsFunc(p.Doc.Choices, lacksBody):
		o.doc = p.Doc
	case p.Doc.Usage.Present():
		o.usage = bytes.Clone(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Reading == nil {
			continue
		}
		a := &wholeChoice{index: part.Choice, reading: part.Reading, text: part.Reading.Content,
			finish: part.Reading.Finish}
		var chunk *openai.Choice // of the document
		if o.doc != nil {
			chunk = part.Source
		}
		a.calls = callsOf(chunk, part.Reading)
		o.choices = append(o.choices, a)
	}
}

func lacksBody(ch openai.Choice) bool { return !ch.Body.Present() }

// callsOf returns the calls of a reading as they leave. A call that the choice also holds keeps its id, if
// OpenClaw leaves that alone. chunk may be nil.
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

// Called returns the ids of the calls of a choice.
func (o *wholeSink) Called(choice int) (ids []string) {
	for _, a := range o.choices {
		if a.index == choice {
			for i := range a.calls {
				ids = append(ids, a.calls[i].ID)
			}
		}
	}
	return ids
}

// Say adds a sentence to each choice without an answer, or makes it the answer.
func (o *wholeSink) Say(text string) {
	o.notice = true
	if len(o.choices) == 0 {
		o.choices = []*wholeChoice{{reading: &parse.Reading{}}}
	}
	for _, a := range o.choices {
		switch {
		case !a.reading.Unmet():
			continue
		case a.reading.Empty():
			a.text = text
		default:
			a.text += separator + text
		}
		a.finish = noticeFinish(a.finish)
	}
}

// separator stands between texts that do not continue each other.
const separator = "\n\n"

// Finish writes the document.
func (o *wholeSink) Finish() error {
	doc := o.doc
	if doc == nil {
		var err error
		if doc, err = o.newDocument(); err != nil {
			return openai.Internal("make a document: " + err.Error())
		}
	}
	edits := o.edits(doc)
	if o.doc != nil && doc.Usage.Present() && o.earlier.known {
		edits = append(edits, openai.Edit{Span: doc.Usage,
			With: o.earlier.addTo(bytes.Clone(doc.Usage.Of(doc.Doc)))})
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
		defer putBuffer(out)
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

// buffers are for edited documents.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the capacity of the largest buffer that is kept, in bytes.
const maxPooled = 1 << 20

func putBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}

// newDocument returns a document of our own without text and calls.
func (o *wholeSink) newDocument() (*openai.Completion, error) {
	doc := fmt.Appendf(nil, `{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,"choices":[`,
		openai.NewCallID(), time.Now().Unix(), openai.AppendString(nil, o.model))
	for i, a := range o.choices {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = fmt.Appendf(doc, `{"index":%d,"message":{"role":"assistant","content":null},"finish_reason":null}`, a.index)
	}
	usage := o.usage
	if o.earlier.known || o.notice && usage == nil {
		usage = o.earlier.addTo(usage)
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

// edits returns the edits that turn the document into the answer.
func (o *wholeSink) edits(doc *openai.Completion) (edits []openai.Edit) {
	for i, a := range o.choices {
		chunk, w := &doc.Choices[i], openai.Rewrite{Calls: a.calls}
		if a.text != chunk.Content.Text || chunk.Foreign {
			if cut, ok := prefixEdit(doc, i, a.text); ok && !chunk.Foreign {
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

// prefixEdit returns the edit that cuts the content of a choice down to text, if that is its end.
func prefixEdit(doc *openai.Completion, i int, text string) (openai.Edit, bool) {
	was := doc.Choices[i].Content.Text
	if !strings.HasSuffix(was, text) {
		return openai.Edit{}, false
	}
	return doc.DropPrefix(i, len(was)-len(text))
}

// Fail returns the error, since nothing has left.
func (o *wholeSink) Fail(e *openai.Error) error { return e }
