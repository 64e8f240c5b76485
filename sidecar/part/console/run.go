package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxResult = 4 << 10  // bytes of a result that a page shows
	maxSaid   = 16 << 10 // bytes of what the model said in one turn
	maxSteps  = 200      // turns that a page shows: the last ones
)

// passage is the beginning of a text.
type passage struct {
	Text string
	More int // bytes that are not shown
}

// passage returns the beginning of a text, or nothing if words are hidden.
func (c *Console) passage(s string, most int) passage {
	if !c.words() {
		return passage{}
	}
	return head(s, most)
}

// head shortens a text after masking its secrets: half a secret could not be recognized.
func head(s string, most int) passage {
	more := max(0, len(s)-2*most) // what is far behind the cut is not looked at
	return passage{shown(strings.ToValidUTF8(s[:len(s)-more], "")), more}.cut(most)
}

func (p passage) cut(most int) passage {
	if len(p.Text) > most {
		p.More += len(p.Text) - most
		p.Text = strings.ToValidUTF8(p.Text[:most], "")
	}
	return p
}

// String returns the text with a note about its length.
func (p passage) String() string {
	if p.More == 0 {
		return p.Text
	}
	return fmt.Sprintf("%s… and %d bytes more", p.Text, p.More)
}

// runView shows one run, turn by turn.
type runView struct {
	runRow
	Facts     []fact
	Task      passage
	Words     bool
	Steps     []runStep
	Omitted   int // turns before them that are not shown
	End       passage
	Finish    string
	Torn      int
	GoesOn    bool
	Resumable bool
	May       bool // the viewer may resume it here
	Here      bool // the server can
	InDoubt   int
	Notice    string
	Links     []fact
	rev       uint64
}

func (v *runView) title() string { return "Run of " + v.Time }

func (v *runView) events() string {
	return Root + "events?" + url.Values{"runs": {"1"}, "run": {v.ID}, "rev": {fmt.Sprint(v.rev)}}.Encode()
}

// runStep is a turn of the model, or the resumption of a run.
type runStep struct {
	N                  int // 0: no turn
	Time               string
	Content, Reasoning passage
	Calls              []*runCall
	Tokens             string
	Squeezed           bool
	By                 string // who resumed the run
	Doubt              int
	Rules              string
}

// runCall is a call of a run and its result.
type runCall struct {
	Tool, Arguments, State, Why, Took string
	Result                            passage
	ran, changes                      bool
}

func (c *Console) runPage(r *http.Request, viewer viewer) (any, error) {
	id := r.PathValue("id")
	if c.Runs == nil {
		return nil, &trouble{http.StatusNotFound, "No run is kept",
			"Start the server with --state DIR, and with tools for runs: --workspace-tools or --gateway."}
	}
	if !isRun(id) {
		return nil, noRun
	}
	rev := c.Runs.Rev(id) // read first, so that later changes cause an event
	p, err := c.Runs.Load(id)
	switch {
	case errors.Is(err, run.ErrUnknownRun):
		return nil, noRun
	case err != nil:
		return nil, &trouble{http.StatusUnprocessableEntity, "The journal of this run cannot be read",
			shown(err.Error()) + "."}
	}
	v := &runView{
		runRow: c.runRow(p), Task: c.passage(p.Task(), maxSaid), Words: c.words(), Torn: p.Torn,
		GoesOn: c.Runs.GoesOn(id), InDoubt: len(p.Doubt()), rev: rev,
		May: viewer.Role >= web.Admin, Here: c.Resumer != nil && c.Resumer.Resumer != nil,
	}
	v.Resumable = !p.Finished() && !v.GoesOn
	v.steps(c, p)
	if p.End != nil && !v.GoesOn {
		v.End, v.Finish = c.passage(p.End.Text, maxSaid), p.End.Finish
		if n := len(v.Steps); n > 0 && v.Steps[n-1].Content == v.End {
			v.Steps[n-1].Content = passage{} // the answer is shown below
		}
	}
	v.Facts = []fact{
		{"Run", v.ID, ""}, {"Began", p.Started.Local().Format("2006-01-02 15:04:05.000 -07:00"), ""}, {"Took", v.Took, ""}, {"Model", v.Model, ""}, {"Session", v.Session, ""},
		{"Agent", shown(p.Agent), ""}, {"Channel", shown(p.Channel), ""}, {"Rules", shown(p.Rules), ""},
	}
	if c.Decisions != "" {
		v.Links = append(v.Links, fact{"", "Its decisions in the log",
			logHref("q", id)})
	}
	if turns, _ := c.Turns.Since(0, 1, func(t *Turn) bool { return t.Run == id }); len(turns) > 0 {
		v.Links = append(v.Links, fact{"", "How its replies were read",
			Root + "turns/" + url.PathEscape(turns[0].ID)})
	}
	if r.URL.Query().Get("resumed") != "" && v.GoesOn {
		v.Notice = "It goes on. What the model says and does appears below."
	}
	return v, nil
}

