package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Admin serves experiments to the admin API and the console.
type Admin struct {
	Tracker *Tracker
	Rules   *live.Rules
}

// Routes returns the routes of the admin API.
func (a *Admin) Routes() []admin.Route {
	return []admin.Route{
		{Method: "GET", Path: "/experiments", Serve: a.experiments},
		{Method: "POST", Path: "/experiments/{id}/stop", Serve: a.stop},
		{Method: "POST", Path: "/experiments/{id}/promote", Serve: a.promote},
	}
}

// Experiments is the response of /experiments.
type Experiments struct {
	Experiments []Report `json:"experiments"`
}

// experiments returns the reports of all experiments.
func (a *Admin) experiments(_ *admin.API, w http.ResponseWriter, _ *http.Request) error {
	list := a.Tracker.Reports(a.Rules.Set())
	if list == nil {
		list = []Report{}
	}
	web.WriteJSON(w, http.StatusOK, Experiments{list})
	return nil
}

// stop ends an experiment: all requests get the rules as they are.
func (a *Admin) stop(api *admin.API, w http.ResponseWriter, r *http.Request) error {
	var say struct {
		Why string `json:"why"`
		By  string `json:"by"`
	}
	if err := admin.ReadJSON(r, &say); err != nil {
		return err
	}
	if err := a.Stop(r.PathValue("id"), approvals.Visible(say.By), say.Why); err != nil {
		return err
	}
	return a.experiments(api, w, r)
}

// Stop ends an experiment in the name of by. The error is an *Error.
func (a *Admin) Stop(id, by, why string) error {
	if err := admin.CheckAnswer(by, why); err != nil {
		return err
	}
	if err := a.Tracker.Stop(a.Rules.Set(), id, cmp.Or(why, "an operator has stopped it"), by); err != nil {
		return admin.Refuse(http.StatusConflict, err.Error(), "GET /experiments lists them")
	}
	return nil
}

// promote makes an arm the rule, and ends the experiment.
func (a *Admin) promote(api *admin.API, w http.ResponseWriter, r *http.Request) error {
	seen, err := api.Seen(r)
	if err != nil {
		return err
	}
	var say struct {
		Arm string `json:"arm"`
		By  string `json:"by"`
	}
	if err := admin.ReadJSON(r, &say); err != nil {
		return err
	}
	if err := admin.CheckAnswer(say.By, ""); err != nil {
		return err
	}
	seen.Who = approvals.Visible(say.By)
	e, err := a.Promote(r.PathValue("id"), say.Arm, seen)
	return api.Edited(w, e, err)
}

// Promote makes an arm the rule, as the command experiments promote does. The error is an *Error or an
// internal one.
func (a *Admin) Promote(id, arm string, seen live.Seen) (live.Edited, error) {
	if _, err := a.Promoted(id, arm); err != nil {
		return live.Edited{}, err
	}
	e, err := a.Rules.Promote(promotion(id, arm), seen)
	return e, admin.Refused(err)
}

// Promoted returns the operator's files in which an arm is the rule.
func (a *Admin) Promoted(id, arm string) (rulefile.Files, error) {
	if _, _, err := Of(a.Rules.Set()).Find(id, arm); err != nil {
		return nil, admin.Refuse(http.StatusNotFound, err.Error(), "GET /experiments lists them")
	}
	own, err := a.Rules.Promoted(promotion(id, arm))
	return own, admin.Refused(err)
}

// maxFeedback is the maximal size of a feedback, in bytes.
const maxFeedback = 4 << 10

// ServeFeedback counts the caller's score of an answer: {"request": "…", "score": 0 to 1}.
func (tr *Tracker) ServeFeedback(w http.ResponseWriter, r *http.Request) error {
	const how = `send {"request": the X-Request-Id of the answer, "score": a number from 0 to 1}`
	var feedback struct {
		Request string   `json:"request"`
		Score   *float64 `json:"score"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxFeedback))
	if err := dec.Decode(&feedback); err != nil {
		return openai.InvalidRequest("", "the feedback cannot be read: "+jsontext.Error(err).Error()+"; "+how)
	}
	if feedback.Request == "" || feedback.Score == nil {
		return openai.InvalidRequest("", "the feedback lacks request or score; "+how)
	}
	if err := tr.Feedback(feedback.Request, *feedback.Score); err != nil {
		e := openai.InvalidRequest("", err.Error())
		if errors.Is(err, errUnknown) {
			e.Status = http.StatusNotFound
		}
		return e
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"ok": true})
	return nil
}
