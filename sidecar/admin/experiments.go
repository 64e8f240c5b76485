package admin

import (
	"cmp"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Experiments is the answer of /experiments.
type Experiments struct {
	Experiments []lab.Report `json:"experiments"`
}

// experiments tells how experiments go.
func (a *API) experiments(w http.ResponseWriter, _ *http.Request) error {
	list := a.Lab.Reports(a.Rules.Set())
	if list == nil {
		list = []lab.Report{}
	}
	web.WriteJSON(w, http.StatusOK, Experiments{list})
	return nil
}

// stopExperiment ends one: everybody gets the rules as they are.
func (a *API) stopExperiment(w http.ResponseWriter, r *http.Request) error {
	var say struct {
		Why string `json:"why"`
		By  string `json:"by"`
	}
	if err := readJSON(r, &say); err != nil {
		return err
	}
	if err := a.StopExperiment(r.PathValue("id"), approvals.Visible(say.By), say.Why); err != nil {
		return err
	}
	return a.experiments(w, r)
}

// StopExperiment ends one, in the name of by. The error is an *Error.
func (a *API) StopExperiment(id, by, why string) error {
	if err := sayable(by, why); err != nil {
		return err
	}
	if err := a.Lab.Stop(a.Rules.Set(), id, cmp.Or(why, "somebody has stopped it"), by); err != nil {
		return refusal(http.StatusConflict, err.Error(), "GET /experiments lists them")
	}
	return nil
}

// promoteExperiment makes an arm the rule for everybody, and ends the experiment.
func (a *API) promoteExperiment(w http.ResponseWriter, r *http.Request) error {
	seen, err := a.seen(r)
	if err != nil {
		return err
	}
	var say struct {
		Arm string `json:"arm"`
		By  string `json:"by"`
	}
	if err := readJSON(r, &say); err != nil {
		return err
	}
	if err := sayable(say.By, ""); err != nil {
		return err
	}
	seen.Who = approvals.Visible(say.By)
	e, err := a.Promote(r.PathValue("id"), say.Arm, seen)
	return a.edited(w, e, err)
}

// Promote makes an arm the rule for everybody, as the command experiments promote does. The
// error is an *Error, or a fault of ours.
func (a *API) Promote(id, arm string, seen live.Seen) (live.Edited, error) {
	if _, err := a.Promoted(id, arm); err != nil {
		return live.Edited{}, err
	}
	e, err := a.Rules.Promote(id, arm, seen)
	return e, refused(err)
}

// Promoted are the operator's files in which an arm is the rule.
func (a *API) Promoted(id, arm string) (rulefile.Files, error) {
	if _, _, err := a.Rules.Set().Experiments.Find(id, arm); err != nil {
		return nil, refusal(http.StatusNotFound, err.Error(), "GET /experiments lists them")
	}
	own, err := a.Rules.Promoted(id, arm)
	return own, refused(err)
}
