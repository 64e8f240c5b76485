// Package args reads the arguments of a call: it finds the object that the tool takes in a damaged text.
// The table of Ops pairs each damage with its undo. Reading is one bounded search over it, cheapest rows
// first and in any order, until the tool takes exactly one value. It completes no cut value, and leaves
// names and schemas to its Tool.
package args

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Tool is the tool that a call names.
type Tool interface {
	// Name returns the name of the tool.
	Name() string
	// Known reports whether its parameters are known.
	Known() bool
	// Harmless reports whether a wrong value does no harm, as the tool only reads.
	Harmless() bool
	// Denies reports whether words beside arguments may deny the call.
	Denies(words string) bool
	// Unsure reports whether repaired text may be another object.
	Unsure(found jsonrepair.Result, object string) bool
	// Sole returns the object of the one parameter that an unnamed value is meant for; raw: it is no
	// JSON.
	Sole(value string, raw bool) (object string, ok bool)
	// Accept returns the object of a reading if the tool takes it.
	Accept(r Reading) (object string, ok bool)
}

// Reading is a possible meaning of a text, and its certainty.
type Reading struct {
	Text   string
	Steps  []Step // undone damage, in order
	Cut    jsonrepair.Cut
	Proof  bool   // only a parameter of the tool proves it
	Open   bool   // the text has no end of its own: more may have followed
	Around string // dropped text around it
	Raw    bool   // no JSON: the value of one parameter
	Unsure bool   // it was guessed
	MadeUp bool   // a null stands for a missing value

	cost   int
	framed bool // something other than syntax was undone
}

// Step is one change of the text.
type Step struct {
	ID, From, To string
	At           int
}

// Did reports whether one of the rows was undone.
func (r *Reading) Did(ids ...string) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return slices.Contains(ids, s.ID) })
}

// Text is a text with damage, for a tool.
type Text struct {
	Tool
	string
	table Table
	depth int
	whole bool // valid JSON
	reads bool // the tool is harmless

	tried bool
	fixed jsonrepair.Result
	err   error
}

// repaired returns the text with its syntax repaired.
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
