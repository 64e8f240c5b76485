package sidecar

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

const (
	// roleWait is how long a reply that has begun may be silent before the
	// caller gets the role chunk from us.
	roleWait = 30 * time.Millisecond
	// leadWait is how long text is held at the start of a reply because it may
	// be a thought whose header the server ate.
	leadWait = 200 * time.Millisecond
)

// streamed answers as a stream of events. mu guards everything below it against
// the timer, which keeps the caller's connection alive.
type streamed struct {
	t     *turn
	every time.Duration
	timer *time.Timer

	mu      sync.Mutex
	to      *openai.Stream
	role    bool // the role chunk has left
	wrote   bool // something was written since the last tick
	sent    bool // text or a call has left
	ended   bool
	id      []byte // of this stream, as JSON
	chunk   openai.Chunk
	choices []*choice
	usage   []byte // the usage event as it came
	meant   []byte // a usage object that came inside another event
}

func newStreamed(w http.ResponseWriter, t *turn, every time.Duration) *streamed {
	id := "chatcmpl-" + openai.NewCallID()
	o := &streamed{t: t, every: every, to: openai.NewStream(w, id, t.model.ID, time.Now().Unix())}
	o.id = openai.AppendString(nil, id)
	o.to.WriteTimeout = t.set.Limits.Idle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(every, o.tick) // may tick before it is assigned
	return o
}

// stop ends the timer. Nothing is written afterwards.
func (o *streamed) stop() {
	o.timer.Stop()
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
}

// tick keeps the caller's timers from running out.
func (o *streamed) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	for _, c := range o.choices {
		if c.reader.Leading() {
			c.leave(c.reader.Release())
		}
	}
	if !o.wrote || !o.role {
		o.sendRole()
		_ = o.to.KeepAlive() // a caller who has left is noticed by the context
	} else {
		_ = o.to.Flush()
	}
	o.wrote = false
	o.timer.Reset(o.every)
}

func (o *streamed) sendRole() {
	if !o.role {
		o.role = true
		_ = o.to.Delta(openai.Delta{Role: "assistant"})
	}
}

func (o *streamed) left() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// take reads one reply, event by event.
func (o *streamed) take(reply *upstream.Reply) (parse.Reading, error) {
	o.mu.Lock()
	o.choices, o.usage, o.meant = nil, nil, nil
	if !o.role {
		o.timer.Reset(roleWait)
	}
	o.mu.Unlock()
	switch {
	case reply.Recovered != nil:
		return o.takeRecovered(reply)
	case !reply.Stream:
		return o.takeWhole(reply)
	}
	limits := &o.t.set.Limits
	events := openai.NewEventReader(reply.Body, limits.LineBytes, limits.ReplyBytes)
	defer events.Close()
	err := o.events(events)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.close(err)
}

// events passes on the events of a stream until its end.
func (o *streamed) events(events *openai.EventReader) error {
	for {
		data, err := events.Next()
		if err != nil {
			return err
		}
		if openai.IsDone(data) {
			return nil
		}
		o.mu.Lock()
		err = o.event(data, events.Raw())
		if err == nil && !events.Buffered() {
			err = o.to.Flush()
		}
		o.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// event reads one event and lets leave what may. An event that says nothing new
// to us leaves as the bytes that came.
func (o *streamed) event(data, raw []byte) error {
	c := &o.chunk
	if err := c.Parse(data); err != nil {
		return errors.New("the upstream sent an event that is not JSON: " + err.Error())
	}
	if c.Err.Present() {
		return o.t.fault(bytes.Clone(data))
	}
	if !o.role && !o.to.Started() && c.ID.Present() && c.Model.Present() && c.Created.Present() {
		o.to.Adopt(c)
		o.id = append(o.id[:0], c.ID.Of(c.Doc)...)
	}
	if len(c.Choices) == 0 {
		if c.Usage.Present() {
			o.usage = bytes.Clone(o.ours(raw, nil))
			return nil
		}
		return o.to.Raw(o.ours(raw, nil))
	}
	if c.Usage.Present() {
		o.meant = bytes.Clone(c.Usage.Of(c.Doc))
	} else if c.Timings.Present() {
		if u, ok := openai.UsageFromTimings(c.Doc, c.Timings); ok {
			o.meant = u.JSON()
		}
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		o.choice(ch.Index).add(ch, raw, len(c.Choices) == 1)
	}
	return nil
}

// ours is the event that was read last with these edits, and with the id of this
// stream: clients take chunks of another id for another reply.
func (o *streamed) ours(raw []byte, edits []openai.Edit) []byte {
	c := &o.chunk
	if id := c.ID.Of(c.Doc); c.ID.Present() && !bytes.Equal(id, o.id) {
		edits = append(edits, openai.Edit{Span: c.ID, With: o.id})
	}
	if len(edits) == 0 {
		return raw
	}
	out := append([]byte("data: "), openai.Apply(c.Doc, edits)...)
	return append(out, '\n', '\n')
}

// choice finds the state of a choice, or begins it.
func (o *streamed) choice(index int) *choice {
	for _, c := range o.choices {
		if c.index == index {
			return c
		}
	}
	c := &choice{o: o, index: index, reader: o.t.strategies.Reader(o.t.catalog, o.t.facts)}
	o.choices = append(o.choices, c)
	return c
}

// close ends every choice and gives the reading that decides what becomes of the reply.
func (o *streamed) close(err error) (parse.Reading, error) {
	if errors.Is(err, io.EOF) { // without [DONE]: fine if the choices were finished
		err = nil
		if len(o.choices) == 0 || !slices.ContainsFunc(o.choices, func(c *choice) bool { return c.closed }) {
			err = errors.New("the stream ended before the reply did")
		}
	}
	if err != nil {
		return parse.Reading{}, err
	}
	if len(o.choices) == 0 {
		o.choice(0)
	}
	for _, c := range o.choices {
		c.end("")
	}
	if o.to.Started() {
		_ = o.to.Flush()
	}
	slices.SortFunc(o.choices, func(a, b *choice) int { return a.index - b.index })
	readings := make([]parse.Reading, len(o.choices))
	for i, c := range o.choices {
		readings[i] = c.reading
	}
	return o.t.deciding(readings), nil
}

// say adds a sentence to each choice that has nothing to show and nothing to run.
func (o *streamed) say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendRole()
	for _, c := range o.choices {
		if c.reading.Empty() {
			_ = o.to.Delta(openai.Delta{Choice: c.index, Content: text})
		}
	}
}

func (o *streamed) finish() error {
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
		o.t.s.metrics.Untouch.Inc()
	}
	switch {
	case o.usage != nil:
		_ = o.to.Raw(o.usage)
	case o.meant != nil && o.t.usage:
		_ = o.to.Usage(o.meant)
	}
	_ = o.to.Done()
	return nil
}

// fail ends the stream with an error. Before the headers it is an ordinary one.
func (o *streamed) fail(e *openai.Error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if !o.to.Started() {
		return e
	}
	_ = o.to.Error(e)
	o.t.s.log.Warn("stream failed", "event", "stream_failed", "status", e.Status, "code", e.Code, "detail", e.Log)
	return nil
}
