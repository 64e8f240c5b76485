package parse

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Facts are what a reading may know of its request.
type Facts struct {
	Model  string
	Server string
	User   string
	// MaxText bounds the bytes held back for one candidate; 0 is 256 KiB.
	MaxText int
	// MaxDepth bounds the nesting of arguments; 0 is 256.
	MaxDepth int
	// Intact reports that the server is not known to remove the header of the first thought: text at the
	// start leaves at once unless it begins like a thought.
	Intact bool
	// Topic are words of users who write about calls.
	Topic []string
	// Data are words of users and thoughts that ask for an object. A file name is none.
	Data []string
	// Formatted reports that the request asks for an object as the answer.
	Formatted bool
	// Stops reports that the request names stop texts.
	Stops bool
	// Mentioned reports whether the request mentions a tag, such as <reasoning>; nil: none.
	Mentioned func(tag string) bool
	// Asked reports that the model was asked what it meant: what is in doubt is then text.
	Asked bool
	// Judge returns why a call may not leave, or nil, and may change its arguments. A nil Judge allows
	// every call.
	Judge func(*tools.Call) *tools.Refusal
}

// Reader reads one reply. It is not safe for concurrent use.
type Reader struct {
	s     *Strategies
	c     *tools.Catalog
	facts Facts

	content  text
	thinking *thinking // of the content; nil: no strategy has literals around thoughts
	thought  thoughts
	native   []*NativeCall

	names *Names

	calls     bool      // the server reports calls
	ended     tools.End // how the reply ends, as far as known
	done      bool
	aboutCall bool // the text is about a call
	torn      bool // a call was incomplete where another message began
	found     int
	made      tools.Calls
	spoken    tools.Calls // calls from text: a server may repeat them in its own field
	wasted    int         // bytes held back for candidates that were none
	spentAt   int         // offset of the last such candidate in the field
	spentBy   *Strategy   // its strategy
	events    []Event
	broken    bool // the next thought starts a new paragraph

	guard       *Guard // nil: no names are offered
	shown       scan.Joined
	thoughtText scan.Joined
	result      Reading
}

// Reader begins to read a reply to a request that offers the tools in c.
func (s *Strategies) Reader(c *tools.Catalog, f Facts) *Reader {
	f.MaxText, f.MaxDepth = cmp.Or(f.MaxText, 256<<10), cmp.Or(f.MaxDepth, 256)
	r := &Reader{s: s, c: c, facts: f, names: NewNames(c)}
	if !c.Empty() && !c.Open() {
		r.guard = newGuard(c)
	}
	r.content.init(r, Content)
	if s.thinking != nil {
		r.thinking = &thinking{st: s.thinking, calls: s.calls}
	}
	r.content.headerless = s.harmony != nil
	r.content.held = r.content.headerless && s.lead > 0 && (!f.Intact || len(s.thoughts) > 0)
	return r
}

// Feed adds a delta and returns what may leave. The events are valid until the next call.
func (r *Reader) Feed(d Delta) []Event {
	r.events = r.events[:0]
	if d.Reasoning != "" {
		r.content.settle(Text) // the server separates thoughts from text
		r.readReasoning(d.Reasoning)
		r.readContent(r.thinking.releaseHeld(false, r.addThought))
	}
	r.readContent(r.thinking.feed(d.Content, false, false, r.addThought))
	for _, c := range d.Calls {
		r.addNative(c)
	}
	return r.events
}

// readContent reads text of the content.
func (r *Reader) readContent(s string) {
	if s != "" {
		r.content.feed(r.joinReasoning(s, false), false)
	}
}

// addThought adds a thought that stood in the content.
func (r *Reader) addThought(s string) {
	if s == "" {
		return
	}
	r.step(r.s.thinking, Step{Field: Content, Outcome: Thinking, Note: "the thoughts of the model"})
	r.emit(Thought, s)
}

// Spoke reports whether text has left.
func (r *Reader) Spoke() bool { return r.shown.Len() > 0 }

// Holding reports whether bytes are held back.
func (r *Reader) Holding() bool {
	return len(r.content.pend) > 0 || r.content.inside != nil && len(r.content.inside.pend) > 0 ||
		len(r.content.lead) > 0 || r.thinking != nil && r.thinking.held != "" ||
		len(r.thought.held)+len(r.thought.early) > 0 || r.heldBack() > 0
}

// Leading reports whether unmarked text is held at the start because it may be a thought without its
// header.
func (r *Reader) Leading() bool {
	return r.content.held && len(r.content.lead) > 0 ||
		r.thinking != nil && r.thinking.state == unmarked && r.thinking.held != ""
}

// Release lets a held lead leave as text: the caller has waited long enough.
func (r *Reader) Release() []Event {
	r.events = r.events[:0]
	r.readContent(r.thinking.releaseHeld(!r.facts.Intact, r.addThought))
	r.content.releaseLead(Text)
	return r.events
}

// Close ends the reply. reason is the server's finish_reason, or "".
func (r *Reader) Close(reason string) (Reading, []Event) {
	r.events = r.events[:0]
	r.calls = openai.CallsFinish(reason)
	finish, cut := openai.Finishing(reason)
	r.torn = r.torn || cut == openai.ContentFilter || reason == "error"
	switch {
	case finish != "stop":
		r.ended = tools.Cut
	case reason == "":
		r.ended = tools.Unsaid
	}
	r.closeContent()
	r.takeNatives(len(r.native))
	r.closeThoughts()
	if r.found == 0 && len(r.result.Refused) == 0 {
		r.guess()
	}
	r.reportMissing()
	res := &r.result
	res.Content, res.Reasoning, res.Done = r.shown.String(), r.thoughtText.String(), r.done
	res.Finish, res.Cut = finish, cut
	switch {
	case len(res.Calls) > 0:
		res.Finish = "tool_calls" // OpenClaw drops calls that come with "stop"
	case res.Cut != "" && res.Cut != openai.ContentFilter && scan.Blank(res.Content):
		res.Finish = "stop" // no text lacks its end
	}
	return *res, r.events
}

