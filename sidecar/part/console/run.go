package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

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
			Root + "decisions?" + url.Values{"q": {id}}.Encode()})
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
