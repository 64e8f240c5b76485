// Package noise draws turns of gpt-oss, writes them in Harmony, damages them as models and servers do,
// and judges what a parser reads. It is pure: a seed decides everything, so a case stays the same within
// a version.
package noise

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Class is the worst effect of a tool.
type Class string

// The classes, from harmless to harmful.
const (
	Reads    Class = "reads"
	Writes   Class = "writes"
	Executes Class = "executes"
)

// Tool is an offered tool. All its parameters are required.
type Tool struct {
	Name   string
	About  string
	Class  Class
	Params []Param
}

// Param is one argument of a tool; its kind decides which values are drawn.
type Param struct {
	Name string
	Kind string
}

// Standing is what a reader owes for a call that the model meant.
type Standing string

// The standings, from the strongest claim to the weakest.
const (
	Must  Standing = "must"  // read, with exactly these arguments
	May   Standing = "may"   // read so, or refused with a reason; never otherwise
	Never Standing = "never" // was cut: must not run
)

// Call is a call that the model meant.
type Call struct {
	Name     string
	Args     json.RawMessage
	Class    Class
	Standing Standing
}

// Case is a damaged reply with its truth.
type Case struct {
	Seed     uint64
	Model    string // empty: gpt-oss
	User     string
	Tools    []Tool
	Ops      []string // the damages that changed something, in order
	Negative string   // the kind of a reply without a call
	Truth    []Call
	Visible  []string // what the user must see
	Hidden   []string // what the user must not see
	Content  string
	Thoughts string
	Native   []Native
	Finish   string // stop, tool_calls, length, or empty if the stream broke
	Deltas   []Delta
}

// Native is a call in the server's own field, with its arguments as the server wrote them.
type Native struct {
	Name, Args string
	// object: the arguments are no text; flat: they stand beside the name
	Form string
}

// Delta is one piece of a streamed reply. Call is the number of a native call plus one.
type Delta struct {
	Content, Thoughts string
	Call              int
	Name, Args        string
}

// Options select the cases to draw.
type Options struct {
	Only, Without []string // ids of operators
	Chain         int      // number of damages; -1 draws 0 to 4
	Negatives     bool
	Mix           string  // id of a mix, in place of a chain
	Frames        []Frame // of another family, drawn by turns: their damages in place of those of gpt-oss
	Arguments     bool    // with Frames: also a damage of arguments
}

// Check reports invalid options.
func (o Options) Check() error {
	for _, id := range append(append([]string{}, o.Only...), o.Without...) {
		if !known(id) {
			return fmt.Errorf("operator %q: there is none; gpt-oss-executor noise ops lists them", id)
		}
		arguments := slices.ContainsFunc(argumentOps(), func(op Operator) bool { return op.ID == id })
		if strings.HasPrefix(id, framePrefix) != (len(o.Frames) > 0) && !(o.Arguments && arguments) {
			return fmt.Errorf("operator %q: with a family those that begin with %s, "+
				"with --arguments also those of arguments, and without a family all others",
				id, framePrefix)
		}
	}
	if o.Arguments && len(o.Frames) == 0 {
		return errors.New("--arguments goes with --family; without one, damages of arguments are drawn as all others")
	}
	if o.Mix != "" && !slices.ContainsFunc(Mixes(), func(m Mix) bool { return m.ID == o.Mix }) {
		return fmt.Errorf("mix %q: there is none; gpt-oss-executor noise ops lists them", o.Mix)
	}
	if o.Chain < -1 || o.Chain > 4 {
		return fmt.Errorf("chain of %d: it is 0 to 4, or -1 for any", o.Chain)
	}
	return nil
}

// New draws the case of a seed.
func New(seed uint64, o Options) Case {
	d := &draft{Rand: rand.New(rand.NewPCG(seed, 0x6e6f697365)), finish: "stop"}
	c := Case{Seed: seed}
	if o.Negatives {
		d.negative(&c)
	} else {
		d.turn(&c)
	}
	if n := uint64(len(o.Frames)); n > 0 {
		d.frame = &o.Frames[seed%n]
		c.Model, d.how = d.frame.Model, "frame"
	}
	c.Ops = d.damage(o)
	c.Truth, c.Visible, c.Hidden = d.calls, d.visible, d.hidden
	if d.loose {
		c.Hidden = nil
	}
	if d.frame != nil {
		c.Hidden = append(c.Hidden, d.frame.marks()...)
	}
	c.Content, c.Thoughts, c.Native, c.Finish = d.content, d.thoughts, d.native, d.finish
	c.Deltas = d.chunks()
	return c
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// quote writes a value as JSON without escaping HTML.
func quote(v any) string {
	if text, is := v.(raw); is {
		return string(text)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
