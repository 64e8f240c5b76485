package turn

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Account is what came of a request, for the log and the metrics.
type Account struct {
	Model              string // id that the caller sees
	Run                string // the run of executor mode that answered; empty: none did
	Who                policy.Subject
	Turns              int      // requests to the model
	Upstream           string   // name of the model server that was asked last
	Style              string   // in which it was asked; native: the server was offered the tools
	Strategies         []string // that found calls
	Edits              []string // rules that changed what the model read
	Calls, Refused     int
	Repeated           int           // calls that stood in a reply once more, and were made once
	Again              int           // of Turns, those that followed a fault
	Offered            bool          // the model was offered tools
	Empty              bool          // the last reply had nothing to show and nothing to run
	First              time.Duration // until something of a reply could leave; 0: nothing could
	Prompt, Completion int           // tokens, as the model server counts them
	Reasoning          int           // those of Completion that it thought with, where the server says so
	Faults             []Faulty      // in order, at most maxFaults
	Notice             string        // the sentence of our own that ended the answer; empty: there was none

	now [3]int // the same, of the last reply so far: some servers tell them with every event
}

// Faulty is what was wrong with a reply, and what was done about it.
type Faulty struct {
	Fault  ruleset.Fault
	Action ruleset.Action // GiveUp where nothing more was tried
	Tool   string         // whose call it was; empty: no call's
	Why    string         // for the operator
}

// maxFaults is of how many faults of a request is told.
const maxFaults = 32

// Excused reports whether a sentence of our own stands in place of an answer because the model server failed.
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

// faulty takes over what was wrong with a reply.
func (a *Account) faulty(more ...Faulty) {
	a.Faults = append(a.Faults, more[:min(len(more), maxFaults-len(a.Faults))]...)
}

// Account is what came of the turn so far.
func (t *Turn) Account() Account {
	a := t.account
	a.next()
	a.Model, a.Who, a.Upstream, a.Style = t.Model.ID.Value, t.who, t.route.Name(), styleID(t.style)
	a.Again, a.Offered = t.spent, t.agent
	return a
}

// call counts a call that leaves.
func (a *Account) call(strategy string) {
	a.Calls++
	if !slices.Contains(a.Strategies, strategy) {
		a.Strategies = append(a.Strategies, strategy)
	}
}

// Edited takes over the rules that changed what the model read, each once.
func (a *Account) Edited(ids []string) {
	for _, id := range ids {
		if !slices.Contains(a.Edits, id) {
			a.Edits = append(a.Edits, id)
		}
	}
}

// tokens takes the usage object of a reply.
func (a *Account) tokens(usage []byte) {
	found := gjson.GetManyBytes(usage, "prompt_tokens", "completion_tokens",
		"completion_tokens_details.reasoning_tokens")
	a.now = [3]int{int(found[0].Int()), int(found[1].Int()), int(found[2].Int())}
}

// next counts the tokens of the last reply: it has ended.
func (a *Account) next() {
	a.Prompt += a.now[0]
	a.Completion += a.now[1]
	a.Reasoning += a.now[2]
	a.now = [3]int{}
}

// Add takes over what another turn of the same run came to.
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
	a.faulty(more.Faults...)
	a.Notice = more.Notice
	for _, s := range more.Strategies {
		a.call(s)
	}
	a.Calls += more.Calls - len(more.Strategies)
}
