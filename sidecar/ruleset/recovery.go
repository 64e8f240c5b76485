package ruleset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Fault is what can go wrong with a reply or an upstream.
type Fault string

// The faults. The first group is of the model, the second of the server.
const (
	Empty         Fault = "empty"          // no text, no call, no reasoning
	ReasoningOnly Fault = "reasoning_only" // reasoning, but nothing to show or run
	NotOffered    Fault = "not_offered"    // a call of a tool that was not offered
	Ambiguous     Fault = "ambiguous"      // a call that could mean several tools
	BadSchema     Fault = "bad_schema"     // arguments that violate the tool's JSON Schema
	BadJSON       Fault = "bad_json"       // arguments that are no JSON object
	Unsure        Fault = "unsure"         // text that may be a call, or quote one
	Truncated     Fault = "truncated"      // a call cut mid-way
	Denied        Fault = "denied"         // a call that the policy does not let leave
	NotCalled     Fault = "not_called"     // no call, where tool_choice forces one
	Length        Fault = "length"         // max_tokens used up before anything could be shown
	Cut           Fault = "cut"            // text that ended for a reason that is not known
	Unfinished    Fault = "unfinished"     // the server ended it in good order, and gave no reason
	Filtered      Fault = "filtered"       // cut by the content filter of the server

	HarmonyError Fault = "harmony_error" // the server could not read the model's own output
	StreamError  Fault = "stream_error"  // an error inside a 200 stream, or a stream that broke
	Overflow     Fault = "overflow"      // the prompt is longer than the context
	Auth         Fault = "auth"          // 401, 402, 403 from the upstream
	Missing      Fault = "missing"       // 404: the upstream lacks the model or the path
	RateLimited  Fault = "rate_limited"  // 429
	Rejected     Fault = "rejected"      // any other 4xx
	ServerError  Fault = "server_error"  // 5xx
	Unreachable  Fault = "unreachable"   // refused, reset, no such host: for a moment
	Away         Fault = "away"          // the same for longer, or ever since the start
	Timeout      Fault = "timeout"       // no first byte, or silence
)

// Action is the reaction to a fault while nothing has left.
type Action string

// The actions.
const (
	Resample Action = "resample" // the same request again
	Correct  Action = "correct"  // the same request and a message that says what was wrong
	GiveUp   Action = "give_up"  // answer at once
)

// Recovery maps faults to remedies.
type Recovery struct {
	Total  int // further requests for one reply, over all faults
	Faults map[Fault]Remedy
}

// For returns the remedy of a fault; the zero Remedy without a rule.
func (r *Recovery) For(f Fault) Remedy { return r.Faults[f] }

// Remedy is the reaction to one fault, and what the caller gets if that did not help.
type Remedy struct {
	At         rulefile.Place
	About      string         `rule:"about,required" doc:"What went wrong."`
	Action     Action         `rule:"action,required" one:"resample correct give_up" doc:"resample sends the same request again. correct also tells the model what was wrong. give_up answers at once."`
	Attempts   int            `rule:"attempts" min:"0" max:"10" doc:"How often the model is asked again for this fault. It does not go with give_up." eg:"1"`
	Text       *rulefile.Text `rule:"text" doc:"What the model is told. With resample it is told so where text has reached the caller; if left out, it is not asked again then. {tool}, {why} and {tools} are filled in." eg:"'The call of {tool} was not made: {why}'"`
	Status     int            `rule:"status" min:"400" max:"599" doc:"The HTTP status for the caller. If left out, the caller gets what there is." eg:"502"`
	Type       string         `rule:"type" doc:"The type in the error body. It goes with status." eg:"server_error"`
	Code       string         `rule:"code" doc:"The code in the error body." eg:"empty_response"`
	Message    rulefile.Text  `rule:"message" doc:"The message in the error body. It goes with status. {why} is filled in." eg:"'The model server failed: {why}'"`
	Says       rulefile.Text  `rule:"say" doc:"What the user reads in place of an answer: for requests that offer tools, as those of an agent do. Other requests get the status. {why} is filled in." eg:"'The model server turned the sidecar away: {why}'"`
	RetryAfter time.Duration  `rule:"retry_after" doc:"The header Retry-After for the caller, if the server gave none." eg:"5s"`
}

// Correction tells the model why a call was none, for the action Correct.
func (r *Remedy) Correction(tool, why string, offered []string) string {
	if why != "" && !strings.ContainsAny(why[len(why)-1:], ".!?") {
		why += "." // another sentence may follow
	}
	return strings.NewReplacer("{tool}", cmp.Or(tool, "a tool"), "{why}", why,
		"{tools}", strings.Join(offered, ", ")).Replace(r.Text.Value)
}

