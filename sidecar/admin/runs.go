package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// resume goes on with a run that was broken off. Its answer stands in the journal.
func (a *API) resume(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		By string `json:"by"` // a claim, for the log
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if len(body.By) > maxAnswerText {
		return refusal(http.StatusBadRequest, fmt.Sprintf("by has at most %d bytes", maxAnswerText), "")
	}
	id := r.PathValue("id")
	if err := a.ResumeRun(r.Context(), id, cmp.Or(approvals.Visible(body.By), "the admin API")); err != nil {
		return err
	}
	web.WriteJSON(w, http.StatusAccepted, map[string]string{"run": id, "status": journal.Running})
	return nil
}

// ResumeRun goes on with a run as a person wants who sees it on a page. The error says for people
// why nothing was changed.
func (a *API) ResumeRun(ctx context.Context, id, by string) error {
	if a.Runs == nil {
		return refusal(http.StatusNotFound, "no run is kept here",
			"runs are kept where there are tools for them and a state folder: --workspace-tools or --gateway, and --state")
	}
	err := a.Runs.Resume(ctx, id, by)
	var busy *executor.BusyError
	var elsewhere *executor.GoesOnError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, journal.ErrUnknown):
		return refusal(http.StatusNotFound, fmt.Sprintf("there is no run %q", id),
			"gpt-oss-executor runs list shows them")
	case errors.As(err, &busy):
		return refusal(http.StatusConflict, busy.Error(), "one run is resumed at a time; wait for its end")
	case errors.As(err, &elsewhere):
		return refusal(http.StatusConflict, elsewhere.Error(), "nothing was changed")
	}
	return refusal(http.StatusConflict, err.Error(), "nothing was changed; gpt-oss-executor runs show "+id+
		" shows what it did")
}
