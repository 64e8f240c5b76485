package sidecar

import (
	"bytes"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// responseConfig is what an answer of the Responses API is told before it begins.
type responseConfig struct {
	Asked     *askedResponse
	Model     string        // that the caller asked for
	Stream    bool          // it wants events
	Keepalive time.Duration // it is left without an event at most for so long
	Idle      time.Duration // it may take no bytes for so long
	RoleWait  time.Duration // RoleWait, but for tests of what leaves first
	Log       *slog.Logger
}

// responseSink answers a caller of the Responses API: as a stream of events, or as one document. Both
// are made by the same Answer. It is a turn.Sink.
type responseSink struct {
	responseConfig
	w     http.ResponseWriter
	since int64 // it was asked for, in Unix seconds
	timer *time.Timer

	mu      sync.Mutex // guards what follows against the timer
	to      openai.EventWriter
	answer  *responseAnswer
	wrote   bool // an event was told since the last tick
	ended   bool
	shown   bool           // text of this reply has been given
	sent    bool           // text or a call is with the caller
	gap     bool           // the text that comes next does not continue what has left
	ids     []string       // of the calls of this reply
	reading *parse.Reading // of this reply, once it has ended
	finish  string         // why
	usage   []byte         // as chat completions have it
	before  tokens         // of the replies before this one
	own     bool           // a sentence of ours stands in the answer
	run     []byte         // what the answer says of the run that it is from; nil: nothing
}

// newResponse begins an answer. Nothing is sent yet. Stop must be called at its end.
func newResponse(w http.ResponseWriter, c responseConfig) *responseSink {
	o := &responseSink{responseConfig: c, w: w, since: time.Now().Unix(), to: openai.NewEventWriter(w)}
	o.to.WriteTimeout = c.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = o.empty()
	if c.Stream {
		o.timer = time.AfterFunc(c.Keepalive, o.tick) // may tick before it is assigned
	}
	return o
}

// empty is an answer without items.
func (o *responseSink) empty() *responseAnswer {
	tell := o.event
	if !o.Stream {
		tell = nil
	}
	return newAnswer(o.Asked, o.Model, o.since, tell)
}

// event writes an event. A caller who has left is noticed by the context.
func (o *responseSink) event(raw []byte) {
	_ = o.to.Raw(raw)
	o.wrote = true
}

// Stop ends the timer. Nothing is written afterwards.
func (o *responseSink) Stop() {
	if o.timer != nil {
		o.timer.Stop()
	}
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
}

// tick keeps the caller's timers from running out.
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

// Flows says whether events leave as they come.
func (o *responseSink) Flows() bool { return o.Stream }

// Begin forgets the reply before, but for what has left.
func (o *responseSink) Begin(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Head(web.Upstream, server)
	o.before.add(o.usage)
	o.shown, o.ids, o.reading, o.finish, o.usage = false, nil, nil, "", nil
	if !o.Stream {
		o.answer = o.empty()
		return
	}
	o.gap = o.sent
	o.answer.Break()
	if !o.to.Started() {
		o.timer.Reset(o.RoleWait)
	}
}

// Take lets leave what may. Of several choices there is the first.
func (o *responseSink) Take(p *turn.Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = p.Run
	if p.Doc != nil {
		o.counted(p.Doc)
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Choice != 0 {
			continue
		}
		if part.Reading != nil {
			o.reading, o.finish = part.Reading, part.Reading.Finish
		}
		if thought := undecoded(p.Doc, part); thought != "" {
			o.answer.Thought(thought)
		}
		o.give(part.Events)
	}
	if !p.More && o.wrote {
		_ = o.to.Flush()
	}
}

// counted keeps what a document says of tokens.
func (o *responseSink) counted(doc *openai.Completion) {
	switch {
	case doc.Usage.Present():
		o.usage = bytes.Clone(doc.Usage.Of(doc.Doc))
	case doc.Timings.Present():
		if usage := openai.UsageFromTimings(doc.Doc, doc.Timings); usage != nil {
			o.usage = usage
		}
	}
}

// undecoded is the reasoning of a whole reply where the reader had no need of it: no event has it.
func undecoded(doc *openai.Completion, part *turn.Part) string {
	if part.Source == nil || part.Delta.Reasoning != "" {
		return ""
	}
	if part.Source.Reasoning.Skipped {
		text, _ := openai.Text(doc.Doc, part.Source.Reasoning.Value)
		return text
	}
	return part.Source.Reasoning.Text
}

// give gives events to the answer.
func (o *responseSink) give(events []parse.Event) {
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
					o.answer.Text(apart)
				}
			}
			o.answer.Text(e.Text)
		}
	}
	o.sent = o.sent || o.Stream && (o.shown || len(o.ids) > 0)
}

// Called gives the ids of the calls that leave.
func (o *responseSink) Called(choice int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if choice != 0 {
		return nil
	}
	return o.ids
}

// Sent says whether text or a call has left.
func (o *responseSink) Sent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// Say adds a sentence to a reply that is unmet, or makes it the answer where none has begun.
func (o *responseSink) Say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading != nil && !o.reading.Unmet() {
		return
	}
	o.own, o.gap = true, o.gap || o.shown
	o.give([]parse.Event{{Kind: parse.Text, Text: text}})
	o.finish = spoken(o.finish)
}

// Finish ends a good answer.
func (o *responseSink) Finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.before.asked || o.own && o.usage == nil {
		o.usage = o.before.with(o.usage)
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

// Fail ends the answer with an error. Before the headers it is an ordinary one.
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
