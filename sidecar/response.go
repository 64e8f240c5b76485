package sidecar

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// responseSink answers a caller of the Responses API, as events or as one document. It implements
// turn.Sink.
type responseSink struct {
	sinkConfig
	w     http.ResponseWriter
	since int64 // creation time, in Unix seconds
	eventSink
	to      openai.EventWriter
	answer  *responseAnswer
	shown   bool           // text of this reply was given
	ids     []string       // calls of this reply
	reading *parse.Reading // of this reply; nil: it has not ended
	finish  string         // why the reply ended
	usage   []byte         // that of chat completions
}

// newResponse returns an answer of which nothing is sent yet. Stop must be called at its end.
func newResponse(w http.ResponseWriter, c sinkConfig) *responseSink {
	o := &responseSink{sinkConfig: c, w: w, since: time.Now().Unix(), to: openai.NewEventWriter(w)}
	o.to.WriteTimeout = c.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = o.newAnswer()
	if c.Stream {
		o.timer = time.AfterFunc(c.Keepalive, o.tick) // may tick before it is assigned
	}
	return o
}

// newAnswer returns an answer without items.
func (o *responseSink) newAnswer() *responseAnswer {
	tell := o.write
	if !o.Stream {
		tell = nil
	}
	return newAnswer(o.Params, o.Model, o.since, tell)
}

// write writes an event. A caller who has left is noticed by the context.
func (o *responseSink) write(raw []byte) {
	_ = o.to.Raw(raw)
	o.wrote = true
}

// tick keeps the caller's timeouts from running out.
func (o *responseSink) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if !o.wrote {
		o.answer.Alive()
	}
	_ = o.to.Flush()
	o.wrote = false
	o.timer.Reset(o.Keepalive)
}

// Flows reports whether events leave as they come.
func (o *responseSink) Flows() bool { return o.Stream }

// Begin forgets the earlier reply, except for what has left.
func (o *responseSink) Begin(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Head(web.Upstream, server)
	o.earlier.add(o.usage)
	o.shown, o.ids, o.reading, o.finish, o.usage = false, nil, nil, "", nil
	if !o.Stream {
		o.answer = o.newAnswer()
		return
	}
	o.gap = o.sent
	o.answer.Break()
	if !o.to.Started() {
		o.timer.Reset(o.RoleWait)
	}
}

// Take sends what may leave of the first choice; the others have no place in a Response.
func (o *responseSink) Take(p *turn.Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = p.Run
	if p.Doc != nil {
		o.keepUsage(p.Doc)
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Choice != 0 {
			continue
		}
		if part.Reading != nil {
			o.reading, o.finish = part.Reading, part.Reading.Finish
		}
		if thought := skippedReasoning(p.Doc, part); thought != "" {
			o.answer.Thought(thought)
		}
		o.add(part.Events)
	}
	if !p.More && o.wrote {
		_ = o.to.Flush()
	}
}

func (o *responseSink) keepUsage(doc *openai.Completion) {
	switch {
	case doc.Usage.Present():
		o.usage = bytes.Clone(doc.Usage.Of(doc.Doc))
	case doc.Timings.Present():
		if usage := openai.UsageFromTimings(doc.Doc, doc.Timings); usage != nil {
			o.usage = usage
		}
	}
}

// skippedReasoning returns the reasoning of a whole reply for which the reader made no event.
func skippedReasoning(doc *openai.Completion, part *turn.Part) string {
	if part.Source == nil || part.Delta.Reasoning != "" {
		return ""
	}
	if part.Source.Reasoning.Skipped {
		text, _ := openai.Text(doc.Doc, part.Source.Reasoning.Value)
		return text
	}
	return part.Source.Reasoning.Text
}

// add adds events to the answer.
func (o *responseSink) add(events []parse.Event) {
	for _, e := range events {
		switch e.Kind {
		case parse.Thought:
			o.answer.Thought(e.Text)
		case parse.ToolCall:
			o.ids = append(o.ids, o.answer.Call(e.Call))
		case parse.Text:
			if isText(e) {
				o.shown = true
				if o.gap {
					o.gap = false
					o.answer.Text(separator)
				}
			}
			o.answer.Text(e.Text)
		}
	}
	o.sent = o.sent || o.Stream && (o.shown || len(o.ids) > 0)
}

// Called returns the ids of the calls that leave.
func (o *responseSink) Called(choice int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if choice != 0 {
		return nil
	}
	return o.ids
}

// Say adds a sentence to a reply without an answer, or makes it the answer.
func (o *responseSink) Say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading != nil && !o.reading.Unmet() {
		return
	}
	o.notice, o.gap = true, o.gap || o.shown
	o.add([]parse.Event{{Kind: parse.Text, Text: text}})
	o.finish = noticeFinish(o.finish)
}

func (o *responseSink) Finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.earlier.known || o.notice && o.usage == nil {
		o.usage = o.earlier.addTo(o.usage)
	}
	doc := o.answer.End(o.finish, o.usage, o.run)
	if o.Stream {
		_ = o.to.Flush()
		return nil
	}
	h := o.w.Header()
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(doc)))
	web.Send(o.w, doc, o.Idle)
	return nil
}

// Fail ends the answer with an error, which it returns if nothing has left.
func (o *responseSink) Fail(e *openai.Error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if !o.to.Started() {
		return e
	}
	o.answer.Fail(e)
	_ = o.to.Flush()
	o.Log.Warn("stream failed", "event", "stream_failed", "status", e.Status, "code", e.Code, "detail", e.Log)
	return nil
}
