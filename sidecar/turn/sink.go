package turn

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Sink takes the answer of a turn. Its methods are not called concurrently.
type Sink interface {
	// Flows reports whether pieces leave while the reply is read. It never changes.
	Flows() bool
	// Begin starts a reply of the named model server; "": there is only one. What was taken of an earlier
	// reply and has not left is void.
	Begin(server string)
	// Take takes the next piece of the reply.
	Take(*Piece)
	// Called returns the ids under which the calls of an ended choice leave.
	Called(choice int) []string
	// Sent reports whether text or a call is with the caller.
	Sent() bool
	// Say adds a sentence of ours, on a line of its own, to each choice without an answer. If no reply has
	// begun, it is the answer.
	Say(text string)
	// Finish ends a good answer.
	Finish() error
	// Fail ends the answer with an error. It returns the error if nothing has left, so that the caller gets
	// its status.
	Fail(*openai.Error) error
}

// Piece is one event of a reply, or a whole document, and what was read in it. It and all that it points to
// are valid during Take; a document stays until the next Begin or the end of the turn.
type Piece struct {
	Doc   *openai.Completion // nil: the reply has ended, or its text was held long enough
	Raw   []byte             // the event as it came, with its final empty line; nil: Doc is no event
	More  bool               // another event has arrived
	Run   []byte             // what the answer says of its run, a JSON object; nil: nothing
	Parts []Part             // one for each open choice that it is about
}

// speaks reports whether the piece has words of the model or its end.
func (p *Piece) speaks() bool {
	return p.Doc != nil && slices.ContainsFunc(p.Parts, func(part Part) bool {
		return part.Reading != nil || part.Delta.Content != "" || part.Delta.Reasoning != "" ||
			len(part.Delta.Calls) > 0
	})
}

// Part is what a piece means for one choice.
type Part struct {
	Choice  int            // its index
	Source  *openai.Choice // nil: Piece.Doc is
	Delta   parse.Delta    // Source as text, thoughts and calls
	Quoted  *parse.Delta   // words of the model in an error of the server; nil: it is no error
	Events  []parse.Event  // may leave now
	Holding bool           // some text is held back
	Leading bool           // it is held because it may be a thought
	Reading *parse.Reading // of the choice, which has ended; nil: it goes on
}
