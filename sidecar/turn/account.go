package turn

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Account sums up a request for the log and the metrics.
type Account struct {
	Model              string // id that the caller sees
	Run                string // run of executor mode that answered; empty: none
	Who                policy.Subject
	Turns              int      // requests to the model
	Upstream           string   // name of the model server asked last
	Style              string   // of the last request; native: the server was offered the tools
	Strategies         []string // that found calls
	Edits              []string // rules that changed what the model read
	Calls, Refused     int
	Repeated           int           // calls that a reply repeated and that were made once
	Again              int           // requests of Turns that followed a fault
	Offered            bool          // the model was offered tools
	Empty              bool          // the last reply had nothing to show and nothing to run
	First              time.Duration // until something of a reply could leave; 0: nothing could
	Prompt, Completion int           // tokens, as the model server counts them
	Reasoning          int           // tokens of Completion, where the server counts them
	Faults             []FaultRecord // in order, at most maxFaults
	Notice             string        // sentence of ours that ended the answer; empty: none

	last [3]int // tokens of the last reply so far: prompt, completion, reasoning
}

// FaultRecord is a fault of a reply and what was done about it.
type FaultRecord struct {
	Fault  ruleset.Fault
	Action ruleset.Action // GiveUp: nothing more was tried
	Tool   string         // of the faulty call; empty: no call
	Why    string         // for the operator
}

// maxFaults bounds the recorded faults of a request.
const maxFaults = 32

// Excused reports whether a sentence of ours stands in place of an answer because the model server failed.
func (a *Account) Excused() bool {
	n := len(a.Faults)
	if a.Notice == "" || n == 0 {
		return false
	}
	switch a.Faults[n-1].Fault {
	case ruleset.Unfinished, ruleset.HarmonyError, ruleset.StreamError, ruleset.Overflow, ruleset.Auth,
		ruleset.Missing, ruleset.RateLimited,
		ruleset.Rejected, ruleset.ServerError, ruleset.Unreachable, ruleset.Away, ruleset.Timeout:
		return true
	}
	return false
}

func (a *Account) addFaults(more ...FaultRecord) {
	a.Faults = append(a.Faults, more[:min(len(more), maxFaults-len(a.Faults))]...)
}

// Account returns what has become of the turn so far.
func (t *Turn) Account() Account {
	a := t.account
	a.addTokens()
	a.Model, a.Who, a.Upstream, a.Style = t.Model.ID.Value, t.subject, t.route.Name(), styleID(t.style)
	a.Again, a.Offered = t.retried, t.agent
	return a
}

func (a *Account) addCall(strategy string) {
	a.Calls++
	if !slices.Contains(a.Strategies, strategy) {
		a.Strategies = append(a.Strategies, strategy)
	}
}

// Edited adds rules that changed what the model read, each once.
func (a *Account) Edited(ids []string) {
	for _, id := range ids {
		if !slices.Contains(a.Edits, id) {
			a.Edits = append(a.Edits, id)
		}
	}
}

// setTokens keeps the usage of the last reply, which some servers send with every event.
func (a *Account) setTokens(usage []byte) {
	found := gjson.GetManyBytes(usage, "prompt_tokens", "completion_tokens",
		"completion_tokens_details.reasoning_tokens")
	a.last = [3]int{int(found[0].Int()), int(found[1].Int()), int(found[2].Int())}
}

// addTokens adds the tokens of the last reply, which has ended.
func (a *Account) addTokens() {
	a.Prompt += a.last[0]
	a.Completion += a.last[1]
	a.Reasoning += a.last[2]
	a.last = [3]int{}
}

// Add adds the account of another turn of the same run.
func (a *Account) Add(more Account) {
	a.Turns += more.Turns
	a.Upstream, a.Style = more.Upstream, more.Style
	a.Refused += more.Refused
	a.Repeated += more.Repeated
	a.Again += more.Again
	a.Offered, a.Empty = a.Offered || more.Offered, more.Empty
	if a.First == 0 {
		a.First = more.First
	}
	a.Prompt += more.Prompt
	a.Completion += more.Completion
	a.Reasoning += more.Reasoning
	a.Edited(more.Edits)
	a.addFaults(more.Faults...)
	a.Notice = more.Notice
	for _, s := range more.Strategies {
		a.addCall(s)
	}
	a.Calls += more.Calls - len(more.Strategies)
}
