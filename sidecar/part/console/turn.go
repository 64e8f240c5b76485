package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// turnView shows one turn, with each reply read again.
type turnView struct {
	row
	Running       bool
	Pairs         []pair
	Faults        []turn.FaultRecord
	Mends         []mend
	Why, Prompted string // the error that the caller got, and the sentence in place of an answer
	Replies       []replyView
	Omitted       int
	Then          string // the version of its rules, if the history holds it and others are in force
	RunHref       string // its run of executor mode; empty: it was none
	Decisions     string // those of its calls; empty: they are not logged
}

// arm is an arm of an experiment.
type arm struct{ Name, Experiment string }

// Tried returns the arms of the turn.
func (t *turnView) Tried() (out []arm) {
	for _, name := range strings.Fields(t.Arm) {
		id, _, _ := strings.Cut(name, "/")
		out = append(out, arm{name, id})
	}
	return out
}

// pair is a name and a value.
type pair struct{ Name, Value string }

func (t *turnView) title() string { return "Turn of " + t.Time }

// replyView shows one reply as it came, how it was read, and what was sent on.
type replyView struct {
	readView
	N       int
	At      time.Time
	Summary string     // how it was asked for and how it ended
	Tried   bool       // it can be opened in the playground
	Calls   []callView // sent on
	Refused []callView // refused
	Content string     // sent on
	Thought string
	Finish  string
}

// callView is a masked call.
type callView struct {
	ID, Name, Arguments, Became, Why, Strategy, Confidence string
	Repairs                                                []repairView
}

func (c *Console) turnPage(r *http.Request, _ viewer) (any, error) {
	t, ok := c.Turns.Turn(r.PathValue("id"))
	if !ok {
		return nil, &trouble{http.StatusNotFound, "This turn is gone",
			"Only the last turns are kept, in memory: later ones have made room, or the server was started anew."}
	}
	now := c.Now()
	out := &turnView{row: rowOf(&t, now), Running: !t.Done, Faults: shownFaults(t.Account.Faults),
		Why: shown(t.Why), Prompted: shown(t.Account.Notice), Omitted: t.Omitted, Pairs: pairsOf(&t, now)}
	if _, known := c.API.Rules.Texts(t.Rules); known && t.Rules != c.API.Rules.Set().Version {
		out.Then = t.Rules
	}
	if t.Run != "" && c.Runs != nil {
		out.RunHref = Root + "runs/" + url.PathEscape(t.Run)
	}
	if c.Decisions != "" {
		out.Decisions = logHref("q", cmp.Or(t.Run, t.ID))
	}
	for i := range t.Replies {
		reply := c.reply(&t, i)
		reply.ofVersion(t.Rules)
		out.Replies = append(out.Replies, reply)
	}
	out.Mends = mendsOf(&t, func(i int) bool { return out.Replies[i].Tried })
	return out, nil
}

func shownFaults(faults []turn.FaultRecord) (out []turn.FaultRecord) {
	for _, f := range faults {
		f.Tool, f.Why = shown(f.Tool), shown(f.Why)
		out = append(out, f)
	}
	return out
}

// pairsOf returns the known facts of a turn.
func pairsOf(t *Turn, now time.Time) (out []pair) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, pair{name, shown(value)})
		}
	}
	a := &t.Account
	add("Request", t.ID)
	add("Began", t.Began.Format("2006-01-02 15:04:05.000 -07:00"))
	add("Took", took(t, now))
	if a.First > 0 {
		add("First text after", duration(a.First))
	}
	add("Model", t.Model)
	add("Model server", a.Upstream)
	add("Agent", t.Agent)
	add("Session", t.Session)
	add("Channel", t.Channel)
	add("Run", t.Run)
	add("Arms", strings.Join(t.Arms, " "))
	add("Rules", t.Rules)
	add("Rules that edited", strings.Join(a.Edits, " "))
	how := "whole"
	if t.Stream {
		how = "stream"
	}
	if t.Responses {
		how += ", Responses API"
	}
	add("Asked for", how)
	if t.Done {
		add("Requests to the model", fmt.Sprint(a.Turns))
		add("Tokens", tokens(a))
		add("Status", fmt.Sprint(t.Status))
	}
	return out
}

