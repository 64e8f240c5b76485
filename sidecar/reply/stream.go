// Package reply answers a caller, of chat completions or of Responses: as a stream of events, or
// as one document. Of chat completions, what needs no edit leaves as the bytes that came. It reads
// no reply itself and decides nothing: it is told by a turn.
package reply

import (
	"bytes"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// RoleWait is how long a reply that has begun may be silent before the caller gets the
// role chunk from us.
const RoleWait = 30 * time.Millisecond

// StreamConfig is what a stream is told before it begins.
type StreamConfig struct {
	Model     string        // that the caller asked for: every chunk names it
	Usage     bool          // the caller wants a usage chunk
	Keepalive time.Duration // the caller is left without an event at most for so long
	Idle      time.Duration // the caller may take no bytes for so long
	RoleWait  time.Duration // RoleWait, but for tests of what leaves as it came
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// Stream answers as a stream of events. It is a turn.Sink.
type Stream struct {
	StreamConfig
	timer *time.Timer

	mu      sync.Mutex // guards what follows against the timer
	to      *openai.Stream
	role    bool // the role chunk has left
	wrote   bool // something was written since the last tick
	sent    bool // text or a call has left
	gap     bool // the text that comes next does not continue what has left
	ended   bool
	id      []byte             // of this stream, as JSON
	model   []byte             // as JSON
	edit    *edit              // of the piece that is being taken
	doc     *openai.Completion // the same
	choices []*choice
	usage   []byte // the usage event as it came
	meant   []byte // a usage object that came inside another event
	run     []byte // what the answer says of the run that it is from; nil: nothing
}

// edit is the memory in which one event is edited. Streams wait most of their time, so they have none of their own.
type edit struct {
	edits  []openai.Edit
	edited []byte
}

var edits = sync.Pool{New: func() any { return new(edit) }}

// NewStream begins a stream. Nothing is sent yet. Stop must be called at its end.
func NewStream(w http.ResponseWriter, c StreamConfig) *Stream {
	id := "chatcmpl-" + openai.NewCallID()
	o := &Stream{StreamConfig: c, to: openai.NewStream(w, id, c.Model, time.Now().Unix())}
	o.id, o.model = openai.AppendString(nil, id), openai.AppendString(nil, c.Model)
	o.to.WriteTimeout = c.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(c.Keepalive, o.tick) // may tick before it is assigned
	return o
}

// Stop ends the timer. Nothing is written afterwards.
func (o *Stream) Stop() {
	o.timer.Stop()
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
}

// tick keeps the caller's timers from running out.
func (o *Stream) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if !o.wrote || !o.role {
		o.sendRole()
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

func (o *Stream) sendRole() {
	if !o.role {
		o.role = true
		_ = o.to.Delta(openai.Delta{Role: "assistant"})
	}
}

// Flows is true: events leave as they come.
func (o *Stream) Flows() bool { return true }

// Begin forgets what was held of an earlier reply.
func (o *Stream) Begin(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Head(web.Upstream, server)
	o.choices, o.usage, o.meant = nil, nil, nil
	o.gap = o.sent
	if !o.role {
		o.timer.Reset(o.RoleWait)
	}
}

// Take lets leave what may. An event that says nothing new to us leaves as it came.
func (o *Stream) Take(p *turn.Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.doc, o.run, o.edit = p.Doc, p.Run, edits.Get().(*edit)
	defer o.taken()
	if p.Doc != nil {
		o.head(p)
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		o.choice(part.Choice).take(part, p)
	}
	if !p.More && (p.Raw != nil || o.to.Started()) {
		_ = o.to.Flush()
	}
}

// taken lets go of the piece.
func (o *Stream) taken() {
	if cap(o.edit.edited) <= maxPooled {
		clear(o.edit.edits)
		edits.Put(o.edit)
	}
	o.doc, o.edit = nil, nil
}

// head takes what a document says beside its choices.
func (o *Stream) head(p *turn.Piece) {
	c := p.Doc
	if p.Raw == nil { // a document in place of a stream
		if c.Usage.Present() {
			o.meant = bytes.Clone(c.Usage.Of(c.Doc))
		}
		return
	}
	if !o.role && !o.to.Started() && c.ID.Present() && c.Created.Present() {
		o.to.Adopt(c)
		o.id = append(o.id[:0], c.ID.Of(c.Doc)...)
	}
	switch {
	case len(c.Choices) == 0 && c.Usage.Present():
		o.usage = bytes.Clone(o.ours(p.Raw, nil))
	case len(c.Choices) == 0:
		_ = o.to.Raw(o.ours(p.Raw, nil))
	case c.Usage.Present():
		o.meant = bytes.Clone(c.Usage.Of(c.Doc))
	case c.Timings.Present():
		if usage := openai.UsageFromTimings(c.Doc, c.Timings); usage != nil {
			o.meant = usage
		}
	}
}

// ours is the event that is being taken with these edits, with the id of this stream, since
// clients take chunks of another id for another reply, and with the model that was asked for:
// OpenClaw tells its user of any other. It is valid until the next one, or the end of Take.
func (o *Stream) ours(raw []byte, edits []openai.Edit) []byte {
	c, e := o.doc, o.edit
	edits = append(e.edits[:0], edits...)
	if id := c.ID.Of(c.Doc); c.ID.Present() && !bytes.Equal(id, o.id) {
		edits = append(edits, openai.Edit{Span: c.ID, With: o.id})
	}
	if c.Model.Present() && !bytes.Equal(c.Model.Of(c.Doc), o.model) {
		edits = append(edits, openai.Edit{Span: c.Model, With: o.model})
	}
	e.edits = edits
	if len(edits) == 0 {
		return raw
	}
	e.edited = openai.AppendEdited(append(e.edited[:0], "data: "...), c.Doc, edits)
	e.edited = append(e.edited, '\n', '\n')
	return e.edited
}

// choice finds the state of a choice, or begins it.
func (o *Stream) choice(index int) *choice {
	for _, c := range o.choices {
		if c.index == index {
			return c
		}
	}
	c := &choice{o: o, index: index}
	o.choices = append(o.choices, c)
	return c
}

// Called gives the ids of the calls that have left.
func (o *Stream) Called(index int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.choice(index).ids
}

// Left says whether text or a call has left.
func (o *Stream) Left() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// Say adds a sentence to each choice whose reading is unmet, or makes it the answer where no
// reply has begun.
func (o *Stream) Say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendRole()
	if len(o.choices) == 0 {
		o.choice(0).unmet = true
	}
	for _, c := range o.choices {
		if c.unmet {
			o.gap = o.gap || c.shown
			c.emit([]parse.Event{{Kind: parse.Text, Text: text}})
			c.last, c.reason = nil, spoken(c.reason)
		}
	}
}

// spoken is why a choice ended that now ends with a sentence of ours. OpenClaw fails a turn
// on content_filter, and nobody would read the sentence.
func spoken(reason string) string {
	if reason == "length" {
		return reason
	}
	return "stop"
}

// Finish sends how each choice ended, usage and the end mark.
func (o *Stream) Finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.sendRole()
	clean := true
	for _, c := range o.choices {
		c.finish()
		clean = clean && !c.changed
	}
	if clean {
		o.Metrics.Untouch.Inc()
	}
	switch {
	case o.usage != nil:
		_ = o.to.Raw(o.usage)
	case o.meant != nil && o.Usage:
		_ = o.to.Usage(o.meant, o.run)
	case o.run != nil:
		_ = o.to.Usage(nil, o.run)
	}
	_ = o.to.Done()
	return nil
}

// Fail ends the stream with an error. Before the headers it is an ordinary one.
func (o *Stream) Fail(e *openai.Error) error {
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
