package experiment

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// captureRule is what is recorded, as a rule file says it. Of which replies, the caller knows.
type captureRule struct {
	Messages bool          // the messages of the request, and what the user said last, too
	Bytes    int64         // of all segments together; the oldest go. 0: 256 MiB
	Age      time.Duration // segments that began earlier go. 0: 30 days
	Mask     bool          // secrets are masked
}

func (r captureRule) filled() captureRule {
	r.Bytes = cmp.Or(r.Bytes, 256<<20)
	r.Age = cmp.Or(r.Age, 30*24*time.Hour)
	return r
}

// captureReply is one reply of the model server, and what became of it. Put copies what may change
// or holds a whole request in memory, so its parts may point into buffers.
type captureReply struct {
	At                                                time.Time
	ID, Model, Server, Session, Rules, Style, Profile string
	// as conditions see it; it and Caller are recorded with the messages only
	User                   string
	Workspace              string   // where the gateway says that the agent works
	Agent, Channel, Caller string   // Caller is the field user of the request
	Arms                   []string // EXPERIMENT/ARM
	Tools                  []tools.Tool
	Messages               json.RawMessage // nil unless they are asked for
	// as the server said it, as are Calls and Finish
	Content, Reasoning string
	Calls              []ServerCall
	Finish             string
	Reading            captureReading
	Outcome            captureOutcome
	// the words of the server were too many to keep: only the reading is there
	Lost   bool
	Shadow *shadowOutcome // nil: no other arm read it, or they agree
}

// ServerCall is a call as the server said it.
type ServerCall struct{ ID, Name, Arguments string }

// SaidOf puts the pieces of a server's own calls together. There may be very many.
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
		if p.Name != "" && len(out[i].Name) <= maxName { // longer ones are cut anyway
			out[i].Name += p.Name
		}
		arguments[i] = append(arguments[i], p.Arguments...)
	}
	for i := range out {
		out[i].Arguments = string(arguments[i])
	}
	return out
}

// captureReading is what was made of a reply.
type captureReading struct {
	Calls              []Call
	Content, Reasoning string
	Finish             string
	Refused            []refusal
	Early              bool // it ended too early
}

// Call is a call that was found. Repairs are their kinds.
type Call struct {
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Strategy   string          `json:"strategy,omitempty"`
	Confidence float64         `json:"confidence,omitempty"`
	Repairs    []string        `json:"repairs,omitempty"`
}

// refusal is a call that was refused, with the code of the refusal.
type refusal struct {
	Code string `json:"code"`
	Name string `json:"name,omitempty"`
	Why  string `json:"why,omitempty"`
}

// captureOutcome is what came of a reply.
type captureOutcome struct {
	Turns        int           // requests that it took
	Fault        string        // of the last of them; empty: none
	PromptTokens int           // 0: not known
	Tokens       int           // of the reply
	First, All   time.Duration // to the first delta, and in all
}

// shadowOutcome is what another arm would have made of a reply.
type shadowOutcome struct {
	Arm     string
	Reading captureReading
}

// readingOf is a reading of the reader, as it is recorded.
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