func tokens(a *turn.Account) string {
	switch {
	case a.Prompt+a.Completion == 0:
		return "" // the server has not said it
	case a.Reasoning > 0:
		return fmt.Sprintf("%d prompt, %d completion, %d of them reasoning", a.Prompt, a.Completion,
			a.Reasoning)
	}
	return fmt.Sprintf("%d prompt, %d completion", a.Prompt, a.Completion)
}

// reply reads a reply again by the rules of that time.
func (c *Console) reply(t *Turn, i int) replyView {
	r := &t.Replies[i]
	v := replyView{N: i + 1, At: r.At, Finish: r.Reading.Finish, Content: shownHead(r.Reading.Content),
		Thought: shownHead(r.Reading.Reasoning)}
	v.Summary = fmt.Sprintf("%s, %s, profile %s", r.Server, cmp.Or(r.Style, "native"),
		cmp.Or(r.Profile, ruleset.DefaultProfile))
	for k := range r.Reading.Calls {
		call := &r.Reading.Calls[k]
		entry := callOf(call.Name, []byte(guard.WithoutTicket(call, string(call.Arguments))))
		entry.Became, entry.Strategy, entry.Confidence = string(guard.OutcomeOf(call)), call.Strategy,
			fmt.Sprintf("%.2f", call.Confidence)
		if k < len(r.IDs) {
			entry.ID = r.IDs[k]
		}
		for _, fix := range call.Repairs {
			if !guard.ByPolicy(fix) {
				entry.Repairs = append(entry.Repairs, shownRepair(fix))
			}
		}
		v.Calls = append(v.Calls, entry)
	}
	for _, f := range r.Reading.Refused {
		kept := callOf(f.Name, []byte(f.Text))
		kept.Became, kept.Why = string(f.Code), shown(f.Why)
		v.Refused = append(v.Refused, kept)
	}
	set := c.Turns.Set(r)
	switch {
	case !c.words():
		v.Missing = "No words are kept: the setting console says no-text, or limits.yaml has words: 0."
		return v
	case !r.Words:
		v.Missing = "Its words were not kept: there were too many, or the rules said so."
		return v
	case set == nil:
		v.Missing = "The rules of then have made room for later ones, so it cannot be read as it was."
		v.Marked = []markedText{plainText("reasoning", r.Whole.Reasoning),
			plainText("content", r.Whole.Content)}
		return v
	}
	v.Tried = true
	rec, native := recordOf(t, r)
	confines := false
	for i := range r.Reading.Calls {
		confines = confines || guard.OutcomeOf(&r.Reading.Calls[i]) == "confined"
	}
	v.read(c.API.World, set, r.Profile, rec, native, confines, maxJudged)
	if thought := turn.ReasoningOf(&r.Whole, r.Thought); v.Tree != nil &&
		len(r.Whole.Content)+len(thought) > maxMarked {
		v.Marked = []markedText{plainText("reasoning", thought), plainText("content", r.Whole.Content)}
	}
	return v
}

func callOf(name string, args []byte) callView {
	return callView{Name: shown(name), Arguments: shorten(shownJSON(args))}
}

// repairView shows a repair of a call.
type repairView struct {
	Kind, Says, From, To, Rule string // Says replaces From and To
	At                         int
}

func shownRepair(fix tools.Repair) repairView {
	v := repairView{Kind: fix.Kind, From: shown(fix.From), To: shown(fix.To), Rule: fix.Rule, At: fix.At}
	switch {
	case strings.HasPrefix(fix.Kind, "harmony.") && fix.From != "":
		v.Says = v.From // it says what was wrong, not what stood there
	case fix.From == "" && fix.To == "":
		v.Says = "mended"
	}
	return v
}

// shorten shortens a masked text for a page.
func shorten(s string) string { return passage{Text: s}.cut(maxShown).String() }

// shownHead masks and shortens a text for a page.
func shownHead(s string) string { return head(s, maxShown).String() }

// mend is a link to where a fault of a turn can be fixed.
type mend struct {
	Href string
	Name string // an unknown name of a tool; empty: another fault
}

// tryPath returns the playground with a reply of a turn.
func tryPath(id string, reply int) string {
	return fmt.Sprintf("%splayground?turn=%s&reply=%d", Root, url.QueryEscape(id), reply)
}

