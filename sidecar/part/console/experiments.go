package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// experimentsView shows all experiments.
type experimentsView struct {
	List   []experimentView
	Folder bool // the rules can be edited
	Notice string
}

// experimentView shows one experiment.
type experimentView struct {
	experiment.Report
	Place    string // file:line
	Running  bool
	May      bool // the viewer may stop it
	State    []string
	Off      bool // requests are not split
	Against  string
	About    string
	Of       experiment.Measure
	Margin   string
	Verdicts []verdictView
	Arms     []armView
	Measures []measureView
	Plots    []plotView // of the measure
	Guards   []plotView
}

// verdictView is the verdict about an arm.
type verdictView struct{ Arm, Kind, Text, Advice string }

// armView shows an arm with its result for the chosen measure.
type armView struct {
	experiment.Arm
	Control                        bool
	Percent, Value, Compared, Kind string
	Sets                           []pair
	Promote                        string // page to promote it; empty: none
}

// measureView shows one measure for every arm.
type measureView struct {
	experiment.Measure
	Arms []measuredView
}

type measuredView struct{ Arm, Value, Of, Compared, Kind string }

// experimentsPage lists running experiments first.
func (c *Console) experimentsPage(r *http.Request, v viewer) (any, error) {
	set, rules := c.API.Rules.Set(), c.API.Rules.Report(false)
	ranks := map[string]int{experiment.Running: 0, experiment.Draft: 1, experiment.Stopped: 2}
	out := &experimentsView{Folder: rules.Folder != "", Notice: c.experimentSaid(r.URL.Query(), rules)}
	for i, report := range c.reports(set) {
		out.List = append(out.List, c.experiment(&experiment.Of(set).List[i], report, v))
	}
	slices.SortStableFunc(out.List, func(a, b experimentView) int {
		return cmp.Compare(ranks[a.Status], ranks[b.Status])
	})
	return out, nil
}

// experimentSaid confirms the last change, if the rules show it.
func (c *Console) experimentSaid(q url.Values, rules live.Report) string {
	set := c.API.Rules.Set()
	if id := q.Get("stopped"); id != "" {
		for _, report := range c.reports(set) {
			if report.ID == id && report.Status == experiment.Stopped {
				return shown(id + " is stopped. Everybody gets the rules as they are.")
			}
		}
	}
	id, arm, _ := strings.Cut(q.Get("promoted"), "/")
	if _, _, err := experiment.Of(set).Find(id, arm); err == nil && rules.By == "promote" &&
		rules.Version == q.Get("version") {
		return shown(fmt.Sprintf("%s of %s is the rule for everybody. Version %s is in force.", arm, id,
			rules.Version))
	}
	return ""
}

// experiment returns the view of one for a viewer.
func (c *Console) experiment(e *experiment.Experiment, r experiment.Report, v viewer) experimentView {
	out := experimentView{
		Report: r, Place: e.Place, Running: r.Status == experiment.Running, May: v.Role >= web.Admin,
		Off: r.Split < experiment.SplitOff, Against: e.Arms[0].Name, About: shown(e.About),
	}
	out.Of, _ = experiment.MeasureOf(e.Measure)
	if e.Margin > 0 {
		out.Margin = amount(e.Margin, out.Of.Unit)
	}
	out.State = stateOf(&r, c.Now())
	for i := range r.Arms {
		arm := armView{Arm: r.Arms[i], Control: i == 0, Percent: fmt.Sprintf("%.0f %%", 100*r.Arms[i].Share),
			Value: "–"}
		for _, s := range e.Arms[i].Set {
			arm.Sets = append(arm.Sets, pair{shown(s.Key.Value), shown(fmt.Sprint(s.Value))})
		}
		m := r.Arms[i].Of(e.Measure)
		if m != nil {
			arm.Value, arm.Compared = m.Verdict(), m.Compared()
		}
		if i > 0 {
			verdict := verdictOf(arm.Name, out.Against, m, out.Of, r.Unit)
			if arm.Kind = verdict.Kind; r.Status == experiment.Stopped {
				verdict.Advice = ""
			}
			if r.Status != experiment.Draft && !e.Shadow { // the first arm serves all requests
				out.Verdicts = append(out.Verdicts, verdict)
			}
		}
		if out.May && r.Status != experiment.Stopped {
			arm.Promote = Root + "experiments/" + url.PathEscape(r.ID) +
				"/promote/" + url.PathEscape(arm.Name)
		}
		out.Arms = append(out.Arms, arm)
	}
	for _, m := range experiment.Measures() {
		row := measureView{Measure: m}
		for i := range r.Arms {
			if of := r.Arms[i].Of(m.ID); of != nil {
				row.Arms = append(row.Arms, measuredView{r.Arms[i].Name, of.Verdict(), tokenWords(int(of.N)),
					of.Compared(), kindOf(of.Against)})
			}
		}
		if row.Arms != nil {
			out.Measures = append(out.Measures, row)
		}
	}
	for i := range r.Series {
		if e.Shadow {
			break
		}
		plots := plotsOf(e, &r, i)
		if i == 0 {
			out.Plots = plots
		} else {
			out.Guards = append(out.Guards, plots...)
		}
	}
	return out
}

