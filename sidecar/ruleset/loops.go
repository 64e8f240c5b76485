package ruleset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Circles is the section loop of limits.yaml.
type Circles struct {
	At      rulefile.Place
	Tell    int             `rule:"tell" min:"2" max:"1000" doc:"After so many calls that are the same, with the same result, the model is told with that result. If left out: never." eg:"3"`
	End     int             `rule:"end" min:"2" max:"1000" doc:"After so many the call is not made once more: the turn ends, and the user reads say. If left out: never." eg:"6"`
	Except  []rulefile.Text `rule:"except" doc:"Tools that may be asked the same for ever, since they wait for something." eg:"[process]"`
	Ignore  []rulefile.Text `rule:"ignore" doc:"Regular expressions of what does not count in a result, because it is another one each time: times, durations, numbers of processes, ids." eg:"['\\d\\d:\\d\\d:\\d\\d']"`
	Notices []rulefile.Text `rule:"notices" doc:"Regular expressions of what an agent writes into user messages by itself. A message that holds nothing else is no word of the user." eg:"['(?s)<system-reminder>.*?</system-reminder>']"`
	Note    rulefile.Text   `rule:"note" doc:"What the model is told. {tool} and {times} are filled in. It goes with tell. If left out: a sentence that says so." eg:"'You have made this call {times} times, with the same result.'"`
	Say     rulefile.Text   `rule:"say" doc:"What the user reads. {tool} and {times} are filled in. It goes with end. If left out: a sentence that says so." eg:"'The model made the same call of {tool} {times} times.'"`
}

// LoopIgnores is what does not count in the conversations of one agent.
type LoopIgnores struct {
	Results []*regexp.Regexp // of results
	Notices []*regexp.Regexp // of user messages
	// results in which the agent itself reports a repeated call
	Same []*regexp.Regexp
	// removes what does not count from arguments; nil: everything counts
	Arguments func(tool, args string) string
}

// LoopGuard is a compiled LoopRule. The nil LoopGuard does nothing.
type LoopGuard struct {
	rule Circles
	LoopIgnores
}

// CompileLoop compiles a rule and reports its mistakes; nil: it does nothing.
func CompileLoop(r Circles, patterns func([]rulefile.Text) []*regexp.Regexp,
	report func(at rulefile.Place, code, msg, hint string)) *LoopGuard {
	g := &LoopGuard{r, LoopIgnores{Results: patterns(r.Ignore), Notices: patterns(r.Notices)}}
	complete := func(times int, text *rulefile.Text, key, other, usual string) {
		switch {
		case times == 0 && text.At.Known():
			report(text.All(), rulefile.CodeMissing, "loop has "+other+", so it needs "+key,
				"say after how many calls")
		case text.Value == "":
			text.Value = usual
		}
	}
	complete(r.Tell, &g.rule.Note, "tell", "note", "You have made this call of {tool} {times} times, and the result was the same each time. Do something else.")
	complete(r.End, &g.rule.Say, "end", "say", "The model made the same call of {tool} {times} times, with the same result each time. It was stopped.")
	if r.Tell == 0 && r.End == 0 {
		return nil
	}
	return g
}

func fill(text rulefile.Text, tool string, times int) string {
	return strings.NewReplacer("{tool}", tool, "{times}", strconv.Itoa(times)).Replace(text.Value)
}

// Repeats are the repeated calls of a conversation.
type Repeats struct {
	guard *LoopGuard
	notes map[string]string // what the model is told with a result, by the id of its call
	calls map[string]int    // numbers, by key
	times []int             // by number
}

// With adds what does not count for an agent.
func (g *LoopGuard) With(more LoopIgnores) *LoopGuard {
	if g == nil {
		return nil
	}
	return &LoopGuard{g.rule, LoopIgnores{slices.Concat(g.Results, more.Results),
		slices.Concat(g.Notices, more.Notices), slices.Concat(g.Same, more.Same), more.Arguments}}
}