// reportMissing tells the user about calls that were denied, in doubt or behind those, if others leave:
// the model is then not asked again, and reads here why one is missing.
func (r *Reader) reportMissing() {
	if r.found == 0 {
		return
	}
	for i := range r.result.Refused {
		switch f := &r.result.Refused[i]; {
		case f.Code == tools.Denied:
			r.emit(Text, fmt.Sprintf("\nThe call of %s was not made. %s\n", f.Name, f.ToPerson()))
		case f.Code == tools.Behind && !r.result.Made(f, r.c):
			r.emit(Text, fmt.Sprintf("\nThe call of %s was not made: %s.\n", f.Name, f.Why))
		case f.Code == tools.Unsure && !r.result.Made(f, r.c):
			r.emit(Text, fmt.Sprintf("\nThe call of %s was not made. It is not clear whether it was meant.\n",
				f.Name))
		}
	}
	r.pass("", true)
}

// closeContent decides about all text still held.
func (r *Reader) closeContent() {
	r.readContent(r.thinking.feed("", true, r.cut(), r.addThought))
	r.content.feed(r.joinReasoning("", true), true)
	r.content.closeInside(r.ended)
	r.content.settle(Text)
	r.pass("", true)
}

// sent returns the text of one kind that has left.
func (r *Reader) sent(k EventKind) *scan.Joined {
	if k == Text {
		return &r.shown
	}
	return &r.thoughtText
}

// emit passes on text or a thought.
func (r *Reader) emit(k EventKind, s string) {
	switch {
	case s == "":
	case k == Text:
		r.pass(s, false)
	default:
		if r.broken && r.thoughtText.Len() > 0 {
			s = "\n" + s
		}
		r.broken = false
		r.events = append(r.events, Event{Kind: k, Text: r.thoughtText.Add(s)})
	}
}

// pass shows text to the user; with eof, also what was held back.
func (r *Reader) pass(s string, eof bool) {
	if r.guard != nil {
		s = r.guard.Pass(r.shown.String(), s, eof)
	}
	if s != "" {
		r.events = append(r.events, Event{Kind: Text, Text: r.shown.Add(s)})
	}
}

// heldBack returns how much text is held because the gateway might read it as a call.
func (r *Reader) heldBack() int {
	if r.guard == nil {
		return 0
	}
	return r.guard.Held()
}

// countWasted counts the bytes held back for a candidate, once: a stream in small pieces looks at it
// repeatedly.
func (r *Reader) countWasted(st *Strategy, at, n int) {
	if at > r.spentAt || at == r.spentAt && st != r.spentBy {
		r.wasted, r.spentAt, r.spentBy = r.wasted+n, at, st
	}
}

// exhausted reports whether too much text was held back for candidates that were none. It bounds the
// cost of hostile text.
func (r *Reader) exhausted() bool { return r.wasted > 8*r.facts.MaxText }

// cut reports whether the reply was cut: at its token limit, or as Reading.Cut says.
func (r *Reader) cut() bool { return r.ended == tools.Cut }

// visible reports whether there is text for the user.
func (r *Reader) visible() bool { return r.shown.Len()+r.heldBack() > 0 }

func (r *Reader) call(c tools.Call) {
	r.found++
	r.result.Calls = append(r.result.Calls, c)
	r.events = append(r.events, Event{Kind: ToolCall, Call: &c})
}

func (r *Reader) refuse(f tools.Refusal) {
	r.result.Refused = append(r.result.Refused, f)
}

// step adds to the trace.
func (r *Reader) step(st *Strategy, s Step) {
	if st != nil {
		s.Strategy, s.Rule = st.ID, st.Place
	}
	r.result.Trace(s)
}

// allowed evaluates a strategy's condition for a candidate at from..to of a field. A condition with an
// error is false.
func (r *Reader) allowed(st *Strategy, f Field, from, to int, candidate string) bool {
	if st.When == nil {
		return true
	}
	env := Env{
		Text: strings.Clone(candidate), Field: string(f), Model: r.facts.Model, Server: r.facts.Server,
		User: r.facts.User, Tools: r.c.Names(),
	}
	ok, err := st.When(env)
	if err == nil && ok {
		return true
	}
	denied := Step{Field: f, From: from, To: to, Outcome: Refused,
		Note: "the strategy's condition does not hold", Denied: &env}
	if err != nil {
		denied.Error = err.Error()
	}
	r.step(st, denied)
	return false
}

// PlainThought reports whether raw, reasoning as a JSON string, has no markup and no call, so that the
// caller need not decode it. It then calls Reasoned.
func (r *Reader) PlainThought(raw []byte) bool {
	if !r.s.header.Alphabet.Plain(raw) || bytes.ContainsAny(raw, "{=") {
		return false
	}
	inside := bytes.TrimLeft(bytes.Trim(raw, `"`), " \t")
	return len(inside) > 0 && inside[0] != '[' && inside[0] != '\\'
}

// Reasoned notes that the server sent reasoning separately from the text.
func (r *Reader) Reasoned() { r.content.settle(Text) }
