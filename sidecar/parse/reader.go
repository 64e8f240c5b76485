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
	// MaxText is how many bytes may be held back for one candidate; 0 is 256 KiB.
	MaxText int
	// MaxDepth is how deep arguments may nest; 0 is 256.
	MaxDepth int
	// Intact says that the server is not known to eat the header of the first thought: text
	// at the start leaves at once, unless it begins as thoughts do, where a Harmony strategy would hold it.
	Intact bool
	// Topic is what a user says who writes about calls.
	Topic []string
	// Data is what a user or a thought says where the answer is an object. A file name is none of it.
	Data []string
	// Formatted says that the request asks for an object as the answer.
	Formatted bool
	// Stops says that the request names texts that end the reply.
	Stops bool
	// Mentioned says that the request speaks of a tag, such as <reasoning>; nil: of none.
	Mentioned func(tag string) bool
	// Asked says that the model was asked what it meant: what is in doubt is text then.
	Asked bool
	// Judge says why a call may not leave, or nil, and may change its arguments. Without
	// it every call may leave.
	Judge func(*tools.Call) *tools.Refusal
}

// Reader reads one reply. It is not safe for concurrent use.
type Reader struct {
	s     *Strategies
	c     *tools.Catalog
	facts Facts

	content  text
	thinking *thinking // of the content; nil: the strategies know no literals around thoughts
	thought  thoughts
	native   []*NativeCall

	names *Names

	calls     bool      // the server says that the reply ends in a call
	ended     tools.End // what is known of the end of the reply
	done      bool
	aboutCall bool // the text speaks about a call
	torn      bool // a call was not whole where another message began
	found     int
	once      tools.Once
	spoken    tools.Once // calls of the text: what a server read of them, it may give again
	wasted    int        // bytes held back for candidates that were none
	spentAt   int        // the last candidate among them, by its offset in the field
	spentBy   *Strategy  // that held it
	events    []Event
	broken    bool // the next thought starts a new paragraph

	guard  *Guard // where names are offered that text must not call; else nil
	shown  scan.Joined
	mused  scan.Joined
	result Reading
}

// Reader begins to read a reply to a request that offers the tools in c.
func (s *Strategies) Reader(c *tools.Catalog, f Facts) *Reader {
	f.MaxText, f.MaxDepth = cmp.Or(f.MaxText, 256<<10), cmp.Or(f.MaxDepth, 256)
	r := &Reader{s: s, c: c, facts: f, names: NewNames(c)}
	if !c.Empty() && !c.Open() {
		r.guard = New(c)
	}
	r.content.init(r, Content)
	if s.inline != nil {
		r.thinking = &thinking{st: s.inline, calls: s.calls}
	}
	r.content.bare = s.harmony != nil
	r.content.held = r.content.bare && s.lead > 0 && (!f.Intact || len(s.thoughts) > 0)
	return r
}

// Feed takes in one delta and returns what may leave. The events are valid until
// the next call.
func (r *Reader) Feed(d Delta) []Event {
	r.events = r.events[:0]
	if d.Reasoning != "" {
		r.content.settle(Text) // the server tells thoughts and text apart
		r.think(d.Reasoning)
		r.answer(r.thinking.release(false, r.muse))
	}
	r.answer(r.thinking.feed(d.Content, false, false, r.muse))
	for _, c := range d.Calls {
		r.addNative(c)
	}
	return r.events
}

// answer reads the text of the content.
func (r *Reader) answer(s string) {
	if s != "" {
		r.content.feed(r.carry(s, false), false)
	}
}

// muse takes a thought that stood in the content.
func (r *Reader) muse(s string) {
	if s == "" {
		return
	}
	r.step(r.s.inline, Step{Field: Content, Outcome: Thinking, Note: "the thoughts of the model"})
	r.emit(Thought, s)
}

// Spoke says that text has left.
func (r *Reader) Spoke() bool { return r.shown.Len() > 0 }

// Holding says that bytes are held back.
func (r *Reader) Holding() bool {
	return len(r.content.pend) > 0 || r.content.inside != nil && len(r.content.inside.pend) > 0 ||
		len(r.content.lead) > 0 || r.thinking != nil && r.thinking.held != "" ||
		len(r.thought.held)+len(r.thought.early) > 0 || r.heldBack() > 0
}

// Leading says that unmarked text is held at the start of the reply, because it
// may be a thought whose header the server ate.
func (r *Reader) Leading() bool {
	return r.content.held && len(r.content.lead) > 0 ||
		r.thinking != nil && r.thinking.state == unmarked && r.thinking.held != ""
}

