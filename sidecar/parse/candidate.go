package parse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Candidate is a text that may be a call, with the decision about it.
type Candidate struct {
	Field     string          `json:"field"` // of the reply
	At        int             `json:"at"`    // byte offset there
	Name      string          `json:"name"`  // of the tool, as written
	Tool      string          `json:"tool"`  // the tool that takes it; empty: none
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Class     tools.Class     `json:"class"`
	Form      Form            `json:"form"`
	Signs     Signs           `json:"signs"`
	Decision  Decision        `json:"decision"`
}

// Form is how a candidate is written.
type Form string

// The forms.
const (
	Tokens   Form = "tokens" // behind a header with control tokens, beside text
	Words    Form = "words"  // behind the words of a header whose control tokens are gone
	Named    Form = "name"   // the name of a tool, and arguments behind it
	Object   Form = "object" // a JSON object that names a tool
	Owned    Form = "own"    // as the model was trained to write a call
	Framed   Form = "frame"  // between the literals, or in the lines, of a strategy
	Borrowed Form = "family" // as models of another family write a call
)

// Signs are observations of a candidate and the text around it. Each one speaks against a call.
type Signs uint16

// The signs.
const (
	Quoted  Signs = 1 << iota // a sentence, a list or code surrounds it
	Open                      // the text in front may be a sentence that continues into it
	Led                       // the text in front ends with a colon or a question, and may be about it
	Behind                    // text follows it
	Topic                     // the user writes about calls
	Word                      // an unknown word stands between its parts
	Strange                   // unknown signs do
	Mended                    // the arguments were repaired to fit the tool's schema
)

// signNames are the names of the signs, in order.
var signNames = [...]string{"quoted", "open", "led", "behind", "topic", "word", "strange", "mended"}

// Has reports whether one of some is set.
func (s Signs) Has(some Signs) bool { return s&some != 0 }

// All returns the names of the signs.
func (s Signs) All() []string {
	list := []string{}
	for i, name := range signNames {
		if s.Has(1 << i) {
			list = append(list, name)
		}
	}
	return list
}

// MarshalJSON writes the names of the signs.
func (s Signs) MarshalJSON() ([]byte, error) { return json.Marshal(s.All()) }

// flaws counts the signs of damage.
func (s Signs) flaws() (n int) {
	for _, flaw := range [...]Signs{Word, Strange, Mended} {
		if s.Has(flaw) {
			n++
		}
	}
	return n
}

// Decision is the outcome for a candidate.
type Decision string

// The decisions.
const (
	Leave Decision = "text"  // it is text
	Ask   Decision = "asked" // the model is asked to call the tool as it should, or to answer
	Run   Decision = "call"  // it is a call
)

// decide returns the decision. If the text around the candidate may be about it, the model is asked. A
// tool that reads may be called with a flaw, and from an open sentence; any other needs a clean form
// that stands alone.
func (c *Candidate) decide() Decision {
	most := 1 // flaws that a form may have
	if c.Form == Named {
		most = 0
	}
	switch s := c.Signs; {
	case s.Has(Quoted):
		return Leave
	case c.Form == Owned && s.flaws() <= most:
		return Run
	case s.Has(Led), c.Form == Borrowed && c.Class != tools.Read:
		return Ask
	case c.Class == tools.Read && !(s.Has(Open) && s.flaws() > 0):
		return Run
	case s.Has(Open|Behind|Topic) || s.flaws() > most:
		return Ask
	}
	return Run
}

// Says explains the decision.
func (c *Candidate) Says() string {
	signs := "nothing speaks against it"
	if c.Signs > 0 {
		signs = strings.Join(c.Signs.All(), ", ")
	}
	return fmt.Sprintf("the tool is of class %s, the form is %s, %s", c.Class, c.Form, signs)
}

// Same reports whether two candidates are one text, looked at twice.
func (c *Candidate) Same(o *Candidate) bool {
	return c.At == o.At && c.Field == o.Field && c.Signs == o.Signs && c.Name == o.Name &&
		string(c.Arguments) == string(o.Arguments)
}

// accepts reports whether a text is the calls in it, in a form with signs around them. In doubt it sets
// t.doubted: record then refuses the calls, so that the model is asked what it meant.
func (t *text) accepts(form Form, signs Signs, calls ...Call) bool {
	t.doubted = false
	for _, call := range calls {
		c := t.candidate(form, signs, call)
		t.r.result.judge(c)
		switch {
		case c.Decision == Run:
		case c.Decision == Ask && t.field == Content && !t.r.facts.Asked:
			t.doubted, t.r.aboutCall = true, t.r.aboutCall || c.Signs.Has(Led|Behind|Topic)
		default:
			t.doubted = false
			return false
		}
	}
	return true
}

// unsureRefusal refuses a call that may not be meant as one.
func unsureRefusal(c tools.Call) *tools.Refusal {
	return &tools.Refusal{Code: tools.Unsure, Name: c.Name, Text: string(c.Arguments),
		Why: fmt.Sprintf("it is not clear whether %s shall be called: call it as a tool, or answer in words without its markup", c.Name)}
}

// mayBe reports whether a text with these signs may be calls, the last of which is cut.
func mayBe(form Form, signs Signs) bool {
	return !signs.Has(Quoted|Led) && !(form == Named && signs.Has(Open))
}

// candidate assesses a call in a form with signs around it.
func (t *text) candidate(form Form, signs Signs, call Call) Candidate {
	if t.r.facts.aboutCalls() {
		signs |= Topic
	}
	c := Candidate{Field: string(t.field), At: t.base, Name: strings.Clone(call.Name), Form: form}
	class, known := t.r.c.ClassOf(c.Name)
	// markup that a strategy knows was meant as a call
	if !known && form != Named && !signs.Has(Led|Behind) && !strings.HasPrefix(c.Name, tools.Parallel) {
		class = tools.Read
	}
	if c.Class = class; class == tools.Read && t.r.found > 0 { // the model calls: this is one more
		signs &^= Led
	}
	made, refusal := t.r.c.Call(c.Name, []byte(call.Args), tools.Ending{})
	c.Tool, c.Arguments = made.Name, made.Arguments
	if refusal != nil || string(made.Arguments) != strings.TrimSpace(call.Args) {
		signs |= Mended
	}
	c.Signs = signs
	c.Decision = c.decide()
	return c
}

// aboutCalls reports whether the user writes about calls.
func (f *Facts) aboutCalls() bool {
	user := strings.ToLower(f.User)
	return slices.ContainsFunc(f.Topic,
		func(word string) bool { return strings.Contains(user, strings.ToLower(word)) })
}
