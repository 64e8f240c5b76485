package experiment

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// captureRule says what is recorded of a reply. Which replies, the caller decides.
type captureRule struct {
	Messages bool          // also record the messages of the request, and the last user text
	Bytes    int64         // of all segments; the oldest are removed. 0: 256 MiB
	Age      time.Duration // older segments are removed. 0: 30 days
	Mask     bool          // mask secrets
}

func (r captureRule) filled() captureRule {
	r.Bytes = cmp.Or(r.Bytes, 256<<20)
	r.Age = cmp.Or(r.Age, 30*24*time.Hour)
	return r
}

// captureReply is one reply of the model server and its outcome. Its parts may point into buffers; Put
// copies them.
type captureReply struct {
	At                                                time.Time
	ID, Model, Server, Session, Rules, Style, Profile string
	// as conditions see it; recorded, like Caller, only with messages
	User                   string
	Workspace              string   // the agent's folder, as the gateway says
	Agent, Channel, Caller string   // Caller is the field user of the request
	Arms                   []string // EXPERIMENT/ARM
	Tools                  []tools.Tool
	Messages               json.RawMessage // nil unless requested
	// in the server's own words, like Calls and Finish
	Content, Reasoning string
	Calls              []ServerCall
	Finish             string
	Reading            captureReading
	Outcome            captureOutcome
	// the words were too long to keep; there is only the reading
	Lost   bool
	Shadow *shadowOutcome // nil: no other arm read it, or they agree
}

// ServerCall is a call in the server's own format.
type ServerCall struct{ ID, Name, Arguments string }

// SaidOf joins the pieces of such calls, of which there may be very many.
func SaidOf(pieces []parse.CallDelta) []ServerCall {
	at := make(map[int]int)
	var out []ServerCall
	var arguments [][]byte
	for _, p := range pieces {
		i, known := at[p.Index]
		if !known {
			i = len(out)
			at[p.Index], out, arguments = i, append(out, ServerCall{ID: p.ID}), append(arguments, nil)
		}
		if p.Name != "" && len(out[i].Name) <= maxName { // longer names are cut later anyway
			out[i].Name += p.Name
		}
		arguments[i] = append(arguments[i], p.Arguments...)
	}
	for i := range out {
		out[i].Arguments = string(arguments[i])
	}
	return out
}

// captureReading is the reading of a reply.
type captureReading struct {
	Calls              []Call
	Content, Reasoning string
	Finish             string
	Refused            []refusal
	Early              bool // it ended too early
}

// Call is a found call. Repairs holds the kinds of its repairs.
type Call struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy,omitempty"`
	Confidence float64         `json:"confidence,omitempty"`
	Repairs    []string        `json:"repairs,omitempty"`
}

// refusal is a refused call with the code of the refusal.
type refusal struct {
	Code string `json:"code"`
	Name string `json:"name,omitempty"`
	Why  string `json:"why,omitempty"`
}

// captureOutcome is the outcome of a reply.
type captureOutcome struct {
	Turns        int           // requests to the server
	Fault        string        // of the last reply; empty: none
	PromptTokens int           // 0: unknown
	Tokens       int           // of the reply
	First, All   time.Duration // to the first delta, and of the whole reply
}

// shadowOutcome is the reading of a reply by another arm.
type shadowOutcome struct {
	Arm     string
	Reading captureReading
}

// readingOf converts a reading of the parser.
func readingOf(r *parse.Reading) captureReading {
	out := captureReading{Content: r.Content, Reasoning: r.Reasoning, Finish: r.Finish, Early: r.Cut != "" ||
		r.Finish == "length"}
	for i := range r.Calls {
		c := &r.Calls[i]
		out.Calls = append(out.Calls, Call{c.Name, c.Arguments, c.Strategy, c.Confidence, guard.Repairs(c)})
	}
	for _, f := range r.Refused {
		out.Refused = append(out.Refused, refusal{string(f.Code), f.Name, f.Why})
	}
	return out
}