// Release lets a held lead leave as text: the caller has waited long enough.
func (r *Reader) Release() []Event {
	r.events = r.events[:0]
	r.answer(r.thinking.release(!r.facts.Intact, r.muse))
	r.content.letGo(Text)
	return r.events
}

// Close ends the reply. said is the server's finish_reason, or "".
func (r *Reader) Close(said string) (Reading, []Event) {
	r.events = r.events[:0]
	r.calls = openai.CallsFinish(said)
	finish, cut := openai.Finishing(said)
	r.torn = r.torn || cut == openai.ContentFilter || said == "error"
	switch {
	case finish != "stop":
		r.ended = tools.Cut
	case said == "":
		r.ended = tools.Unsaid
	}
	r.closeContent()
	r.takeNatives(len(r.native))
	r.closeThoughts()
	if r.found == 0 && len(r.result.Refused) == 0 {
		r.guess()
	}
	r.tellDenied()
	res := &r.result
	res.Content, res.Reasoning, res.Done = r.shown.String(), r.mused.String(), r.done
	res.Finish, res.Cut = finish, cut
	switch {
	case len(res.Calls) > 0:
		res.Finish = "tool_calls" // OpenClaw drops calls that come with "stop"
	case res.Cut != "" && res.Cut != openai.ContentFilter && scan.Blank(res.Content):
		res.Finish = "stop" // there is no text that lacks its end
	}
	return *res, r.events
}

// tellDenied says which calls were denied, in doubt, or behind others, beside those that leave. The model is
// not asked again then, and it reads here, with the results of the others, why one is
// missing.
func (r *Reader) tellDenied() {
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

// closeContent decides about all text that is still held.
func (r *Reader) closeContent() {
	r.answer(r.thinking.feed("", true, r.cut(), r.muse))
	r.content.feed(r.carry("", true), true)
	r.content.closeInside(r.ended)
	r.content.settle(Text)
	r.pass("", true)
}

// all is the text of one kind that has left.
func (r *Reader) all(k EventKind) *scan.Joined {
	if k == Text {
		return &r.shown
	}
	return &r.mused
}

// emit passes on text or a thought.
func (r *Reader) emit(k EventKind, s string) {
	switch {
	case s == "":
	case k == Text:
		r.pass(s, false)
	default:
		if r.broken && r.mused.Len() > 0 {
			s = "\n" + s
		}
		r.broken = false
		r.events = append(r.events, Event{Kind: k, Text: r.mused.Add(s)})
	}
}

// pass shows text to the user; with eof, all that was held back of it, too.
func (r *Reader) pass(s string, eof bool) {
	if r.guard != nil {
		s = r.guard.Pass(r.shown.String(), s, eof)
	}
	if s != "" {
		r.events = append(r.events, Event{Kind: Text, Text: r.shown.Add(s)})
	}
}

// heldBack is how much text is held because the gateway might read it as a call.
func (r *Reader) heldBack() int {
	if r.guard == nil {
		return 0
	}
	return r.guard.Held()
}

// waste counts what a strategy held back for a candidate at an offset of the field, once: in small pieces the
// same one is looked at again and again.
func (r *Reader) waste(st *Strategy, at, n int) {
	if at > r.spentAt || at == r.spentAt && st != r.spentBy {
		r.wasted, r.spentAt, r.spentBy = r.wasted+n, at, st
	}
}

// tired says that no more candidates are tried, because too much text was held back and
// was no call. Hostile text must not cost more than a few looks at all of it.
func (r *Reader) tired() bool { return r.wasted > 8*r.facts.MaxText }

// cut says that the reply was cut: at its token limit, or as Reading.Cut says.
func (r *Reader) cut() bool { return r.ended == tools.Cut }

// visible says that there is text for the user.
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

// allowed evaluates a strategy's condition for a candidate that stands at bytes
// from..to of a field. A condition that fails lets nothing through.
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

// PlainThought says of reasoning, as the raw JSON string it came in, that the reader
// would let it through as it is: it holds no markup and is no call. Then it need
// not be decoded; tell the reader with Reasoned that there was some.
func (r *Reader) PlainThought(raw []byte) bool {
	if !r.s.header.Alphabet.Plain(raw) || bytes.ContainsAny(raw, "{=") {
		return false
	}
	inside := bytes.TrimLeft(bytes.Trim(raw, `"`), " \t")
	return len(inside) > 0 && inside[0] != '[' && inside[0] != '\\'
}

// Reasoned tells the reader that the server sent reasoning apart from the text.
func (r *Reader) Reasoned() { r.content.settle(Text) }
