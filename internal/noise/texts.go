package noise

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// textsJSON is what turns are made of.
//
//go:embed texts.json
var textsJSON []byte

// texts are the parts of turns.
type texts struct {
	Tools     []Tool              // those of OpenClaw, and others
	Values    map[string][]string // by kind: texts with what breaks readers, such as quotes and braces
	Talks     []talk
	Remarks   []string // said before a call that is made; they also fit one that is not
	Negatives []negative
	Led       []negative // their words do not tell that the call is none: one that only reads may be made
}

// talk is what is said around calls, in one language.
type talk struct{ User, Thought, Preamble, Answer string }

// negative is a kind of reply without a call: the user's message, and the text before, in and behind the
// part that looks like a call. {name}, {args} and {call} are filled in; {any} is a whole call in one of
// several forms.
type negative struct{ ID, User, Before, Middle, Behind string }

// written are the texts, read once.
var written = sync.OnceValue(func() (t texts) {
	if err := json.Unmarshal(textsJSON, &t); err != nil {
		panic(err) // the file is built in, and a test reads it
	}
	return t
})
