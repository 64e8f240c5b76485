package turn

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Watcher is told what becomes of one request. Its methods return at once, and change nothing
// that they are given. It may be asked for several turns, one after the other.
type Watcher interface {
	// Asked is told what the model is asked, before it is.
	Asked(*openai.Request)
	// Listens says that Heard wants the words of replies, too.
	Listens() bool
	// Heard is told of each choice of a reply that has ended.
	Heard(*Heard)
}

// Watchers are several as one; nil: there is none. None of them may be nil.
func Watchers(list ...Watcher) Watcher {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return watchers(list)
}

type watchers []Watcher

func (w watchers) Asked(req *openai.Request) {
	for _, each := range w {
		each.Asked(req)
	}
}

func (w watchers) Listens() bool { return slices.ContainsFunc(w, Watcher.Listens) }

func (w watchers) Heard(h *Heard) {
	for _, each := range w {
		each.Heard(h)
	}
}

// Heard is a choice of a reply, and what was made of it.
type Heard struct {
	Set     *ruleset.Set
	Server  string         // the id of its dialect
	Style   string         // in which the model was asked
	Profile string         // of strategies.yaml
	IDs     []string       // under which the calls left
	Reading *parse.Reading // and all it points to: valid during the call

	// What follows is for watchers that listen.
	Facts     parse.Facts // of the reading, without its judge
	Tools     []tools.Tool
	Workspace string      // where the gateway says that the agent works; empty: it does not
	Said      parse.Delta // the whole reply, as the server sent it; its calls in pieces
	Thought   []byte      // reasoning of Said that was not decoded, as JSON; nil: there is none
	Finish    string
	Lost      bool // it was too long to keep
}

// maxHeard is how much of a reply is kept for a watcher, in bytes.
const maxHeard = 1 << 20

// ear keeps the words of a choice.
type ear struct {
	content, reasoning strings.Builder
	thought            []byte // reasoning that was not decoded
	calls              []parse.CallDelta
	finish             string
	bytes              int
}

// hear keeps what a part of a piece says, or what an error quotes.
func (t *Turn) hear(piece *Piece, p *Part) {
	if !t.listens || p.Said == nil && p.Quoted == nil || p.Choice < 0 || p.Choice >= maxEars {
		return
	}
	for len(t.ears) <= p.Choice {
		t.ears = append(t.ears, ear{})
	}
	e, delta, thought := &t.ears[p.Choice], &p.Delta, []byte(nil)
	switch {
	case p.Said == nil:
		delta = p.Quoted
	case p.Said.Reasoning.Skipped, delta.Reasoning == "" &&
		p.Said.Reasoning.Text != "": // or it was decoded when the piece had been read
		thought = p.Said.Reasoning.Value.Of(piece.Doc.Doc)
	}
	if p.Said != nil && p.Said.Finish != "" {
		e.finish = p.Said.Finish
	}
	if e.bytes += len(delta.Content) + len(delta.Reasoning) + len(thought); e.bytes > maxHeard {
		return
	}
	e.content.WriteString(delta.Content)
	e.reasoning.WriteString(delta.Reasoning)
	e.thought = bytes.Clone(thought)
	for _, c := range delta.Calls {
		if e.bytes += len(c.Name) + len(c.Arguments); e.bytes > maxHeard {
			return
		}
		c.Name, c.ID, c.Arguments = strings.Clone(c.Name), strings.Clone(c.ID), bytes.Clone(c.Arguments)
		e.calls = append(e.calls, c)
	}
}

// maxEars is of how many choices the words are kept.
const maxEars = 8

// tellWatcher tells of a choice that has ended: the watcher, and the span of the turn.
func (t *Turn) tellWatcher(choice int, ids []string, r *parse.Reading) {
	var said *ear
	if t.listens && choice >= 0 && choice < len(t.ears) {
		said = &t.ears[choice]
	}
	t.traces(r, ids, said)
	if t.from.Watch == nil {
		return
	}
	h := &Heard{Set: t.set, Server: t.srv.ID.Value, Style: styleID(t.style), Profile: t.profile(), IDs: ids,
		Reading: r}
	if t.listens {
		h.Facts, h.Tools, h.Workspace = t.reads, t.offered, t.folder
		h.Facts.Judge, h.Facts.Mentioned = nil, nil // they hold the request
		if said != nil {
			h.Said = parse.Delta{Content: said.content.String(), Reasoning: said.reasoning.String(),
				Calls: said.calls}
			h.Thought, h.Finish, h.Lost = said.thought, said.finish, said.bytes > maxHeard
		}
	}
	t.from.Watch.Heard(h)
}

// moved notes when something of a reply could leave for the first time.
func (t *Turn) moved(p *Piece) {
	if t.account.First > 0 {
		return
	}
	for i := range p.Parts {
		if len(p.Parts[i].Events) > 0 {
			t.account.First = max(time.Since(t.since), 1)
			return
		}
	}
}