// steps orders the records of a run by turn.
func (v *runView) steps(c *Console, p *run.Past) {
	calls := map[string]*runCall{}
	for i := range p.Records {
		rec := &p.Records[i]
		switch {
		case rec.Turn != nil:
			t := rec.Turn
			step := runStep{N: t.N, Time: clock(rec.Time.Local()), Content: c.passage(t.Content, maxSaid),
				Reasoning: c.passage(t.Reasoning, maxSaid), Squeezed: t.Squeezed}
			if t.Prompt+t.Answer > 0 {
				step.Tokens = fmt.Sprintf("%s → %s", tokenWords(t.Prompt), tokenWords(t.Answer))
			}
			for _, w := range t.Calls {
				k := &runCall{Tool: shown(w.Tool)}
				if c.words() {
					k.Arguments = shorten(shownJSON([]byte(w.Arguments)))
				}
				calls[w.ID] = k
				step.Calls = append(step.Calls, k)
			}
			v.Steps = append(v.Steps, step)
		case rec.Call != nil && calls[rec.Call.ID] != nil:
			k := calls[rec.Call.ID]
			k.ran, k.changes = true, rec.Call.Changes
		case rec.Result != nil && calls[rec.Result.ID] != nil:
			calls[rec.Result.ID].became(c, rec.Result)
		case rec.Resume != nil:
			for _, k := range calls {
				k.resumed()
			}
			v.Steps = append(v.Steps, runStep{Time: stamp(rec.Time), By: shown(rec.Resume.By),
				Doubt: len(rec.Resume.Doubt), Rules: shown(rec.Resume.Rules)})
		}
	}
	for _, k := range calls {
		k.open(v.GoesOn)
	}
	if more := len(v.Steps) - maxSteps; more > 0 {
		v.Steps, v.Omitted = v.Steps[more:], more
	}
}

// became describes the result of a call.
func (k *runCall) became(c *Console, r *run.ResultRecord) {
	switch {
	case r.Refused:
		k.State = "refused"
	case r.Doubt:
		k.State = "in-doubt"
	case r.Failed:
		k.State = "failed"
	default:
		k.State = "ok"
	}
	k.Result = c.passage(r.Text, maxResult)
	if !r.Refused {
		k.Took = duration(time.Duration(r.Took) * time.Millisecond)
	}
}

// resumed describes a call that was open when the run resumed: it is not run again if it may have taken
// effect.
func (k *runCall) resumed() {
	switch {
	case k.State != "":
	case k.ran && k.changes:
		k.open(false)
	default:
		k.ran = false
	}
}

// open describes a call without a result.
func (k *runCall) open(goesOn bool) {
	switch {
	case k.State != "":
	case goesOn && k.ran:
		k.State = "running"
	case goesOn:
		k.State, k.Why = "waits", "Its turn has not come, or a person is asked."
	case k.ran && k.changes:
		k.State, k.Why = "in-doubt",
			"The run was broken off while it ran. It is unknown whether it took effect, so it is not run again."
	case k.ran:
		k.State, k.Why = "broken-off",
			"The run was broken off while it ran. It changes nothing, so it is run again if the run is resumed."
	default:
		k.State, k.Why = "not-run", "The run was broken off before it began."
	}
}

// States of a run on a page. An open run is in progress or was interrupted.
const (
	runGoesOn  = "running"
	runBroken  = "broken-off"
	runDamaged = "damaged"
)

// runStates returns the states of the filter.
func runStates() []string {
	return []string{runGoesOn, runBroken, run.Answered, run.Unfinished, run.Failed,
		run.Departed}
}

// isRun reports whether a text can be the id of a run. Only such a text becomes part of a path.
func isRun(id string) bool {
	return id != "" && len(id) <= 100 && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
	})
}

