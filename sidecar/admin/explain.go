package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// explainRequest is a record, and optionally rules and a profile to read it with.
type explainRequest struct {
	replay.Record
	Profile string     `json:"profile"`
	Rules   *candidate `json:"rules"` // tried, not put in force; absent: those in force
}

// explain reads a reply with the rules in force, or with others to be tried.
func (a *API) explain(w http.ResponseWriter, r *http.Request) error {
	var body explainRequest
	if err := readLoosely(r, &body); err != nil {
		return err
	}
	if body.Message == nil && body.Chunks == nil && body.Upstream == nil {
		return Refuse(http.StatusBadRequest, "there is nothing to explain",
			`the body is {"message": {"content": "…"}, "tools": ["exec"]}, or has "chunks" or "upstream_error" for "message"; "rules": {"files": …} tries other rules`)
	}
	set := a.Rules.Set()
	if body.Rules != nil {
		own, err := body.Rules.folder(a.Rules)
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

// judgeCall judges a call that a gateway is about to run, whichever model made it. Unlike checkPolicy it
// counts, logs the decision, and asks a person if the rules say so.
func (a *API) judgeCall(w http.ResponseWriter, r *http.Request) error {
	var q guard.HookRequest
	if err := ReadJSON(r, &q); err != nil {
		return err
	}
	ruling, err := a.Guard.Hook(a.Rules.Set(), &q)
	if err != nil {
		return Refuse(http.StatusBadRequest, err.Error(),
			`the body is {"id": "call1", "tool": "exec", "arguments": {"command": "ls"}, "workspace": "/srv/ws", "session": "agent:main:main", "agent": "main"}`)
	}
	web.WriteJSON(w, http.StatusOK, ruling)
	return nil
}

// checkPolicy answers a question by the rules in force. A gateway's hook asks it before it runs a call.
func (a *API) checkPolicy(w http.ResponseWriter, r *http.Request) error {
	var q guard.Question
	if err := readLoosely(r, &q); err != nil {
		return err
	}
	ruling, err := a.World.Answer(a.Rules.Set(), &q)
	if err != nil {
		return Refuse(http.StatusBadRequest, err.Error(),
			`the body is {"command": "ls"}, {"path": "/etc/passwd", "op": "read"}, {"url": "https://…"} or {"tool": "exec", "arguments": {…}}`)
	}
	web.WriteJSON(w, http.StatusOK, ruling)
	return nil
}

// levels are the values of the setting log_level.
var levels = []string{"debug", "info", "warn", "error"}

type levelDoc struct {
	Level string `json:"level"`
}

// level returns the log level.
func (a *API) level(w http.ResponseWriter, _ *http.Request) error {
	web.WriteJSON(w, http.StatusOK, levelDoc{strings.ToLower(a.Level.Level().String())})
	return nil
}

// setLevel sets the log level until the next start.
func (a *API) setLevel(w http.ResponseWriter, r *http.Request) error {
	var to levelDoc
	if err := ReadJSON(r, &to); err != nil {
		return err
	}
	var level slog.Level
	if !slices.Contains(levels, to.Level) || level.UnmarshalText([]byte(to.Level)) != nil {
		return Refuse(http.StatusBadRequest, "there is no level "+strconv.Quote(to.Level),
			"one of: "+strings.Join(levels, ", "))
	}
	was := a.Level.Level()
	a.Level.Set(min(was, level)) // the line that says so is seen either way
	a.Log.Log(r.Context(), max(was, level), "the log level was changed", "event", "log_level", "from",
		strings.ToLower(was.String()), "to", to.Level)
	a.Level.Set(level)
	return a.level(w, r)
}

// profile answers like net/http/pprof at the same path, where go tool pprof looks.
func (a *API) profile(w http.ResponseWriter, r *http.Request) error {
	switch r.PathValue("name") {
	case "profile":
		pprof.Profile(w, r)
	case "trace":
		pprof.Trace(w, r)
	case "symbol":
		pprof.Symbol(w, r)
	case "cmdline":
		pprof.Cmdline(w, r)
	default:
		pprof.Index(w, r)
	}
	return nil
}
