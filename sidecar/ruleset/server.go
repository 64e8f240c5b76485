package ruleset

import "regexp"

// Server is the dialect of one kind of gpt-oss server, as data. The patterns of
// `common` stand at the end of each server's own.
type Server struct {
	ID    string
	About string
	Place string // file:line

	Detect []Probe  // one hit is enough; empty: fits every server
	Models string   // path of the model list, after /v1
	Props  string   // path of a further answer that tells the context window, from the root of the host; empty: none
	Window []string // gjson paths of the context window, tried on the model list and on Props

	ReasoningIn    []string          // names under which a reply may carry the chain of thought
	ReasoningOut   []string          // names under which it is written back in the history
	Rename         map[string]string // root fields: the caller's name → the server's
	DropFields     []string          // root fields that are never sent
	DropEmptyTools bool              // `tools: []` is left out, and tool_choice with it
	DropStrict     bool              // function.strict is left out of each tool
	FoldSystem     bool              // later system and developer messages go into the first
	SystemRole     string            // empty: kept; "system": a developer message is sent as system
	FlattenParts   bool              // content parts of text only become one string
	ToolChoice     string            // pass, auto (an object and "required" become "auto") or drop
	Effort         Effort
	Structured     string // empty: response_format as it is; else the root field that takes the bare JSON Schema

	Overflow       []Pattern     // the prompt is too long. Groups: limit, requested, prompt, output
	OutputTooLarge []Pattern     // max_tokens is too large. Groups: limit, prompt
	Retry          []Pattern     // the model slipped: ask again
	Recover        []CallPattern // error bodies that hold what the model generated
	Hints          []Hint        // what an operator can do about it
}

// Probe is one question to a server. It is a hit when the answer is a 200 whose
// body, white space left out, contains Contains; empty: any JSON object.
type Probe struct {
	Path     string // from the root of the host, for example /version
	Contains string
}

// Effort is how a server takes the reasoning effort.
type Effort struct {
	Field   string            // sjson path in the request
	Allowed []string          // what it accepts
	Map     map[string]string // the caller's value → the server's; "" leaves it out
}

// Pattern recognises the text of an error.
type Pattern struct {
	Match *regexp.Regexp
	Place string // file:line
}

// CallPattern finds generated text in an error body. Field is a gjson path whose
// value is that text; where it is empty, Match runs over the error's text and
// its group args holds the arguments of a call whose name is unknown, or its
// group text the generated text.
type CallPattern struct {
	Field string
	Match *regexp.Regexp // nil where Field is enough
	Place string
}

// Hint is a sentence for the operator where the text of an error matches.
type Hint struct {
	Match  *regexp.Regexp
	Say    string
	Status int // for the caller; 0: as the status map says
	Place  string
}