// Say returns the message for the caller.
func (r *Remedy) Say(why string) string { return strings.ReplaceAll(r.Message.Value, "{why}", why) }

// Sentence returns what the user reads in place of an answer; empty: no rule.
func (r *Remedy) Sentence(why string) string { return strings.ReplaceAll(r.Says.Value, "{why}", why) }

// allFaults are all faults; each needs a remedy.
var allFaults = []Fault{
	Empty, ReasoningOnly, NotOffered, Ambiguous, BadSchema, BadJSON, Unsure, Truncated, Denied, NotCalled,
	Length, Cut, Unfinished, Filtered,
	HarmonyError, StreamError, Overflow, Auth, Missing, RateLimited, Rejected, ServerError, Unreachable, Away,
	Timeout,
}

// optionalFaults are faults that recovery.yaml may omit, as older files do, with the faults whose remedy they
// get: none for those that were good replies.
var optionalFaults = map[Fault]Fault{Away: Unreachable, Unfinished: StreamError, NotCalled: "", Cut: "",
	Filtered: "", Unsure: ""}

func faultNames() []string { return mapSlice(allFaults, func(f Fault) string { return string(f) }) }

// recoveryDoc is recovery.yaml.
type recoveryDoc struct {
	rulefile.Head
	Total  int                     `rule:"total,required" min:"0" max:"20" doc:"How many further requests one reply may take, over all faults together." eg:"3"`
	Faults []rulefile.Pair[Remedy] `rule:"faults,required" doc:"What is done about each fault."`
}

// recovery reads recovery.yaml.
func (l *loader) recovery() {
	f := decodeFile[recoveryDoc](l, recoveryFile)
	l.set.Recovery = Recovery{Total: f.Total, Faults: map[Fault]Remedy{}}
	names := faultNames()
	for _, p := range f.Faults {
		if !slices.Contains(names, p.Key.Value) {
			l.report(p.Key.All(), rulefile.CodeKey, "unknown fault "+p.Key.Value,
				rulefile.DidYouMean(p.Key.Value, names))
			continue
		}
		l.remedy(p.Key, p.Value)
		l.set.Recovery.Faults[Fault(p.Key.Value)] = p.Value
	}
	if !l.files.Has(recoveryFile) || !l.clean(recoveryFile) {
		return
	}
	for _, fault := range allFaults {
		if _, ok := l.set.Recovery.Faults[fault]; ok {
			continue
		}
		if was, young := optionalFaults[fault]; young {
			l.set.Recovery.Faults[fault] = l.set.Recovery.For(was)
		} else {
			l.reportFile(recoveryFile, rulefile.CodeMissing, fmt.Sprintf("faults lacks %s", fault), "")
		}
	}
}

// remedy checks that the keys of a remedy go together.
func (l *loader) remedy(key rulefile.Text, r Remedy) {
	if r.Text != nil {
		l.placeholders(*r.Text, "tool", "why", "tools")
	}
	l.placeholders(r.Message, "why")
	l.placeholders(r.Says, "why")
	switch {
	case r.Action == GiveUp && r.Attempts > 0:
		l.report(r.At, rulefile.CodeValue, key.Value+" gives up, so it cannot have attempts", "")
	case r.Action != GiveUp && r.Action != "" && r.Attempts == 0:
		l.report(r.At, rulefile.CodeMissing, key.Value+" lacks attempts", "")
	case r.Action == Correct && r.Text == nil:
		l.report(r.At, rulefile.CodeMissing, key.Value+" corrects, so it needs text",
			"text is what the model is told")
	case r.Action == GiveUp && r.Text != nil:
		l.report(r.At, rulefile.CodeValue, key.Value+" gives up, so it cannot have text",
			"text is what the model is told")
	case r.Text != nil && strings.TrimSpace(r.Text.Value) == "":
		l.report(r.Text.At, rulefile.CodeValue, "text is empty", "write what the model is told")
	case r.Status != 0 && (r.Type == "" || r.Message.Value == ""):
		l.report(r.At, rulefile.CodeMissing, key.Value+" has a status, so it needs type and message", "")
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders checks the names in braces.
func (l *loader) placeholders(t rulefile.Text, names ...string) {
	for _, m := range placeholder.FindAllStringIndex(t.Value, -1) {
		name := t.Value[m[0]+1 : m[1]-1]
		if !slices.Contains(names, name) {
			from := len([]rune(t.Value[:m[0]]))
			l.report(t.Span(from, from+len([]rune(name))+2), rulefile.CodeValue,
				"{"+name+"} is not filled in here", rulefile.DidYouMean(name, names))
		}
	}
}
