package sidecar

import (
	"bytes"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// usualRoleWait is how long a reply that has begun may be silent before the role chunk is sent in its
// place.
const usualRoleWait = 30 * time.Millisecond

// sinkConfig configures a sink of events, or of the Responses API.
type sinkConfig struct {
	Params    *responseParams // of the Responses API
	Model     string          // that the caller asked for: every chunk names it
	Stream    bool            // the caller wants events
	Usage     bool            // the caller wants a usage chunk
	Keepalive time.Duration   // the longest silence for the caller
	Idle      time.Duration   // the caller may take no bytes for so long
	RoleWait  time.Duration   // usualRoleWait, but in tests
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// streamSink answers as a stream of events. It implements turn.Sink.
type streamSink struct {
	sinkConfig
	eventSink
	to          *openai.Stream
	roles       []int                // choices whose role has left
	early       []*openai.Completion // documents without choices that came before a role
	id          []byte               // of this stream, as JSON
	model       []byte               // as JSON
	edit        *editBuffer          // for the piece that is being taken
	doc         *openai.Completion   // of that piece
	choices     []*choice
	usageEvent  []byte // as it came
	usage       []byte // the object in it
	inlineUsage []byte // the object of an event with choices, or of a document
}

// eventSink is what sinks of both APIs share that send events.
type eventSink struct {
	timer *time.Timer // nil: no events leave

	mu      sync.Mutex // guards what follows, and the rest of the sink, against the timer
	wrote   bool       // an event was written since the last tick
	sent    bool       // text or a call has left
	gap     bool       // the next text does not continue what has left
	ended   bool
	earlier tokens // of earlier replies
	notice  bool   // the answer holds a sentence of ours
	run     []byte // what the answer says of its run; nil: nothing
}

// Stop ends the timer. Nothing is written afterwards.
func (o *eventSink) Stop() {
	if o.timer != nil {
		o.timer.Stop()
	}
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
}

// Sent reports whether text or a call has left.
func (o *eventSink) Sent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// newStream returns a stream of which nothing is sent yet. Stop must be called at its end.
func newStream(w http.ResponseWriter, c sinkConfig) *streamSink {
	id := "chatcmpl-" + openai.NewCallID()
	o := &streamSink{sinkConfig: c, to: openai.NewStream(w, id, c.Model, time.Now().Unix())}
	o.id, o.model = openai.AppendString(nil, id), openai.AppendString(nil, c.Model)
	o.to.WriteTimeout = c.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(c.Keepalive, o.tick) // may tick before it is assigned
	return o
}

// tick keeps the caller's timeouts from running out.
func (o *streamSink) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if !o.wrote || !o.roleSent(0) {
		o.sendRole(0)
		for _, c := range o.choices {
			c.release()
		}
		_ = o.to.KeepAlive() // a caller who has left is noticed by the context
	} else {
		_ = o.to.Flush()
	}
	o.wrote = false
	o.timer.Reset(o.Keepalive)
}

// roleSent reports whether the role of a choice has left.
func (o *streamSink) roleSent(choice int) bool { return slices.Contains(o.roles, choice) }

// sendRole sends the role of a choice, once.
func (o *streamSink) sendRole(choice int) {
	if !o.roleSent(choice) {
		o.noteRole(choice)
		_ = o.to.Delta(openai.Delta{Choice: choice, Role: "assistant"})
	}
}

// noteRole notes that the role of a choice leaves next, and sends what came before any role.
func (o *streamSink) noteRole(choice int) {
	o.roles = append(o.roles, choice)
	for _, c := range o.early {
		event := openai.AppendEdited([]byte("data: "), c.Doc, o.addNames(c, nil))
		_ = o.to.Raw(append(event, "\n\n"...))
	}
	o.early = nil
}

func (o *streamSink) Flows() bool { return true }

// Begin drops what is held of an earlier reply.
func (o *streamSink) Begin(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Head(web.Upstream, server)
	o.earlier.add(o.replyUsage())
	o.choices, o.early, o.usageEvent, o.usage, o.inlineUsage = nil, nil, nil, nil, nil
	o.gap = o.sent
	if !o.roleSent(0) {
		o.timer.Reset(o.RoleWait)
	}
}

// Take sends what may leave. An event without edits leaves as it came.
func (o *streamSink) Take(p *turn.Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.doc, o.run, o.edit = p.Doc, p.Run, editBuffers.Get().(*editBuffer)
	defer o.release()
	if p.Doc != nil {
		o.takeMeta(p)
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		o.choice(part.Choice).take(part, p)
	}
	if !p.More && o.to.Started() {
		_ = o.to.Flush()
	}
}

// takeMeta takes what a document holds beside choices.
func (o *streamSink) takeMeta(p *turn.Piece) {
	c := p.Doc
	if p.Raw == nil { // a document in place of a stream
		if c.Usage.Present() {
			o.inlineUsage = bytes.Clone(c.Usage.Of(c.Doc))
		}
		return
	}
	if len(o.choices) == 0 && !o.to.Started() && c.Created.Present() { // nothing has the id of ours yet
		if id, ok := openai.Text(c.Doc, c.ID); ok && id != "" {
			o.to.Adopt(c)
			o.id = append(o.id[:0], c.ID.Of(c.Doc)...)
		}
	}
	switch {
	case len(c.Choices) == 0 && c.Usage.Present():
		o.usageEvent, o.usage = bytes.Clone(o.edited(p.Raw, nil)), bytes.Clone(c.Usage.Of(c.Doc))
	case len(c.Choices) == 0 && !o.to.Started(): // an error may follow, and needs the status
		o.early = append(o.early, &openai.Completion{Doc: bytes.Clone(c.Doc), ID: c.ID, Model: c.Model})
	case len(c.Choices) == 0:
		_ = o.to.Raw(o.edited(p.Raw, nil))
	case c.Usage.Present():
		o.inlineUsage = bytes.Clone(c.Usage.Of(c.Doc))
	case c.Timings.Present():
		if usage := openai.UsageFromTimings(c.Doc, c.Timings); usage != nil {
			o.inlineUsage = usage
		}
	}
}

// replyUsage returns the usage object of this reply; nil: none has come.
func (o *streamSink) replyUsage() []byte {
	if o.usage != nil {
		return o.usage
	}
	return o.inlineUsage
}

// choice returns the state of a choice and makes it if needed.
func (o *streamSink) choice(index int) *choice {
	for _, c := range o.choices {
		if c.index == index {
			return c
		}
	}
	c := &choice{o: o, index: index}
	o.choices = append(o.choices, c)
	return c
}

// Called returns the ids of the calls that have left.
func (o *streamSink) Called(index int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.choice(index).ids
}

// Say adds a sentence to each choice without an answer, or makes it the answer.
func (o *streamSink) Say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notice = true
	if len(o.choices) == 0 {
		o.choice(0).unmet = true
	}
	for _, c := range o.choices {
		if c.unmet {
			o.gap = o.gap || c.shown
			c.emit([]parse.Event{{Kind: parse.Text, Text: text}})
			c.last, c.reason = nil, noticeFinish(c.reason)
		}
	}
}

