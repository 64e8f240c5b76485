package admin

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/lab"
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
	}
	if err := readJSON(r, &say); err != nil {
		return err
	}
	if say.Why == "" {
		say.Why = "somebody has stopped it"
	}
	if err := a.Lab.Stop(a.Rules.Set(), r.PathValue("id"), say.Why); err != nil {
		return refusal(http.StatusConflict, err.Error(), "GET /experiments lists them")
	}
	return a.experiments(w, r)
}
