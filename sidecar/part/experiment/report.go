package experiment

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Report is the state of an experiment.
type Report struct {
	ID      string    `json:"id"`
	About   string    `json:"about"`
	Status  string    `json:"status"`            // draft, running, stopped
	Why     string    `json:"why,omitempty"`     // of a stop
	By      string    `json:"by,omitempty"`      // who stopped it; empty: unknown
	Trouble string    `json:"trouble,omitempty"` // why requests are missing in it
	Unit    string    `json:"unit"`
	Phase   int       `json:"phase"`
	Began   time.Time `json:"began,omitzero"`
	Measure string    `json:"measure"`
	Margin  float64   `json:"margin,omitempty"` // smaller differences of the measure do not matter
	Units   int       `json:"units"`
	Repeats bool      `json:"repeats,omitempty"` // some units may be counted twice
	Split   float64   `json:"split_p"`           // below 0.001 the split is invalid
	Shadow  *Shadow   `json:"shadow,omitempty"`
	Arms    []Arm     `json:"arms"`
	// of the deciding measures; none for several folders
	Series []Series `json:"series,omitempty"`
}

// Shadow counts how often another arm reads replies differently.
type Shadow struct {
	Read    int `json:"read"`
	Differs int `json:"differs"`
}

// Arm is the result of one arm.
type Arm struct {
	Name     string     `json:"arm"`
	Share    float64    `json:"share"`
	Units    int        `json:"units"`
	Measures []Measured `json:"measures"`
}

// Measured is the result of one measure.
type Measured struct {
	Measure
	Tally
	Value   float64  `json:"value"`
	Against *Finding `json:"against_control,omitempty"` // nil for the control
	Words   string   `json:"words,omitempty"`
}

// Reports returns the reports of every experiment of a rule set. more are counts of other processes.
func (tr *Tracker) Reports(set *ruleset.Set, more ...*File) (out []Report) {
	x, all := Of(set), tr.reviewed(set, more...)
	var now time.Time // of counts that go on
	if tr.Now != nil {
		now = tr.Now()
	}
	for i := range x.List {
		e := &x.List[i]
		r := report(e, all[e.ID])
		r.Trouble = tr.wrong.say(e.ID, set.Version)
		if s := all[e.ID]; s != nil && len(more) < 2 {
			r.Series = series(e, s, now)
		}
		out = append(out, r)
	}
	return out
}

// report builds the report of one experiment.
func report(e *Experiment, s *Saved) Report {
	r := Report{ID: e.ID, About: e.About, Status: e.Status, Unit: e.Unit, Phase: e.Phase, Measure: e.Measure,
		Margin: e.Margin, Split: 1}
	shares := e.Shares()
	if s != nil {
		r.Began, r.Repeats = s.Began, s.Repeats
		if s.Stopped != "" {
			r.Status, r.Why, r.By = Stopped, s.Stopped, s.By
		}
		if len(s.Shares) == len(shares) && e.Floor > 0 {
			shares = s.Shares
		}
		r.Split = min(s.Off, split(e, s))
		if e.Shadow {
			r.Shadow = &Shadow{s.Read, s.Differs}
		}
	}
	for i, a := range e.Arms {
		arm := Arm{Name: a.Name, Share: shares[i], Measures: []Measured{}}
		if s != nil {
			arm.Units = s.Arms[i].Units
			r.Units += arm.Units
			for _, m := range Measures() {
				if t := s.Arms[i].Tallies[m.ID]; t.N > 0 {
					arm.Measures = append(arm.Measures, counts(e, m, t, s.Arms[0].Tallies[m.ID], i, r.Split))
				}
			}
		}
		r.Arms = append(r.Arms, arm)
	}
	return r
}

func counts(e *Experiment, m Measure, t, control Tally, arm int, off float64) Measured {
	c := Measured{Measure: m, Tally: t, Value: t.Rate()}
	if arm > 0 {
		f := judge(e, m, control, t, off)
		c.Against, c.Words = &f, f.Words(m.Unit)
	}
	return c
}

