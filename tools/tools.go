// Package tools knows tool calls: the names that a request offers, the arguments that their JSON Schemas
// allow, and how a damaged call becomes a correct one. It is pure: no network, files, clock, logger or
// context, and it never runs anything. Schemas are of drafts 4 to 2020-12; references are not fetched. A
// long result is shortened the same way each time, so that a server finds its prompt cache. Text in
// place of arguments is doubted: asking again costs a turn. A name that is merely near never becomes one
// that writes or executes.
package tools

import (
	"cmp"
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Tool is a function that a request offers to the model.
type Tool struct {
	Name        string          // as the caller spells it
	Parameters  json.RawMessage // JSON Schema of the arguments; nil: none given
	Description string          // for the model; only of tools that run here
}

// Result is the result of a call that ran here.
type Result struct {
	Text      string // for the model
	Failed    bool   // the call did not do its work
	Transient bool   // it failed before it began, and may succeed later
	Doubt     bool   // it may have taken effect
	After     int    // seconds to wait if Transient; 0: unknown
}

// Call is a call of an offered tool. Arguments is exactly one valid JSON object.
type Call struct {
	Name       string
	Arguments  json.RawMessage
	Repairs    []Repair // in order; empty for an undamaged call
	Strategy   string   // id of the reading that found it; set by the reader
	Confidence float64  // of that reading, 0..1
}

// Repair is one change from what the model wrote.
type Repair struct {
	Kind string `json:"kind"`           // stable code such as "name.alias", "json.quote", "args.rename"
	At   int    `json:"at"`             // byte offset in the damaged text
	From string `json:"from"`           // at most 80 bytes before
	To   string `json:"to"`             // at most 80 bytes after
	Rule string `json:"rule,omitempty"` // file:line of the rule, if there is one
}

// Mended converts changes of JSON syntax to repairs.
func Mended(changes []jsonrepair.Change) []Repair {
	out := make([]Repair, len(changes))
	for i, c := range changes {
		out[i] = Repair{Kind: c.Kind, At: c.At, From: c.From, To: c.To}
	}
	return out
}

// RefusalCode tells why text that looks like a call is none.
type RefusalCode string

// The refusals.
const (
	NotOffered RefusalCode = "not_offered" // no offered tool has this name
	Ambiguous  RefusalCode = "ambiguous"   // several offered tools may be meant
	BadName    RefusalCode = "bad_name"    // cleaning leaves nothing of the name
	BadJSON    RefusalCode = "bad_json"    // the arguments are not one JSON object
	Truncated  RefusalCode = "truncated"   // a value was cut
	BadSchema  RefusalCode = "bad_schema"  // the arguments violate the JSON Schema
	Unsure     RefusalCode = "unsure"      // a call, or a text that quotes one
	Behind     RefusalCode = "behind"      // behind a call that was refused or incomplete
	Denied     RefusalCode = "denied"      // by the policy
	Answer     RefusalCode = "answer"      // sent to a pseudo tool such as "json"
)

// Refusal is a call that is not made. Name is the offered name if one was found, else the name as
// written; Text is the arguments as written.
type Refusal struct {
	Code RefusalCode
	Name string
	Text string
	Why  string // one sentence for the model or an operator to act on

	Person string // Why for a person who can allow it; empty: Why
	Waits  bool   // a person's answer is awaited
}

// ToPerson returns the reason for a person.
func (r *Refusal) ToPerson() string { return cmp.Or(r.Person, r.Why) }

// Error implements error.
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Name + ": " + r.Why }