// Look reads a conversation since the last words of the user. A new call is progress and restarts the count.
func (g *LoopGuard) Look(q *openai.Request) Repeats {
	s := Repeats{guard: g}
	if g == nil {
		return s
	}
	made, times := s.number(q)
	type call struct {
		tool   string
		number int
	}
	open, last := map[string]call{}, map[int]string{} // by id; by number
	known := make([]bool, len(times))
	s.times = make([]int, len(times))
	for i := 0; len(times) > 0 && i < len(q.Messages); i++ {
		m := &q.Messages[i]
		numbers := made[:len(m.Calls)]
		made = made[len(m.Calls):]
		switch m.Role {
		case "user":
			if g.userSpoke(q, m) {
				clear(open)
				clear(last)
				clear(known)
				clear(s.times)
			}
		case "assistant":
			for j, n := range numbers {
				if !known[n] {
					known[n] = true
					clear(s.times)
				}
				if times[n] >= g.threshold() { // or its results tell nothing
					open[m.Calls[j].ID] = call{m.Calls[j].Name, n}
				}
			}
		case "tool":
			c, asked := open[m.CallID]
			delete(open, m.CallID)
			if !asked || slices.ContainsFunc(g.rule.Except,
				func(t rulefile.Text) bool { return t.Value == c.tool }) {
				continue
			}
			result := g.stableResult(q, m)
			if before, is := last[c.number]; is &&
				slices.ContainsFunc(g.Same, func(re *regexp.Regexp) bool { return re.MatchString(result) }) {
				result = before
			} else if is && before != result {
				s.times[c.number] = 0
			}
			last[c.number] = result
			s.times[c.number]++
			if n := s.times[c.number]; g.rule.Tell > 0 && n >= g.rule.Tell {
				if s.notes == nil {
					s.notes = map[string]string{}
				}
				s.notes[openai.CleanCallID(m.CallID)] = fill(g.rule.Note, c.tool, n)
			}
		}
	}
	return s
}

// threshold returns after how many calls something is done.
func (g *LoopGuard) threshold() int {
	if g.rule.Tell == 0 || g.rule.End > 0 && g.rule.End < g.rule.Tell {
		return g.rule.End
	}
	return g.rule.Tell
}

// number returns the number of each call, and how often each number occurs; nothing if none occurs often
// enough, as in most conversations, so that no result is read.
func (s *Repeats) number(q *openai.Request) (made, times []int) {
	all := 0
	for i := range q.Messages {
		all += len(q.Messages[i].Calls)
	}
	if all < s.guard.threshold() {
		return nil, nil
	}
	made, s.calls = make([]int, 0, all), make(map[string]int, all)
	var key []byte
	for i := range q.Messages {
		for j := range q.Messages[i].Calls {
			c := &q.Messages[i].Calls[j]
			key = s.guard.appendKey(key[:0], c.Name, args(q, c))
			n, known := s.calls[string(key)]
			if !known {
				n, times = len(times), append(times, 0)
				s.calls[string(key)] = n
			}
			times[n]++
			made = append(made, n)
		}
	}
	if slices.Max(times) < s.guard.threshold() {
		return nil, nil
	}
	return made, times
}

// maxText is how many bytes of a message are read.
const maxText = 64 << 10

// stableResult returns a result without what differs each time.
func (g *LoopGuard) stableResult(q *openai.Request, m *openai.Message) string {
	return removeMatches(q.Text(m, maxText), g.Results, "\x00")
}

// userSpoke reports whether a user message has more than what the agent itself writes.
func (g *LoopGuard) userSpoke(q *openai.Request, m *openai.Message) bool {
	text := q.Text(m, maxText)
	return !strings.HasPrefix(text, openai.RuntimeContext) &&
		(text == "" || strings.TrimSpace(removeMatches(text, g.Notices, "")) != "")
}

func removeMatches(text string, patterns []*regexp.Regexp, mark string) string {
	for _, re := range patterns {
		text = re.ReplaceAllLiteralString(text, mark)
	}
	return text
}

// args returns the arguments of a call as the model wrote them, without the wrapper that the gateway got.
func args(q *openai.Request, c *openai.MessageCall) string {
	if !c.ArgsSpan.Present() {
		return "{}"
	}
	raw := c.ArgsSpan.Of(q.Body)
	if raw[0] == '{' {
		return string(raw)
	}
	text, _ := openai.Text(q.Body, c.ArgsSpan)
	if was, why := policy.WithoutAsk(c.Name, text); why != "" {
		return was
	}
	if was, wrapped := policy.Unwrapped(c.Name, text); wrapped {
		return was
	}
	return text
}

// appendKey appends what identifies a call, however its arguments are formatted.
func (g *LoopGuard) appendKey(key []byte, tool, args string) []byte {
	if g.Arguments != nil {
		args = g.Arguments(tool, args)
	}
	return jsontext.AppendCanon(append(append(key, tool...), 0), []byte(args))
}

// Note returns what the model is told with the result of a call.
func (s Repeats) Note(callID string) string { return s.notes[callID] }

// Any reports whether there is anything to say or to stop.
func (s Repeats) Any() bool {
	return len(s.notes) > 0 ||
		len(s.times) > 0 && s.guard.rule.End > 0 && slices.Max(s.times) >= s.guard.rule.End
}

// Stops returns what the user reads in place of a call that was made too often; empty: it was not.
func (s Repeats) Stops(tool, args string) string {
	if s.guard == nil || s.guard.rule.End == 0 {
		return ""
	}
	n, known := s.calls[string(s.guard.appendKey(nil, tool, args))]
	if !known || s.times[n] < s.guard.rule.End {
		return ""
	}
	return fill(s.guard.rule.Say, tool, s.times[n])
}