// judge compares an arm with the control. The probability of error is shared by all arms; the measures of
// guards share one of their own. The margin applies to the measure to improve; for others every difference
// matters.
func judge(e *Experiment, m Measure, control, arm Tally, off float64) Finding {
	ask := Ask{Alpha: 0.05 / float64(len(e.Arms)-1), Rate: m.Unit == "", LowerIsBetter: m.Lower, Split: off}
	if m.ID == e.Measure {
		ask.Margin = e.Margin
	} else if guarded := guarded(e); slices.Contains(guarded, m.ID) {
		ask.Alpha /= float64(len(guarded))
	}
	return Judge(control, arm, ask)
}

// guarded returns the measures of guards, without the one to improve.
func guarded(e *Experiment) (out []string) {
	for _, g := range e.Guards {
		if g.Measure != e.Measure && !slices.Contains(out, g.Measure) {
			out = append(out, g.Measure)
		}
	}
	return out
}

// split returns the probability of such a split by chance; 1 if shares adapt.
func split(e *Experiment, s *Saved) float64 {
	if e.Floor > 0 || e.Shadow {
		return 1
	}
	counts := make([]int, len(s.Arms))
	for i := range s.Arms {
		counts[i] = s.Arms[i].Units
	}
	return Split(counts, e.Shares())
}

// readReports returns the reports of every experiment by the sum of files. It writes to tell which counts
// the rules do not know; if there are no others, that is an error.
func readReports(set *ruleset.Set, tell io.Writer, files ...*File) ([]Report, error) {
	out := (&Tracker{}).Reports(set, files...)
	if err := unknownIn(set, files...); err != nil {
		if len(out) == 0 {
			return nil, err
		}
		fmt.Fprintln(tell, err)
	}
	return out, nil
}

