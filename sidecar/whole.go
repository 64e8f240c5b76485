package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// whole answers with one JSON document. What needs no edit is not touched.
type whole struct {
	w         http.ResponseWriter
	t         *turn
	doc       openai.Completion
	readings  []parse.Reading // of each choice
	edits     [][]openai.Edit // of each choice
	names     []openai.Edit   // of the reasoning's key
	rethought bool            // an edit writes the reasoning anew
	buf       *bytes.Buffer   // what doc was read into
}

// buffers holds the bodies of whole replies between requests.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept.
const maxPooled = 1 << 20

func release(b *bytes.Buffer) {
	if b != nil && b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}

func (o *whole) left() bool { return false }

// take reads one reply.
func (o *whole) take(reply *upstream.Reply) (parse.Reading, error) {
	o.readings, o.edits, o.names, o.rethought = nil, nil, nil, false
	if reply.Recovered != nil || reply.Stream {
		return o.takeOther(reply)
	}
	doc, err := o.readReply(reply)
	if err != nil {
		return parse.Reading{}, err
	}
	if err := o.doc.ParseSkipping(doc, parse.PlainThought); err != nil {
		return parse.Reading{}, errors.New("the upstream's answer is not JSON: " + err.Error())
	}
	if o.doc.Err.Present() {
		return parse.Reading{}, o.t.fault(doc)
	}
	return o.read(), nil
}

// read reads every choice of the document and notes what must change.
func (o *whole) read() parse.Reading {
	for i := range o.doc.Choices {
		ch := &o.doc.Choices[i]
		r := o.t.strategies.Reader(o.t.catalog, o.t.facts)
		if ch.Reasoning.Skipped {
			r.Reasoned()
		}
		r.Feed(deltaOf(ch))
		reading, _ := r.Close(ch.Finish)
		o.thought(ch, &reading)
		o.note(i, ch, &reading)
	}
	if len(o.doc.Choices) == 0 {
		return parse.Reading{Finish: "stop"}
	}
	if !o.rethought {
		o.names = o.doc.ReasoningEdits()
	}
	return o.t.deciding(o.readings)
}

// thought decodes reasoning that was skipped, where it is needed after all.
func (o *whole) thought(ch *openai.Choice, r *parse.Reading) {
	if !ch.Reasoning.Skipped || len(r.Calls) == 0 && r.Reasoning == "" && !r.Empty() {
		return
	}
	ch.Reasoning.Text, _ = openai.Text(o.doc.Doc, ch.Reasoning.Value)
	ch.Reasoning.Skipped = false
	r.Reasoning = ch.Reasoning.Text + r.Reasoning
}

// note compares a reading with its choice.
func (o *whole) note(i int, ch *openai.Choice, r *parse.Reading) {
	var w openai.Rewrite
	var edits []openai.Edit
	changed := false
	if r.Content != ch.Content.Text {
		cut, ok := openai.Edit{}, strings.HasSuffix(ch.Content.Text, r.Content)
		if ok {
			cut, ok = o.doc.DropPrefix(i, len(ch.Content.Text)-len(r.Content))
		}
		if ok {
			edits = append(edits, cut) // most answers are only freed of what stands before them
		} else {
			w.Content, changed = &r.Content, true
		}
	}
	if r.Reasoning != ch.Reasoning.Text {
		w.Reasoning, changed = &r.Reasoning, true
		o.rethought = true
	}
	if r.Finish != ch.Finish {
		w.Finish, changed = r.Finish, true
	}
	ids := make([]string, 0, len(r.Calls))
	if calls, same := sameCalls(ch, r); !same {
		w.Calls, changed = calls, true
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
	} else {
		for k := range ch.Calls {
			ids = append(ids, ch.Calls[k].ID)
		}
	}
	o.t.count(r)
	o.t.remember(ids, r)
	if changed {
		edits = append(edits, o.doc.Edits(i, w)...)
	}
	o.readings, o.edits = append(o.readings, *r), append(o.edits, edits)
}

// sameCalls says whether the choice already holds exactly the calls of the
// reading, under ids that OpenClaw leaves alone; else it gives them.
func sameCalls(ch *openai.Choice, r *parse.Reading) ([]openai.Call, bool) {
	same := len(ch.Calls) == len(r.Calls)
	seen := make(map[string]bool, len(r.Calls))
	calls := make([]openai.Call, 0, len(r.Calls))
	for i := range r.Calls {
		c := &r.Calls[i]
		if same {
			was := &ch.Calls[i]
			same = was.Name == c.Name && was.Arguments == string(c.Arguments) && was.ID != "" &&
				openai.CleanCallID(was.ID) == was.ID && !seen[was.ID]
			seen[was.ID] = true
		}
		calls = append(calls, openai.Call{Index: i, ID: openai.NewCallID(), Name: c.Name, Arguments: string(c.Arguments)})
	}
	return calls, same
}

