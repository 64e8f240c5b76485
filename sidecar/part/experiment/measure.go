package experiment

import "slices"

// Measure is a figure that is counted for every unit, such as events of all events.
type Measure struct {
	ID    string `json:"id"`
	About string `json:"about"`
	Of    string `json:"of"`             // what one event is
	Unit  string `json:"unit,omitempty"` // of a mean; empty: a rate
	Lower bool   `json:"lower_is_better,omitempty"`
}

// The measures.
const (
	callFound  = "call_found"
	callValid  = "call_valid"
	argsValid  = "args_valid"
	toolOK     = "tool_ok"
	repeated   = "repeated"
	Loop       = "loop"
	Denied     = "denied"
	askedAgain = "asked_again"
	Empty      = "empty"
	Corrected  = "corrected"
	Failed     = "failed"
	liked      = "liked"
	Turns      = "turns"
	Tokens     = "tokens"
	First      = "first_ms"
	answer     = "answer_ms"
)

var measures = []Measure{
	{toolOK, "The tool did its work, as its result says.", "result of a call", "", false},
	{callFound, "The reply has a call.", "request with tools", "", false},
	{callValid, "What the model meant as a call left as one.", "call that was tried", "", false},
	{argsValid, "Its arguments fit the schema of the tool.", "call that was tried", "", false},
	{repeated, "The same call of the same session before, and the next one again.", "call that left", "", true},
	{Loop, "The same call for the third time or more.", "call that left", "", true},
	{Denied, "The policy denied it.", "call that was tried", "", true},
	{askedAgain, "The model had to be asked again.", "request", "", true},
	{Empty, "There was nothing to show and nothing to run.", "request", "", true},
	{Corrected, "The user says that the answer was wrong.", "message behind an answer", "", true},
	{Failed, "The request ended with an error, or an excuse for the model server.", "request", "", true},
	{liked, "What POST /feedback says, from 0 to 1.", "feedback", "", false},
	{Turns, "Requests to the model.", "request", "requests", true},
	{Tokens, "Tokens that the model wrote.", "request", "tokens", true},
	{First, "Milliseconds until something could leave.", "request", "ms", true},
	{answer, "Milliseconds of the whole answer.", "request", "ms", true},
}

// Measures returns all measures in the order of reports.
func Measures() []Measure { return slices.Clone(measures) }

// MeasureOf finds a measure by its id.
func MeasureOf(id string) (Measure, bool) {
	i := slices.IndexFunc(measures, func(m Measure) bool { return m.ID == id })
	if i < 0 {
		return Measure{}, false
	}
	return measures[i], true
}

func measureIDs() (out []string) {
	for _, m := range measures {
		out = append(out, m.ID)
	}
	return out
}
