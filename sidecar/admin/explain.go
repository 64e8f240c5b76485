package admin

import (
	"errors"
	"net/http"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// toExplain is a record, and optionally the rules and the profile to read it with.
type toExplain struct {
	replay.Record
	Profile string     `json:"profile"`
	Rules   *candidate `json:"rules"` // tried, not put in force; absent: those in force
}

// explain reads a reply with the rules in force, or with others that the caller wants to try before a put.
func (a *API) explain(w http.ResponseWriter, r *http.Request) error {
	var body toExplain
	if err := readSome(r, &body); err != nil {
		return err
	}
	if body.Message == nil && body.Chunks == nil && body.Upstream == nil {
		return Refuse(http.StatusBadRequest, "there is nothing to explain",
			`the body is {"message": {"content": "…"}, "tools": ["exec"]}, or has "chunks" or "upstream_error" for "message"; "rules": {"files": …} tries other rules`)
	}
	set := a.Rules.Set()
	if body.Rules != nil {
		own, err := body.Rules.own(a.Rules)
		if err != nil {
			return err
		}
		err = a.Drafts.Work(r.Context(), web.Address(r), false, func() (err error) {
			set, _, err = a.Rules.Try(own)
			return err
		})
		var problems rulefile.Problems
		if errors.As(err, &problems) {
			return &Error{http.StatusUnprocessableEntity, "these rules do not load",
				"every problem has its place", problems}
		}
		if err != nil {
			return err
		}
	}
	if p := body.Profile; p != "" && !slices.Contains(set.Profiles(), p) {
		return Refuse(http.StatusBadRequest, "there is no profile "+p+" in strategies.yaml", "")
	}
	explained, err := replay.Explain(set, a.World, body.Profile, &body.Record)
	if err != nil {
		return Refuse(http.StatusBadRequest, err.Error(), "")
	}
	web.WriteJSON(w, http.StatusOK, explained)
	return nil
}
