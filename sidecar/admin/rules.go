package admin

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// rules returns the rules in force.
func (a *API) rules(w http.ResponseWriter, r *http.Request) error {
	texts, _ := strconv.ParseBool(r.URL.Query().Get("files")) // anything else is no
	report := a.Rules.Report(texts)
	setETag(w, report.Version)
	web.WriteJSON(w, http.StatusOK, report)
	return nil
}

// ruleFile returns a file of the rules in force with its text.
func (a *API) ruleFile(w http.ResponseWriter, r *http.Request) error {
	report := a.Rules.Report(true)
	for i := range report.Files {
		if report.Files[i].Name == r.PathValue("name") {
			setETag(w, report.Version)
			web.WriteJSON(w, http.StatusOK, &report.Files[i])
			return nil
		}
	}
	return Refuse(http.StatusNotFound, "there is no rule file "+r.PathValue("name"), "GET /rules lists them")
}

func (a *API) history(w http.ResponseWriter, _ *http.Request) error {
	web.WriteJSON(w, http.StatusOK, map[string]any{"history": a.Rules.History()})
	return nil
}

// pastVersion returns the files of a version in force or in the history.
func (a *API) pastVersion(w http.ResponseWriter, r *http.Request) error {
	version := r.PathValue("version")
	files, ok := a.Rules.Texts(version)
	if !ok {
		return Refused(live.ErrNoVersion)
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"version": version, "files": files})
	return nil
}

func (a *API) hits(w http.ResponseWriter, _ *http.Request) error {
	web.WriteJSON(w, http.StatusOK, a.Rules.Hits())
	return nil
}

// candidate holds rules of a request: the operator's whole folder, or with merge some files over those in
// force, where null removes one.
type candidate struct {
	Files map[string]*string `json:"files"`
	Merge bool               `json:"merge"`
}

// folder returns the whole folder.
func (c *candidate) folder(rules *live.Rules) (rulefile.Files, error) {
	if len(c.Files) == 0 {
		return nil, Refuse(http.StatusBadRequest, "there are no files",
			`the body is {"files": {"aliases.yaml": "…", …}}, or {"files": …, "merge": true} for some of them`)
	}
	files := rulefile.Files{}
	for name, text := range c.Files {
		switch {
		case !rulefile.IsRuleFile(name):
			return nil, Refuse(http.StatusBadRequest, "no rule file can be named "+strconv.Quote(name),
				"names are such as aliases.yaml, extra/exec.x.yaml, prompts/react.txt, packs/x.yaml, tests/x.yaml")
		case text != nil:
			files[name] = *text
		case !c.Merge:
			return nil, Refuse(http.StatusBadRequest, name+" is null",
				`leave it out, or send "merge": true to remove it`)
		}
	}
	if c.Merge {
		return rules.Merged(c.Files), nil
	}
	return files, nil
}

// putRules makes files the operator's folder, on disk and in force. With ?dry=1 it only checks them.
func (a *API) putRules(w http.ResponseWriter, r *http.Request) error {
	dry := false
	if given := r.URL.Query(); given.Has("dry") {
		var err error
		if dry, err = strconv.ParseBool(given.Get("dry")); err != nil {
			return Refuse(http.StatusBadRequest, "dry is 1 or 0", "PUT /rules?dry=1 only checks")
		}
	}
	seen, err := a.Seen(r)
	if err != nil && !dry {
		return err
	}
	var body candidate
	if err := ReadJSON(r, &body); err != nil {
		return err
	}
	own, err := body.folder(a.Rules)
	if err != nil {
		return err
	}
	var edited live.Edited
	switch {
	case dry:
		edited, err = a.Rules.Dry(own, seen)
	case body.Merge:
		edited, err = a.Rules.Merge(body.Files, seen)
	default:
		edited, err = a.Rules.Put(own, seen)
	}
	return a.Edited(w, edited, err)
}

// rollback restores an earlier version.
func (a *API) rollback(w http.ResponseWriter, r *http.Request) error {
	seen, err := a.Seen(r)
	if err != nil {
		return err
	}
	var body struct {
		Version string `json:"version"`
		By      string `json:"by"`
	}
	if err := ReadJSON(r, &body); err != nil {
		return err
	}
	if err := CheckAnswer(body.By, ""); err != nil {
		return err
	}
	seen.Who = approvals.Visible(body.By)
	edited, err := a.Rules.Rollback(body.Version, seen)
	return a.Edited(w, edited, err)
}

// Rollback restores an earlier version. The error is an *Error or a fault of ours.
func (a *API) Rollback(version string, seen live.Seen) (live.Edited, error) {
	e, err := a.Rules.Rollback(version, seen)
	return e, Refused(err)
}

// Edited answers an edit.
func (a *API) Edited(w http.ResponseWriter, e live.Edited, err error) error {
	if err != nil {
		return Refused(err)
	}
	if e.Version == a.Rules.Set().Version { // not so after a dry run
		setETag(w, e.Version)
	}
	web.WriteJSON(w, http.StatusOK, e)
	return nil
}

// Refused adds a status and a hint to an error about an edit; other errors stay.
func Refused(err error) error {
	var stale *live.Stale
	var unwritten *live.Unwritten
	var problems rulefile.Problems
	switch {
	case errors.As(err, &stale):
		return Refuse(http.StatusPreconditionFailed, err.Error(),
			"GET /rules shows what is in force; name each version that you want to overwrite in If-Match, or send If-Match: *")
	case errors.As(err, &problems):
		return &Error{http.StatusUnprocessableEntity, "the rules do not load; nothing was changed",
			"problems lists each one with its place", problems}
	case errors.Is(err, live.ErrNoVersion):
		return Refuse(http.StatusNotFound, err.Error(), "GET /rules/history lists them")
	case errors.Is(err, live.ErrBuiltin):
		return Refuse(http.StatusConflict, err.Error(),
			"write them to a folder with gpt-oss-executor init DIR, and serve that with --rules DIR")
	case errors.As(err, &unwritten):
		return Refuse(http.StatusConflict, err.Error(),
			"nothing was changed; edit the source of the files, or let the server write to this folder and the one above it")
	}
	return err
}

// Seen reads If-Match, without which it fails.
func (a *API) Seen(r *http.Request) (seen live.Seen, err error) {
	fields := r.Header.Values("If-Match")
	if len(fields) == 0 {
		return seen, Refuse(http.StatusPreconditionRequired, "which version do you edit?",
			`send it with If-Match: "`+a.Rules.Set().Version+
				`" (the ETag of GET /rules), so that you overwrite no other edit`)
	}
	for _, field := range fields {
		for tag := range strings.SplitSeq(field, ",") {
			tag = strings.TrimSpace(tag)
			seen.Any = seen.Any || tag == "*"
			seen.Versions = append(seen.Versions, strings.Trim(strings.TrimPrefix(tag, "W/"), `"`))
		}
	}
	return seen, nil
}

// setETag announces the version in force, which an If-Match can repeat.
func setETag(w http.ResponseWriter, version string) {
	w.Header().Set("ETag", `"`+version+`"`)
	w.Header().Set(web.RulesVersion, version)
}