// noticeFinish returns the finish_reason of a choice that ends with a sentence of ours. OpenClaw fails a
// turn on content_filter, and its user would not see the sentence.
func noticeFinish(reason string) string {
	if reason == "length" {
		return reason
	}
	return "stop"
}

// Finish sends the finish reasons, the usage and the end mark.
func (o *streamSink) Finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	clean, counted := true, false // counted: an event that left as it came says the usage
	for _, c := range o.choices {
		c.finish()
		clean, counted = clean && !c.changed, counted || bytes.Contains(c.last, o.inlineUsage)
	}
	if clean {
		o.Metrics.Untouch.Inc()
	}
	own := o.earlier.known || o.notice && o.replyUsage() == nil // no event of the server says it
	switch {
	case own && (o.Usage || o.usageEvent != nil):
		_ = o.to.Usage(o.earlier.addTo(o.replyUsage()), o.run)
	case o.usageEvent != nil:
		_ = o.to.Raw(o.usageEvent)
	case o.inlineUsage != nil && o.Usage && !counted:
		_ = o.to.Usage(o.inlineUsage, o.run)
	case o.run != nil:
		_ = o.to.Usage(nil, o.run)
	}
	_ = o.to.Done()
	return nil
}

// Fail ends the stream with an error, which it returns if nothing has left.
func (o *streamSink) Fail(e *openai.Error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if !o.to.Started() {
		return e
	}
	_ = o.to.Error(e)
	o.Log.Warn("stream failed", "event", "stream_failed", "status", e.Status, "code", e.Code, "detail", e.Log)
	return nil
}

// editBuffer holds the edits of one event. Streams share a pool of them, since they mostly wait.
type editBuffer struct {
	edits  []openai.Edit
	edited []byte
}

var editBuffers = sync.Pool{New: func() any { return new(editBuffer) }}

// release gives up the piece and its buffer.
func (o *streamSink) release() {
	if cap(o.edit.edited) <= maxPooled {
		clear(o.edit.edits)
		editBuffers.Put(o.edit)
	}
	o.doc, o.edit = nil, nil
}

// edited returns the event that is being taken with these edits and the names of this stream. It is valid
// until the next call or the end of Take.
func (o *streamSink) edited(raw []byte, edits []openai.Edit) []byte {
	c, e := o.doc, o.edit
	e.edits = o.addNames(c, append(e.edits[:0], edits...))
	if len(e.edits) == 0 {
		return raw
	}
	e.edited = openai.AppendEdited(append(e.edited[:0], "data: "...), c.Doc, e.edits)
	e.edited = append(e.edited, '\n', '\n')
	return e.edited
}

// addNames appends edits that give a chunk the id of this stream, since clients take another id for another
// reply, and the model that was asked for: OpenClaw tells its user of any other.
func (o *streamSink) addNames(c *openai.Completion, edits []openai.Edit) []openai.Edit {
	if c.ID.Present() && !bytes.Equal(c.ID.Of(c.Doc), o.id) {
		edits = append(edits, openai.Edit{Span: c.ID, With: o.id})
	}
	if c.Model.Present() && !bytes.Equal(c.Model.Of(c.Doc), o.model) {
		edits = append(edits, openai.Edit{Span: c.Model, With: o.model})
	}
	return edits
}
