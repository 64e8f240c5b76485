package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// ResumeAdmin lets people go on with runs.
type ResumeAdmin struct {
	*Resumer // nil: no run is kept
}

// serve goes on with a run that was broken off. Its answer stands in the journal.
func (k *ResumeAdmin) serve(_ *admin.API, w http.ResponseWriter, r *http.Request) error {
	var body struct {
		By string `json:"by"` // a claim, for the log
	}
	if err := admin.ReadJSON(r, &body); err != nil {
		return err
	}
	if len(body.By) > admin.MaxAnswerText {
		return admin.Refuse(http.StatusBadRequest,
			fmt.Sprintf("by has at most %d bytes", admin.MaxAnswerText), "")
	}
	id := r.PathValue("id")
	if err := k.Resume(r.Context(), id, cmp.Or(approvals.Visible(body.By), "the admin API")); err != nil {
		return err
	}
	web.WriteJSON(w, http.StatusAccepted, map[string]string{"run": id, "status": running})
	return nil
}

// Resume goes on with a run as a person wants who sees it on a page. The error says for people
// why nothing was changed.
func (k *ResumeAdmin) Resume(ctx context.Context, id, by string) error {
	if k == nil || k.Resumer == nil {
		return admin.Refuse(http.StatusNotFound, "no run is kept here",
			"runs are kept where there are tools for them and a state folder: --workspace-tools or --gateway, and --state")
	}
	err := k.Resumer.Resume(ctx, id, by)
	var busy *BusyError
	var elsewhere *GoesOnError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknownRun):
		return admin.Refuse(http.StatusNotFound, fmt.Sprintf("there is no run %q", id),
			"gpt-oss-executor runs list shows them")
	case errors.As(err, &busy):
		return admin.Refuse(http.StatusConflict, busy.Error(),
			"one run is resumed at a time; wait for its end")
	case errors.As(err, &elsewhere):
		return admin.Refuse(http.StatusConflict, elsewhere.Error(), "nothing was changed")
	}
	return admin.Refuse(http.StatusConflict, err.Error(), "nothing was changed; gpt-oss-executor runs show "+
		id+
		" shows what it did")
}
