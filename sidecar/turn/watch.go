package turn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Request is what watchers learn of a request before the model is asked.
type Request struct {
	ID        string          // may be ""
	Set       *ruleset.Set    // that serves it; an experiment replaces it by that of an arm
	Body      *openai.Request // nil: a run goes on without a caller
	Who       policy.Subject
	Run       string // that goes on; "": none
	Responses bool   // it came over the Responses API
}

// Watch starts to watch a request; nil: it does not.
type Watch func(context.Context, *Request) Watcher

// Watcher observes one request. Its methods return at once and change nothing that they get. There may be
// several turns, one after the other.
type Watcher interface {
	// Asked gets the request before the model does, and the run of executor mode; "": none.
	Asked(req *openai.Request, run string)
	// Listens reports whether Replied wants the words of replies.
	Listens() bool
	// Replied gets each choice of a reply that has ended.
	Replied(*Reply)
	// Ended gets the outcome of the request. It is called last.
	Ended(*Outcome)
}

// Outcome is what became of a request.
type Outcome struct {
	Account Account // zero: the request was refused before the model was asked
	Took    time.Duration
	Status  int    // of the answer
	Why     string // error of the answer; empty: none
}

// NewOutcome returns the outcome of a request that ended with this error.
func NewOutcome(a Account, began time.Time, err error) *Outcome {
	o := &Outcome{Account: a, Took: time.Since(began), Status: StatusOf(err)}
	var refused *openai.Error
	switch {
	case errors.As(err, &refused):
		o.Why = refused.Message
	case err != nil:
		o.Why = err.Error()
	}
	return o
}

// StatusOf returns the HTTP status of an answer that ended with this error.
func StatusOf(err error) int {
	var refused *openai.Error
	switch {
	case err == nil:
		return 200
	case errors.As(err, &refused):
		return refused.Status
	case errors.Is(err, io.EOF):
		return upstream.StatusClosed
	}
	return 500
}

// StartWatching returns a watcher for all that watch the request; nil: none does.
func StartWatching(ctx context.Context, list []Watch, r *Request) Watcher {
	var out watchers
	for _, watch := range list {
		if w := watch(ctx, r); w != nil {
			out = append(out, w)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return out
}

// watchers calls each of several.
type watchers []Watcher

func (w watchers) Asked(req *openai.Request, run string) {
	for _, each := range w {
		each.Asked(req, run)
	}
}

func (w watchers) Listens() bool { return slices.ContainsFunc(w, Watcher.Listens) }

func (w watchers) Replied(h *Reply) {
	for _, each := range w {
		each.Replied(h)
	}
}

func (w watchers) Ended(o *Outcome) {
	for _, each := range w {
		each.Ended(o)
	}
}

// Reply is a choice of a reply and what was read in it.
type Reply struct {
	Set     *ruleset.Set
	Server  string         // id of its dialect
	Style   string         // in which the model was asked
	Profile string         // in strategies.yaml
	IDs     []string       // of the calls that left
	Reading *parse.Reading // valid during the call, with all it points to

	// What follows is for watchers that listen.
	Facts     parse.Facts // of the reading, without its judge
	Tools     []tools.Tool
	Workspace string      // that the gateway names; empty: none
	Whole     parse.Delta // the reply as the server sent it, with its calls in pieces
	Thought   []byte      // reasoning that was not decoded, as JSON; nil: none
	Finish    string
	Lost      bool // it was too long to keep
}

// ReasoningOf returns the reasoning of a reply as the server sent it, from its encoded and decoded parts.
func ReasoningOf(whole *parse.Delta, encoded []byte) string {
	text, _ := openai.Text(encoded, openai.Span{To: len(encoded)})
	return text + whole.Reasoning
}

// maxTranscript is how much of a reply is kept for a watcher, in bytes.
const maxTranscript = 1 << 20

// transcript keeps the words of a choice.
type transcript struct {
	content, reasoning strings.Builder
	thought            []byte // reasoning that was not decoded, as JSON
	calls              []parse.CallDelta
	finish             string
	bytes              int
}

// transcribe keeps the words of a part, or those that an error quotes.
func (t *Turn) transcribe(piece *Piece, p *Part) {
	if !t.wantsWords || p.Source == nil && p.Quoted == nil || p.Choice < 0 || p.Choice >= maxTranscripts {
		return
	}
	for len(t.transcripts) <= p.Choice {
		t.transcripts = append(t.transcripts, transcript{})
	}
	e, delta, thought := &t.transcripts[p.Choice], &p.Delta, []byte(nil)
	switch {
	case p.Source == nil:
		delta = p.Quoted
	case p.Source.Reasoning.Skipped, delta.Reasoning == "" &&
		p.Source.Reasoning.Text != "": // or it was decoded when the piece had been read
		thought = p.Source.Reasoning.Value.Of(piece.Doc.Doc)
	}
	if p.Source != nil && p.Source.Finish != "" {
		e.finish = p.Source.Finish
	}
	if e.bytes += len(delta.Content) + len(delta.Reasoning) + len(thought); e.bytes > maxTranscript {
		return
	}
	e.content.WriteString(delta.Content)
	e.reasoning.WriteString(delta.Reasoning)
	e.thought = bytes.Clone(thought)
	for _, c := range delta.Calls {
		if e.bytes += len(c.Name) + len(c.Arguments); e.bytes > maxTranscript {
			return
		}
		c.Name, c.ID, c.Arguments = strings.Clone(c.Name), strings.Clone(c.ID), bytes.Clone(c.Arguments)
		e.calls = append(e.calls, c)
	}
}

// maxTranscripts bounds the choices whose words are kept.
const maxTranscripts = 8

// reportReply reports an ended choice to the watcher and the span of the turn.
func (t *Turn) reportReply(choice int, ids []string, r *parse.Reading) {
	var words *transcript
	if t.wantsWords && choice >= 0 && choice < len(t.transcripts) {
		words = &t.transcripts[choice]
	}
	t.traceReply(r, ids, words)
	if t.caller.Watch == nil {
		return
	}
	h := &Reply{Set: t.set, Server: t.srv.ID.Value, Style: styleID(t.style), Profile: t.profile(), IDs: ids,
		Reading: r}
	if t.wantsWords {
		h.Facts, h.Tools, h.Workspace = t.readFacts, t.offered, t.folder
		h.Facts.Judge, h.Facts.Mentioned = nil, nil // they hold the request
		if words != nil {
			h.Whole = parse.Delta{Content: words.content.String(), Reasoning: words.reasoning.String(),
				Calls: words.calls}
			h.Thought, h.Finish, h.Lost = words.thought, words.finish, words.bytes > maxTranscript
		}
	}
	t.caller.Watch.Replied(h)
}

// noteFirst notes when something of a reply could first leave.
func (t *Turn) noteFirst(p *Piece) {
	if t.account.First > 0 {
		return
	}
	for i := range p.Parts {
		if len(p.Parts[i].Events) > 0 {
			t.account.First = max(time.Since(t.planned), 1)
			return
		}
	}
}
