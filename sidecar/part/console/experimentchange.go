package console

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
)

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
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
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
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
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
