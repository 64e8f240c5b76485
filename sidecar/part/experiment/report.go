package experiment

import (
	"slices"
	"time"

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