// stateOf describes the state of an experiment, in the words of the command.
func stateOf(r *experiment.Report, now time.Time) (out []string) {
	out = append(out, fmt.Sprintf("phase %d", r.Phase))
	if r.Began.IsZero() {
		return append(out, "no session is in it yet")
	}
	out = append(out, fmt.Sprintf("day %d", int(now.Sub(r.Began).Hours()/24)+1),
		terminal.Count(r.Units, r.Unit))
	if r.Shadow != nil {
		return append(out, fmt.Sprintf("shadow: %d of %d replies are read otherwise", r.Shadow.Differs,
			r.Shadow.Read))
	}
	var counts []string
	for _, a := range r.Arms {
		counts = append(counts, fmt.Sprint(a.Units))
	}
	return append(out, "split "+strings.Join(counts, "/"))
}

// kindOf returns the CSS class of a verdict.
func kindOf(f *experiment.Finding) string {
	if f == nil {
		return ""
	}
	return string(f.Kind)
}

// verdictOf describes the result of a measure for an arm, and what to do.
func verdictOf(arm, control string, m *experiment.Measured, of experiment.Measure, unit string) verdictView {
	v := verdictView{Arm: arm, Kind: string(experiment.Early)}
	if m == nil || m.Against == nil {
		v.Text, v.Advice = fmt.Sprintf("Too early: nothing is counted of %s yet.", arm), "Wait."
		return v
	}
	f := m.Against
	switch v.Kind = string(f.Kind); f.Kind {
	case experiment.Better, experiment.Worse:
		v.Text, v.Advice = fmt.Sprintf("%s is %s than %s.", arm, m.Words,
			control), "Decide, whenever you like."
	case experiment.NoDifference:
		v.Text, v.Advice = fmt.Sprintf("Between %s and %s there is %s.", arm, control,
			m.Words), "Take what is cheaper."
	case experiment.Broken:
		v.Text, v.Advice = "The split is off: do not trust this.",
			"Find out why: no figure of this experiment counts."
	default:
		v.Text, v.Advice = fmt.Sprintf("Too early to tell %s from %s.", arm,
			control), fmt.Sprintf("Below 30 %ss an arm nothing is said. Wait.", unit)
		if f.Low != f.High {
			v.Text, v.Advice = fmt.Sprintf("Too early to tell %s from %s: the difference is within %s.", arm,
				control, f.Interval(of.Unit)), "It holds 0: the arm may be better, worse or the same. Wait."
		}
	}
	return v
}

func amount(x float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%g points", 100*x)
	}
	return fmt.Sprintf("%g %s", x, unit)
}

// reports returns the reports of the experiments in force.
func (c *Console) reports(set *ruleset.Set) []experiment.Report {
	if c.Experiments == nil {
		return nil
	}
	return c.Experiments.Tracker.Reports(set)
}

// findExperiment returns an experiment in force and its report.
func (c *Console) findExperiment(id string) (*experiment.Experiment, experiment.Report, error) {
	set := c.API.Rules.Set()
	for i, r := range c.reports(set) {
		if r.ID == id {
			return &experiment.Of(set).List[i], r, nil
		}
	}
	return nil, experiment.Report{}, &trouble{http.StatusNotFound, "There is no such experiment",
		"The rules in force have none of this name. Experiments lists them."}
}

