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

// usualRoleWait is how long a reply that has begun may be silent before the caller gets the
// role chunk from us.
const usualRoleWait = 30 * time.Millisecond

// streamConfig is what a stream is told before it begins.
type streamConfig struct {
	Model     string        // that the caller asked for: every chunk names it
	Usage     bool          // the caller wants a usage chunk
	Keepalive time.Duration // the caller is left without an event at most for so long
	Idle      time.Duration // the caller may take no bytes for so long
	RoleWait  time.Duration // RoleWait, but for tests of what leaves as it came
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// streamSink answers as a stream of events. It is a turn.Sink.
type streamSink struct {
	streamConfig
	timer *time.Timer

	mu      sync.Mutex // guards what follows against the timer
	to      *openai.Stream
	roles   []int                // the choices whose role has left
	early   []*openai.Completion // came before a role, and speak of no choice
	wrote   bool                 // something was written since the last tick
	sent    bool                 // text or a call has left
	gap     bool                 // the text that comes next does not continue what has left
	ended   bool
	id      []byte             // of this stream, as JSON
	model   []byte             // as JSON
	edit    *edit              // of the piece that is being taken
	doc     *openai.Completion // the same
	choices []*choice
	usage   []byte // the usage event as it came
	took    []byte // the usage object in it
	meant   []byte // a usage object that came inside another event
	before  tokens // of the replies before this one
	own     bool   // a sentence of ours stands in the answer
	run     []byte // what the answer says of the run that it is from; nil: nothing
}

// newStream begins a stream. Nothing is sent yet. Stop must be called at its end.
func newStream(w http.ResponseWriter, c streamConfig) *streamSink {
	id := "chatcmpl-" + openai.NewCallID()
	o := &streamSink{streamConfig: c, to: openai.NewStream(w, id, c.Model, time.Now().Unix())}
	o.id, o.model = openai.AppendString(nil, id), openai.AppendString(nil, c.Model)
	o.to.WriteTimeout = c.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(c.Keepalive, o.tick) // may tick before it is assigned
	return o
}

// Stop ends the timer. Nothing is written afterwards.
func (o *streamSink) Stop() {
	o.timer.Stop()
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
}

// tick keeps the caller's timers from running out.
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

// roleSent says that the role of a choice has left.
func (o *streamSink) roleSent(choice int) bool { return slices.Contains(o.roles, choice) }

// sendRole tells the role of a choice, once.
func (o *streamSink) sendRole(choice int) {
	if !o.roleSent(choice) {
		o.tells(choice)
		_ = o.to.Delta(openai.Delta{Choice: choice, Role: "assistant"})
	}
}

// tells notes that the role of a choice leaves next. What came before any leaves now.
func (o *streamSink) tells(choice int) {
	o.roles = append(o.roles, choice)
	for _, c := range o.early {
		event := openai.AppendEdited([]byte("data: "), c.Doc, o.names(c, nil))
		_ = o.to.Raw(append(event, "\n\n"...))
	}
	o.early = nil
}

// Flows is true: events leave as they come.
func (o *streamSink) Flows() bool { return true }

// Begin forgets what was held of an earlier reply.
func (o *streamSink) Begin(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to.Head(web.Upstream, server)
	o.before.add(o.counts())
	o.choices, o.early, o.usage, o.took, o.meant = nil, nil, nil, nil, nil
	o.gap = o.sent
	if !o.roleSent(0) {
		o.timer.Reset(o.RoleWait)
	}
}

// Take lets leave what may. An event that says nothing new to us leaves as it came.
func (o *streamSink) Take(p *turn.Piece) {
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
	if !p.More && o.to.Started() {
		_ = o.to.Flush()
	}
}

// head takes what a document says beside its choices.
func (o *streamSink) head(p *turn.Piece) {
	c := p.Doc
	if p.Raw == nil { // a document in place of a stream
		if c.Usage.Present() {
			o.meant = bytes.Clone(c.Usage.Of(c.Doc))
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
		o.usage, o.took = bytes.Clone(o.ours(p.Raw, nil)), bytes.Clone(c.Usage.Of(c.Doc))
	case len(c.Choices) == 0 && !o.to.Started(): // an error may follow, and needs the status
		o.early = append(o.early, &openai.Completion{Doc: bytes.Clone(c.Doc), ID: c.ID, Model: c.Model})
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

// counts is the usage object of this reply; nil: there is none yet.
func (o *streamSink) counts() []byte {
	if o.took != nil {
		return o.took
	}
	return o.meant
}

// choice finds the state of a choice, or begins it.
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

// Called gives the ids of the calls that have left.
func (o *streamSink) Called(index int) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.choice(index).ids
}

// Sent says whether text or a call has left.
func (o *streamSink) Sent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// Say adds a sentence to each choice whose reading is unmet, or makes it the answer where no
// reply has begun.
func (o *streamSink) Say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.own = true
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
// on content_filter, and its user would not see the sentence.
func spoken(reason string) string {
	if reason == "length" {
		return reason
	}
	return "stop"
}

// Finish sends how each choice ended, usage and the end mark.
func (o *streamSink) Finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	clean, counted := true, false // counted: an event that left as it came says the usage
	for _, c := range o.choices {
		c.finish()
		clean, counted = clean && !c.changed, counted || bytes.Contains(c.last, o.meant)
	}
	if clean {
		o.Metrics.Untouch.Inc()
	}
	own := o.before.asked || o.own && o.counts() == nil // no event of the server says it
	switch {
	case own && (o.Usage || o.usage != nil):
		_ = o.to.Usage(o.before.with(o.counts()), o.run)
	case o.usage != nil:
		_ = o.to.Raw(o.usage)
	case o.meant != nil && o.Usage && !counted:
		_ = o.to.Usage(o.meant, o.run)
	case o.run != nil:
		_ = o.to.Usage(nil, o.run)
	}
	_ = o.to.Done()
	return nil
}

// Fail ends the stream with an error. Before the headers it is an ordinary one.
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
