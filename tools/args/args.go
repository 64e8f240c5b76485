// Package args reads the arguments of a call: of a text that was damaged it finds the object that the
// tool's schema takes. What damages a text and what undoes that stand together in one table, the rows of
// Ops. Reading is one bounded search over it, the cheapest rows first and in any order, until the tool takes
// exactly one value. It completes no value that was cut. It knows no tool and no schema: who asks it does.
package args

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Tool is the tool that a call names.
type Tool interface {
	// Name is the name of the tool.
	Name() string
	// Known reports whether its parameters are known.
	Known() bool
	// Harmless reports whether a wrong value does no harm, since the tool only reads.
	Harmless() bool
	// Denies reports whether words beside arguments may say that no call is meant.
	Denies(words string) bool
	// Unsure reports whether what was repaired may be another object.
	Unsure(found jsonrepair.Result, object string) bool
	// Sole returns the object of the one parameter that a value without a name is meant for; raw: no JSON.
	Sole(value string, raw bool) (object string, ok bool)
	// Accept returns the object of a reading as the tool takes it, if it does.
	Accept(r Reading) (object string, ok bool)
}

// Reading is what a text may mean, and how far it can be trusted.
type Reading struct {
	Text   string
	Steps  []Step // what was undone, in order
	Cut    jsonrepair.Cut
	Proof  bool   // only a parameter of the tool shows that this is meant
	Open   bool   // the text has no end of its own: more may have been to come
	Around string // what was dropped before and behind it
	Raw    bool   // the text was no JSON: it is the value of one parameter
	Unsure bool   // what it says was guessed
	MadeUp bool   // null stands where the text has no value

	cost   int
	framed bool // something was undone but syntax
}

// Step is one change between a text and what it means.
type Step struct {
	ID, From, To string
	At           int
}

// Did reports whether one of the rows was undone.
func (r *Reading) Did(ids ...string) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return slices.Contains(ids, s.ID) })
}

// Text is a text whose damage is undone, for a tool.
type Text struct {
	Tool
	string
	table Table
	depth int
	whole bool // it is valid JSON
	reads bool // the tool is harmless

	tried bool
	fixed jsonrepair.Result
	err   error
}

// repaired is the text with its syntax repaired.
func (x *Text) repaired() (jsonrepair.Result, error) {
	if !x.tried {
		x.fixed, x.err = jsonrepair.Repair(x.string, x.depth)
		x.tried = true
	}
	return x.fixed, x.err
}

// valid reports whether text is one JSON value.
func valid(text string, depth int) bool {
	s := jsontext.Scanner{Doc: []byte(text), Depth: depth}
	s.Skip()
	return s.End() == nil
}