// stateOf returns the state of a run.
func (c *Console) stateOf(p *run.Past) string {
	switch {
	case p.End != nil && !c.Runs.GoesOn(p.ID):
		return p.End.Status
	case c.Runs.GoesOn(p.ID):
		return runGoesOn
	}
	return runBroken
}

// runRow shows a run on one line.
type runRow struct {
	ID, Href, At, Time, State, Task, Model, Session, Took string
	Turns, Calls, Doubt                                   int
	Why                                                   string // it cannot be read
}

func (c *Console) runRow(p *run.Past) runRow {
	s := p.Summary()
	return runRow{
		ID: shown(p.ID), Href: Root + "runs/" + url.PathEscape(p.ID), At: p.Started.Format(time.RFC3339Nano),
		Time: stamp(p.Started), State: c.stateOf(p),
		Task: clipMasked(c.passage(p.Task(), 16*briefText).Text), Model: shown(p.Model),
		Session: shown(p.Session), Took: c.runTook(p), Turns: s.Turns, Calls: s.Calls, Doubt: s.Doubt,
	}
}

func (c *Console) runTook(p *run.Past) string {
	if c.Runs.GoesOn(p.ID) {
		return duration(max(0, c.Now().Sub(p.Started)))
	}
	return duration(p.Last.Sub(p.Started))
}

// runsView shows a page of the journal.
type runsView struct {
	Kept   bool
	Words  bool
	Text   string
	State  string
	States []string
	Rows   []runRow
	From   int
	Next   string // older ones; empty: there are none
	Looked int
	Cut    bool
	rev    uint64
}

func (v *runsView) events() string { return fmt.Sprintf("%sevents?runs=1&rev=%d", Root, v.rev) }

func (c *Console) runsPage(r *http.Request, _ viewer) (any, error) {
	q := r.URL.Query()
	out := &runsView{Kept: c.Runs != nil, Words: c.words(), Text: strings.TrimSpace(q.Get("q")),
		State: q.Get("state"), States: runStates()}
	if !out.Kept {
		return out, nil
	}
	out.From, _ = strconv.Atoi(q.Get("older")) // anything else is the beginning
	out.From = max(0, out.From)
	out.rev = c.Runs.Rev("")
	ends, at := c.Now().Add(listTime), out.From
	err := c.Runs.Walk(out.From, func(id string, p *run.Past, broken error) bool {
		row := runRow{ID: shown(id), State: runDamaged, Why: "It cannot be read."}
		if broken == nil {
			row = c.runRow(p)
		}
		fits := out.fits(&row, p)
		if out.Cut = c.Now().After(ends); out.Cut || fits && len(out.Rows) == pageRows {
			out.Next = Root + "runs?" + url.Values{"q": {out.Text}, "state": {out.State},
				"older": {strconv.Itoa(at)}}.Encode()
			return false
		}
		at++
		out.Looked++
		if fits {
			out.Rows = append(out.Rows, row)
		}
		return true
	})
	if err != nil {
		return nil, &trouble{http.StatusUnprocessableEntity, "The runs cannot be read",
			shown(err.Error()) + ". Give their folder back, or start the server anew: it makes one."}
	}
	return out, nil
}

// fits searches the visible texts of a run, and its whole task.
func (v *runsView) fits(row *runRow, p *run.Past) bool {
	if v.State != "" && v.State != row.State {
		return false
	}
	all := strings.Join([]string{row.ID, row.State, row.Task, row.Model, row.Session}, "\n")
	if p != nil {
		all += "\n" + p.Agent + "\n" + p.Channel
		if v.Words {
			all += "\n" + shown(p.Task())
		}
	}
	all = strings.ToLower(all)
	for _, word := range strings.Fields(strings.ToLower(v.Text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// resume continues an interrupted run.
func (c *Console) resume(w http.ResponseWriter, r *http.Request, v viewer) error {
	id := r.PathValue("id")
	if !isRun(id) {
		return noRun
	}
	err := c.Resumer.Resume(r.Context(), id, v.By())
	var refusal *admin.Error
	if errors.As(err, &refusal) {
		return &trouble{refusal.Status(), "The run does not go on",
			shown(refusal.Message) + ". " + shown(refusal.Hint) + "."}
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, Root+"runs/"+id+"?resumed=1", http.StatusSeeOther)
	return nil
}

var noRun = &trouble{http.StatusNotFound, "There is no such run",
	"The oldest runs are removed: the last 2,000 are kept, for 30 days."}
