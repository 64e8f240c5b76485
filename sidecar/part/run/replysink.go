package run

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// modelReply is one reply of the model.
type modelReply struct {
	parse.Reading
	ids      []string // of its calls
	usage    usage
	squeezed bool   // the request was too long at first
	sorry    string // a sentence of the rules that stands for an answer
	over     bool   // the run ends with it, and the work is not finished
	why      string
}

// replySink hears one turn. It is a turn.Sink. Thoughts go on to the caller as they come; text does
// not, since only the last reply is the answer.
type replySink struct {
	to    turn.Sink
	begun *bool // a reply of the run has begun
	reply modelReply
	spent usage // of the replies before, which were asked for again
}

// Flows says that the caller watches.
func (e *replySink) Flows() bool { return e.to.Flows() }

// Begin forgets the reply before. With the first one the answer of the run begins.
func (e *replySink) Begin(server string) {
	e.spent.add(e.reply.usage)
	e.reply = modelReply{}
	if !*e.begun {
		*e.begun = true
		e.to.Begin(server)
	}
}

// Take keeps what was read.
func (e *replySink) Take(p *turn.Piece) {
	if p.Doc != nil && p.Doc.Usage.Present() {
		e.reply.usage.take(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if thoughts := only(part.Events, parse.Thought); len(thoughts) > 0 && e.Flows() {
			e.to.Take(&turn.Piece{More: p.More, Parts: []turn.Part{{Events: thoughts}}})
		}
		if part.Reading != nil {
			e.reply.Reading = *part.Reading
			for j := range e.reply.Calls {
				e.reply.Calls[j].Arguments = bytes.Clone(e.reply.Calls[j].Arguments)
			}
		}
	}
}

func only(events []parse.Event, kind parse.EventKind) (out []parse.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Called gives new ids: they never leave this program.
func (e *replySink) Called(int) []string {
	for len(e.reply.ids) < len(e.reply.Calls) {
		e.reply.ids = append(e.reply.ids, openai.NewCallID())
	}
	return e.reply.ids
}

// Sent is false: what the caller has seen are thoughts.
func (e *replySink) Sent() bool { return false }

// Say takes a sentence of the rules for an answer.
func (e *replySink) Say(text string) { e.reply.Finish, e.reply.sorry = "stop", text }

// Finish has nothing to do.
func (e *replySink) Finish() error { return nil }

// Fail gives the error back: the run decides what becomes of it.
func (e *replySink) Fail(err *openai.Error) error { return err }

// usage is how many tokens went in and came out.
type usage struct {
	prompt, cached, completion, reasoning int
	context                               int // tokens of the last request and its reply
}

// take takes over the usage object of a reply. A later one of the same reply takes its place.
func (u *usage) take(doc []byte) {
	v := gjson.ParseBytes(doc)
	*u = usage{
		prompt: int(v.Get("prompt_tokens").Int()), completion: int(v.Get("completion_tokens").Int()),
		cached:    int(v.Get("prompt_tokens_details.cached_tokens").Int()),
		reasoning: int(v.Get("completion_tokens_details.reasoning_tokens").Int()),
	}
	u.context = u.prompt + u.completion
}

// add counts a further reply.
func (u *usage) add(more usage) {
	u.prompt += more.prompt
	u.cached += more.cached
	u.completion += more.completion
	u.reasoning += more.reasoning
	u.context = more.context
}

// json is the usage object of a run: all its requests together.
func (u *usage) json() []byte {
	return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.prompt, u.completion, u.prompt+u.completion, u.cached, u.reasoning)
}