// takeOther reads a reply that is no document: one that came inside an error, or
// a stream although none was asked for.
func (o *whole) takeOther(reply *upstream.Reply) (parse.Reading, error) {
	r := o.t.strategies.Reader(o.t.catalog, o.t.facts)
	finish, usage := "", []byte("null")
	if reply.Recovered != nil {
		recovered(r, reply.Recovered)
	} else {
		var err error
		if finish, usage, err = o.gather(r, reply.Body); err != nil {
			return parse.Reading{}, err
		}
	}
	reading, _ := r.Close(finish)
	if reply.Recovered != nil && reading.Empty() && !reading.Denied() {
		return parse.Reading{}, reply.Failure
	}
	doc := fmt.Appendf(nil, `{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":null}],"usage":%s}`,
		openai.NewCallID(), time.Now().Unix(), openai.AppendString(nil, o.t.model.ID), usage)
	if err := o.doc.Parse(doc); err != nil {
		return parse.Reading{}, err
	}
	o.note(0, &o.doc.Choices[0], &reading)
	return reading, nil
}

// gather feeds the events of a stream to a reader.
func (o *whole) gather(r *parse.Reader, body io.Reader) (finish string, usage []byte, err error) {
	limits := &o.t.set.Limits
	events := openai.NewEventReader(body, limits.LineBytes, limits.ReplyBytes)
	defer events.Close()
	usage = []byte("null")
	var c openai.Chunk
	for {
		data, err := events.Next()
		if errors.Is(err, io.EOF) || err == nil && openai.IsDone(data) {
			return finish, usage, nil
		}
		if err != nil {
			return "", nil, err
		}
		if err := c.Parse(data); err != nil {
			return "", nil, err
		}
		if c.Err.Present() {
			return "", nil, o.t.fault(bytes.Clone(data))
		}
		if c.Usage.Present() {
			usage = bytes.Clone(c.Usage.Of(c.Doc))
		}
		for i := range c.Choices {
			if ch := &c.Choices[i]; ch.Index == 0 {
				r.Feed(deltaOf(ch))
				if ch.Finish != "" {
					finish = ch.Finish
				}
			}
		}
	}
}

// readReply reads the body of a reply into one buffer.
func (o *whole) readReply(reply *upstream.Reply) ([]byte, error) {
	if o.buf == nil {
		o.buf = buffers.Get().(*bytes.Buffer)
	}
	o.buf.Reset()
	if n, err := strconv.Atoi(reply.Header.Get("Content-Length")); err == nil && n > 0 && n < maxPooled {
		o.buf.Grow(n + bytes.MinRead)
	}
	if _, err := o.buf.ReadFrom(reply.Body); err != nil {
		return nil, err
	}
	return o.buf.Bytes(), nil
}

// say puts text into each choice that has nothing to show and nothing to run.
func (o *whole) say(text string) {
	for i := range o.readings {
		r := &o.readings[i]
		if !r.Empty() {
			continue
		}
		w := openai.Rewrite{Content: &text, Finish: r.Finish, Calls: []openai.Call{}}
		if r.Reasoning != o.doc.Choices[i].Reasoning.Text {
			w.Reasoning = &r.Reasoning
		}
		o.edits[i] = o.doc.Edits(i, w)
	}
}

// all are the edits of the document.
func (o *whole) all() []openai.Edit { return append(slices.Concat(o.edits...), o.names...) }

func (o *whole) finish() error {
	edits := o.all()
	if len(edits) == 0 {
		o.t.s.metrics.Untouch.Inc()
	}
	out := buffers.Get().(*bytes.Buffer)
	defer release(out)
	defer release(o.buf)
	body := o.doc.Doc
	if len(edits) > 0 {
		out.Grow(len(body) + 4<<10)
		body = openai.AppendEdited(out.AvailableBuffer(), o.doc.Doc, edits)
	}
	h := o.w.Header()
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = o.w.Write(body) // a caller who has left gets nothing
	return nil
}

var jsonType = []string{"application/json"}

func (o *whole) fail(e *openai.Error) error { return e }