// refusedBy converts an error of the admin API to one of a page.
func refusedBy(err error, title string) error {
	var refused *admin.Error
	if !errors.As(err, &refused) {
		return err
	}
	text := refused.Message + ". "
	if refused.Hint != "" {
		text += refused.Hint + ". "
	}
	for i := range refused.Problems {
		if i == 5 {
			text += fmt.Sprintf("And %d more. ", len(refused.Problems)-i)
			break
		}
		text += refused.Problems[i].Error() + ". "
	}
	return &trouble{refused.Status(), title, shown(strings.TrimSpace(text)) + " Nothing was changed."}
}

// unseen is refusedBy for changes that need the rules in force to be known. Its page shows the change
// against the present rules.
func unseen(err error, title, page string) error {
	var refused *admin.Error
	if !errors.As(err, &refused) || refused.Status() != http.StatusPreconditionFailed {
		return refusedBy(err, title)
	}
	return &detour{&trouble{refused.Status(), title,
		shown(refused.Message) + ". Nothing was changed. Compare shows what this would write now."},
		pair{"Compare", page}}
}

// stopView asks for confirmation before an experiment ends.
type stopView struct{ experimentView }

func (s *stopView) title() string { return "Stop " + s.ID }

func (c *Console) stopPage(r *http.Request, v viewer) (any, error) {
	e, report, err := c.findExperiment(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if report.Status != experiment.Running {
		return nil, &trouble{http.StatusConflict, "It does not run",
			fmt.Sprintf("%s is %s, so there is nothing to stop.", shown(report.ID), report.Status)}
	}
	return &stopView{c.experiment(e, report, v)}, nil
}

// stop ends an experiment.
func (c *Console) stop(w http.ResponseWriter, r *http.Request, v viewer) error {
	id := r.PathValue("id")
	if _, _, err := c.findExperiment(id); err != nil {
		return err
	}
	if err := c.Experiments.Stop(id, v.By(), r.PostForm.Get("why")); err != nil {
		return refusedBy(err, "It could not be stopped")
	}
	http.Redirect(w, r, Root+"experiments?stopped="+url.QueryEscape(id), http.StatusSeeOther)
	return nil
}

// promoteView asks for confirmation before an arm becomes the rule.
type promoteView struct {
	experimentView
	Chosen  armView
	Verdict verdictView // empty of the control
	Version string      // of the rules in force
	Folder  string
	Changes []fileDiff
	Refused bool // the edit on disk was refused
}

func (p *promoteView) title() string { return "Promote " + p.Chosen.Name }

func (c *Console) promotePage(r *http.Request, v viewer) (any, error) {
	e, report, err := c.findExperiment(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	arm := e.Arm(r.PathValue("arm"))
	if arm < 0 {
		return nil, &trouble{http.StatusNotFound, "There is no such arm",
			fmt.Sprintf("%s has none of this name.", shown(e.ID))}
	}
	rules := c.API.Rules.Report(false)
	out := &promoteView{experimentView: c.experiment(e, report, v), Version: rules.Version,
		Folder: rules.Folder, Refused: rules.Refused != nil}
	out.Chosen = out.Arms[arm]
	if arm > 0 && len(out.Verdicts) > 0 { // a draft has no results
		out.Verdict = out.Verdicts[arm-1]
	}
	own, err := c.Experiments.Promoted(report.ID, out.Chosen.Name)
	if err != nil {
		return nil, refusedBy(err, "This arm cannot be promoted")
	}
	now, _ := c.API.Rules.Texts(rules.Version)
	out.Changes = diffsOf(now.Own(), own)
	return out, nil
}

// promote makes an arm the rule, if the viewer has seen the rules in force.
func (c *Console) promote(w http.ResponseWriter, r *http.Request, v viewer) error {
	id, arm := r.PathValue("id"), r.PathValue("arm")
	edited, err := c.Experiments.Promote(id, arm,
		live.Seen{Who: v.By(), Versions: []string{r.PostForm.Get("version")}})
	if err != nil {
		return unseen(err, "The arm could not be promoted", Root+"experiments/"+url.PathEscape(id)+
			"/promote/"+url.PathEscape(arm))
	}
	query := url.Values{"promoted": {id + "/" + arm}, "version": {edited.Version}}
	http.Redirect(w, r, Root+"experiments?"+query.Encode(), http.StatusSeeOther)
	return nil
}
