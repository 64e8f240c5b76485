package turn

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Sink is where a turn goes. Its methods are called one after the other, never two at a
// time.
type Sink interface {
	// Flows says that the caller watches: pieces leave while the reply is still read. It
	// is always the same.
	Flows() bool
	// Begin says that a reply of a model server begins: of this name where there are several,
	// else "". What was taken of an earlier one, and has not left, is void.
	Begin(server string)
	// Take takes the next piece of the reply.
	Take(*Piece)
	// Called gives the ids under which the calls of a choice leave. The choice has ended.
	Called(choice int) []string
	// Sent says that text or a call is with the caller already.
	Sent() bool
	// Say adds a sentence of our own to each choice whose reading is unmet, on a line of its
	// own where there is text already. Where no reply has begun, it is the answer.
	Say(text string)
	// Finish ends a good answer.
	Finish() error
	// Fail ends the answer with an error. It returns the error where nothing has left, so
	// that the caller gets its status.
	Fail(*openai.Error) error
}

// Piece is what one event of a reply says, or a whole document, and what was read in it.
// It and all that it points to are valid during the call of Take. A document alone stays
// until the next Begin, or the end of the turn.
type Piece struct {
	Doc   *openai.Completion // nil: nothing came; the reply has ended, or its text was held long enough
	Raw   []byte             // the event as it came, with its final empty line; nil where Doc is no event
	More  bool               // another event has come already
	Run   []byte             // what the answer says of the run that it is from, a JSON object; nil: nothing
	Parts []Part             // of each choice that it speaks of, and that had not ended
}

// speaks reports whether the model says something in it, or that it has ended.
func (p *Piece) speaks() bool {
	return p.Doc != nil && slices.ContainsFunc(p.Parts, func(part Part) bool {
		return part.Reading != nil || part.Delta.Content != "" || part.Delta.Reasoning != "" ||
			len(part.Delta.Calls) > 0
	})
}

// Part is what a piece means for one choice.
type Part struct {
	Choice  int            // its index
	Source  *openai.Choice // what the document says of it; nil where Piece.Doc is
	Delta   parse.Delta    // the same as text, thoughts and calls
	Quoted  *parse.Delta   // what an error of the server quotes of the model; nil: it is no error
	Events  []parse.Event  // what may leave now
	Holding bool           // some of the text is held back
	Leading bool           // it is held because it may be a thought
	Reading *parse.Reading // the choice has ended, and this is what was read; nil: it goes on
}
