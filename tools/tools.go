// Package tools knows what a tool call is: the names of the tools a request offers, the arguments their JSON
// Schemas allow, and how a damaged call becomes a correct one. It takes values and returns values: no
// network, files, clock, logger or context. A schema is of drafts 4 to 2020-12, and asks no network for what
// it refers to. A long result is shortened the same way each time, so that a server finds its prompt cache.
// Text in place of arguments is doubted: to ask again costs a turn. It never runs anything, and a name that
// is merely near never becomes one that writes or executes.
package tools

import (
	"cmp"
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Tool is one function that a request offers to the model.
type Tool struct {
	Name        string          // as the caller spells it
	Parameters  json.RawMessage // JSON Schema of the arguments; nil when the caller gave none
	Description string          // for the model; only of tools that run here
}

// Result is what became of a call that ran here.
type Result struct {
	Text      string // for the model
	Failed    bool   // the call did not do what it was for
	Transient bool   // it failed before it was taken, and may go well later
	Doubt     bool   // it may have taken effect
	After     int    // seconds to wait before the next try, where Transient; 0: it does not say
}

// Call is a call of an offered tool, ready to leave: Arguments is exactly one
// valid JSON object.
type Call struct {
	Name       string
	Arguments  json.RawMessage
	Repairs    []Repair // what was mended, in order; empty for an undamaged call
	Strategy   string   // id of the reading that found it; set by the reader
	Confidence float64  // 0..1, the confidence of that reading
}

// Repair is one change between what the model wrote and what leaves.
type Repair struct {
	Kind string `json:"kind"`           // stable code, for example "name.alias", "json.quote", "args.rename"
	At   int    `json:"at"`             // byte offset in the text that was mended
	From string `json:"from"`           // at most 80 bytes of what was written
	To   string `json:"to"`             // at most 80 bytes of what it became
	Rule string `json:"rule,omitempty"` // file:line of the rule that did it, if one did
}

// Mended is the changes of JSON syntax as repairs of a call.
func Mended(changes []jsonrepair.Change) []Repair {
	out := make([]Repair, len(changes))
	for i, c := range changes {
		out[i] = Repair{Kind: c.Kind, At: c.At, From: c.From, To: c.To}
	}
	return out
}

// RefusalCode says why text that looks like a call is none.
type RefusalCode string

// The refusals.
const (
	NotOffered RefusalCode = "not_offered" // no offered tool has this name
	Ambiguous  RefusalCode = "ambiguous"   // several offered tools could be meant
	BadName    RefusalCode = "bad_name"    // nothing is left of the name after cleaning
	BadJSON    RefusalCode = "bad_json"    // the arguments cannot be read as one JSON object
	Truncated  RefusalCode = "truncated"   // a value was cut mid-way
	BadSchema  RefusalCode = "bad_schema"  // the arguments violate the tool's JSON Schema
	Unsure     RefusalCode = "unsure"      // it may be a call, or a text that quotes one
	Behind     RefusalCode = "behind"      // a call in front of it was not made, or is not whole
	Denied     RefusalCode = "denied"      // the policy does not let it leave
	Answer     RefusalCode = "answer"      // a pseudo tool such as "json": the arguments are the answer
)

// Refusal is a call that is not one, and why. Name is the offered name where one
// was found, else the name as written. Text is the arguments as written.
type Refusal struct {
	Code RefusalCode
	Name string
	Text string
	Why  string // one sentence a model or an operator can act on

	Person string // the same for a person, who can allow it; empty: Why
	Waits  bool   // for the answer of a person
}

// ToPerson is why, in words for a person.
func (r *Refusal) ToPerson() string { return cmp.Or(r.Person, r.Why) }

// Error lets a Refusal travel as an error.
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Name + ": " + r.Why }