// writeReports prints reports for people, with all measures if all is set.
func writeReports(out io.Writer, reports []Report, all bool, now time.Time) error {
	if len(reports) == 0 {
		_, err := fmt.Fprintln(out, "There is no experiment: rules/experiments.yaml shows how to begin one.")
		return err
	}
	for i := range reports {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := reports[i].write(out, all, now); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) write(out io.Writer, all bool, now time.Time) error {
	fmt.Fprintf(out, "%s  %s\n  %s\n", r.ID, r.state(now), terminal.Printable(r.About))
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  arm\tshare\t%ss\t%s\tagainst %s\n", r.Unit, r.Measure, r.Arms[0].Name)
	for _, a := range r.Arms {
		value, words := "-", ""
		if m := a.Of(r.Measure); m != nil {
			value, words = m.Verdict(), m.Compared()
		}
		fmt.Fprintf(w, "  %s\t%.0f %%\t%d\t%s\t%s\n", a.Name, 100*a.Share, a.Units, value, words)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case r.Trouble != "":
		fmt.Fprintf(out, "  Mind: %s\n", terminal.Printable(r.Trouble))
	case r.Units == 0 && r.Status == Running:
		fmt.Fprintf(out, "  Nothing is counted yet. Requests must name their %s%s.\n", r.Unit, namedIn[r.Unit])
	}
	if r.Repeats {
		fmt.Fprintf(out, "  Mind: more than %d %ss came, so some of them may be counted twice. Begin another phase.\n", maxCounted, r.Unit)
	}
	if s := r.Shadow; s != nil {
		fmt.Fprintf(out, "  shadow: %d of %d replies are read otherwise\n", s.Differs, s.Read)
	}
	if !all {
		return nil
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	for _, m := range Measures() {
		row := false
		for _, a := range r.Arms {
			if of := a.Of(m.ID); of != nil {
				name := ""
				if !row {
					name, row = m.ID, true
				}
				fmt.Fprintf(w, "  %s\t%s\t%s\tof %.0f\t%s\n", name, a.Name, of.Verdict(), of.N, of.Compared())
			}
		}
	}
	return w.Flush()
}

// namedIn maps a unit to where requests name it.
var namedIn = map[string]string{
	bySession: ": a gateway does, others by the header session_id",
	byUser:    ": their field user",
}

// state describes the state of an experiment on one line.
func (r *Report) state(now time.Time) string {
	parts := []string{r.Status, fmt.Sprintf("phase %d", r.Phase)}
	if !r.Began.IsZero() {
		parts = append(parts, fmt.Sprintf("day %d", int(now.Sub(r.Began).Hours()/24)+1),
			fmt.Sprintf("%d %ss", r.Units, r.Unit))
		if r.Shadow == nil {
			parts = append(parts, r.split())
		}
	}
	if r.Why != "" {
		parts = append(parts, "because "+terminal.Printable(r.Why))
	}
	if r.By != "" {
		parts = append(parts, "by "+terminal.Printable(r.By))
	}
	return strings.Join(parts, ", ")
}

func (r *Report) split() string {
	var counts []string
	for _, a := range r.Arms {
		counts = append(counts, fmt.Sprint(a.Units))
	}
	verdict := " ok"
	if r.Split < SplitOff {
		verdict = " OFF: do not trust this"
	}
	return "split " + strings.Join(counts, "/") + verdict
}

// Of returns the result of a measure; nil if it was not counted.
func (a *Arm) Of(measure string) *Measured {
	for i := range a.Measures {
		if a.Measures[i].ID == measure {
			return &a.Measures[i]
		}
	}
	return nil
}

// Verdict formats the value with its unit.
func (m *Measured) Verdict() string {
	if m.Unit == "" {
		return fmt.Sprintf("%.1f %%", 100*m.Value)
	}
	return fmt.Sprintf("%.1f %s", m.Value, m.Unit)
}

// Compared describes the verdict and the interval, if known.
func (m *Measured) Compared() string {
	f := m.Against
	if f == nil || f.Kind != Early || f.Low == f.High {
		return m.Words
	}
	return fmt.Sprintf("%s (%s)", m.Words, f.Interval(m.Unit))
}

// Measure is a figure that is counted for every unit, such as events of all events.
type Measure struct {
	ID    string `json:"id"`
	About string `json:"about"`
	Of    string `json:"of"`             // what one event is
	Unit  string `json:"unit,omitempty"` // of a mean; empty: a rate
	Lower bool   `json:"lower_is_better,omitempty"`
}

// The measures.
const (
	callFound  = "call_found"
	callValid  = "call_valid"
	argsValid  = "args_valid"
	toolOK     = "tool_ok"
	repeated   = "repeated"
	Loop       = "loop"
	Denied     = "denied"
	askedAgain = "asked_again"
	Empty      = "empty"
	Corrected  = "corrected"
	Failed     = "failed"
	liked      = "liked"
	Turns      = "turns"
	Tokens     = "tokens"
	First      = "first_ms"
	answer     = "answer_ms"
)

var measures = []Measure{
	{toolOK, "The tool did its work, as its result says.", "result of a call", "", false},
	{callFound, "The reply has a call.", "request with tools", "", false},
	{callValid, "What the model meant as a call left as one.", "call that was tried", "", false},
	{argsValid, "Its arguments fit the schema of the tool.", "call that was tried", "", false},
	{repeated, "The same call of the same session before, and the next one again.", "call that left", "", true},
	{Loop, "The same call for the third time or more.", "call that left", "", true},
	{Denied, "The policy denied it.", "call that was tried", "", true},
	{askedAgain, "The model had to be asked again.", "request", "", true},
	{Empty, "There was nothing to show and nothing to run.", "request", "", true},
	{Corrected, "The user says that the answer was wrong.", "message behind an answer", "", true},
	{Failed, "The request ended with an error, or an excuse for the model server.", "request", "", true},
	{liked, "What POST /feedback says, from 0 to 1.", "feedback", "", false},
	{Turns, "Requests to the model.", "request", "requests", true},
	{Tokens, "Tokens that the model wrote.", "request", "tokens", true},
	{First, "Milliseconds until something could leave.", "request", "ms", true},
	{answer, "Milliseconds of the whole answer.", "request", "ms", true},
}

// Measures returns all measures in the order of reports.
func Measures() []Measure { return slices.Clone(measures) }

// MeasureOf finds a measure by its id.
func MeasureOf(id string) (Measure, bool) {
	i := slices.IndexFunc(measures, func(m Measure) bool { return m.ID == id })
	if i < 0 {
		return Measure{}, false
	}
	return measures[i], true
}

func measureIDs() (out []string) {
	for _, m := range measures {
		out = append(out, m.ID)
	}
	return out
}