// mendsOf returns the links for the faults of a turn, without duplicates and in order. tried reports
// whether a reply can be opened.
func mendsOf(t *Turn, tried func(reply int) bool) (out []mend) {
	for _, f := range t.Account.Faults {
		i := replyOf(t, f)
		if i < 0 || !tried(i) {
			continue
		}
		m := mend{Href: tryPath(t.ID, i+1)}
		if string(f.Fault) == string(tools.NotOffered) {
			m.Name = shown(f.Tool)
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// replyOf returns the index of the reply with a fault: the last one in which a call was refused for it, or
// the last of all; -1 without replies.
func replyOf(t *Turn, f turn.FaultRecord) int {
	for i := range t.Replies {
		for _, no := range t.Replies[i].Reading.Refused {
			if string(no.Code) == string(f.Fault) && no.Name == f.Tool {
				return i
			}
		}
	}
	return len(t.Replies) - 1
}

// failed is a reply whose apparent calls were all refused.
type failed struct{ Href, Time, What string }

// maxFailed is how many of them the playground lists.
const maxFailed = 5

// failedTurns returns the last such turns. Their links keep the open rule file.
func (c *Console) failedTurns(file string) (out []failed) {
	list, _ := c.Turns.Since(0, maxFailed, func(t *Turn) bool { return failedReply(t) >= 0 })
	for i := range list {
		t, k := &list[i], failedReply(&list[i])
		var what []string
		for _, no := range t.Replies[k].Reading.Refused {
			word := strings.TrimSpace(string(no.Code) + " " + shortName(no.Name))
			if no.Code != tools.Denied &&
				!slices.Contains(what, word) && len(what) < 3 {
				what = append(what, word)
			}
		}
		out = append(out, failed{tryPath(t.ID, k+1) + "&file=" + url.QueryEscape(file),
			t.Began.Format("15:04:05"), strings.Join(what, ", ")})
	}
	return out
}

func failedReply(t *Turn) int {
	return slices.IndexFunc(t.Replies, func(r Reply) bool {
		return r.Words && slices.ContainsFunc(r.Reading.Refused,
			func(no tools.Refusal) bool { return no.Code != tools.Denied })
	})
}

// maxNameShown is the maximal length of an unknown name, in bytes.
const maxNameShown = 48

// shortName shortens an unknown name to fit on a line.
func shortName(name string) string {
	if name = shown(name); len(name) > maxNameShown {
		return strings.ToValidUTF8(name[:maxNameShown], "") + "…"
	}
	return name
}

// draftProblem is a problem of a draft. In the drafted file it has a line for the editor.
type draftProblem struct {
	rulefile.Problem
	Here bool
}

// where describes the place of a problem. A problem of a whole file has no line.
func (d *draftProblem) where() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("line %d of %s", d.Line, d.File)
}

// becomes is the effect of a draft on one line.
type becomes struct{ From, To string }

// maxBecomes is the maximal length of each side, in bytes.
const maxBecomes = 200

// Becomes returns the most telling effect: an unknown name, and the call that it now becomes.
func (p *playground) Becomes() *becomes {
	if len(p.Differences) == 0 {
		return nil
	}
	d := p.Differences[0]
	out, was := becomes{d.What + ": " + d.Before, d.After}, p.lost()
	for _, d := range p.Differences {
		if was != "" && d.Before == "nothing" && strings.HasPrefix(d.What, "call ") {
			out = becomes{was, d.After}
			break
		}
	}
	for _, side := range []*string{&out.From, &out.To} {
		if len(*side) > maxBecomes {
			*side = strings.ToValidUTF8((*side)[:maxBecomes], "") + "…"
		}
	}
	return &out
}

// lost returns the first name that is refused by the rules in force and not by the draft.
func (p *playground) lost() string {
	if p.Before.read == nil || p.After == nil || p.After.read == nil {
		return ""
	}
	for _, no := range p.Before.read.Tree.Refused {
		if no.Name != "" && !slices.ContainsFunc(p.After.read.Tree.Refused,
			func(is tools.Refusal) bool { return is.Name == no.Name }) {
			return shortName(no.Name)
		}
	}
	return ""
}
