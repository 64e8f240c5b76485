package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// page describes a page of the console. A new page needs a file with its data, a template, and a row here.
type page struct {
	path    string // of the mux
	file    string // in the folder pages
	title   string
	nav     string // text in the navigation; empty: not listed
	key     string // key after g
	needs   web.Role
	data    func(*Console, *http.Request, viewer) (any, error)
	changes map[string]change // by path
}

// change is the handler of a form that was read. It writes its own answer.
type change struct {
	needs web.Role
	do    func(*Console, http.ResponseWriter, *http.Request, viewer) error
	most  int64 // maximal bytes of its form; 0: maxForm
}

func pages() []page {
	return []page{
		{path: Root + "{$}", file: "live.html", title: "Live", nav: "Live", key: "l", needs: web.Reader, data: (*Console).livePage},
		{path: Root + "turns/{id}", file: "turn.html", title: "Turn", needs: web.Reader, data: (*Console).turnPage},
		{path: Root + "approvals", file: "approvals.html", title: "Approvals", nav: "Approvals", key: "a", needs: web.Reader, data: (*Console).approvalsPage,
			changes: map[string]change{Root + "approvals/{id}": {needs: web.Approver,
				do: (*Console).answer}}},
		{path: Root + "decisions", file: "decisions.html", title: "Decisions", nav: "Decisions", key: "d", needs: web.Reader, data: (*Console).decisionsPage},
		{path: Root + "decisions/{seq}", file: "decision.html", title: "Decision", needs: web.Reader, data: (*Console).decisionPage},
		{path: Root + "decisions/replay", file: "replay.html", title: "Replay", needs: web.Reader, data: (*Console).replayPage,
			changes: map[string]change{Root + "decisions/replay": {needs: web.Reader, do: (*Console).replay,
				most: maxReplay}}},
		{path: Root + "decisions/verify", file: "verify.html", title: "Verify", needs: web.Reader, data: (*Console).verifyPage,
			changes: map[string]change{Root + "decisions/verify": {needs: web.Reader,
				do: (*Console).verify}}},
		{path: Root + "runs", file: "runs.html", title: "Runs", nav: "Runs", key: "x", needs: web.Reader, data: (*Console).runsPage},
		{path: Root + "runs/{id}", file: "run.html", title: "Run", needs: web.Reader, data: (*Console).runPage,
			changes: map[string]change{Root + "runs/{id}/resume": {needs: web.Admin, do: (*Console).resume}}},
		{path: Root + "playground", file: "playground.html", title: "Playground", nav: "Playground", key: "p", needs: web.Reader, data: (*Console).playgroundPage,
			changes: map[string]change{
				Root + "playground":         {web.Reader, (*Console).tryDraft, maxDraft},
				Root + "playground/publish": {web.Admin, (*Console).publishDraft, maxDraft},
				Root + "playground/undo":    {web.Admin, (*Console).undo, maxDraft},
			}},
		{path: Root + "rules", file: "rules.html", title: "Rules", nav: "Rules", key: "r", needs: web.Reader, data: (*Console).rulesPage},
		{path: Root + "rules/files/{name...}", file: "rule-file.html", title: "Rule file", needs: web.Reader, data: (*Console).rulePage},
		{path: Root + "rules/versions/{version}", file: "rule-version.html", title: "Version", needs: web.Reader, data: (*Console).versionPage,
			changes: map[string]change{Root + "rules/versions/{version}/rollback": {needs: web.Admin,
				do: (*Console).rollback}}},
		{path: Root + "experiments", file: "experiments.html", title: "Experiments", nav: "Experiments", key: "e", needs: web.Reader, data: (*Console).experimentsPage},
		{path: Root + "experiments/{id}/stop", file: "experiment-stop.html", title: "Stop", needs: web.Admin, data: (*Console).stopPage,
			changes: map[string]change{Root + "experiments/{id}/stop": {needs: web.Admin,
				do: (*Console).stop}}},
		{path: Root + "experiments/{id}/promote/{arm}", file: "experiment-promote.html", title: "Promote", needs: web.Admin, data: (*Console).promotePage,
			changes: map[string]change{Root + "experiments/{id}/promote/{arm}": {needs: web.Admin,
				do: (*Console).promote}}},
		{path: Root + "health", file: "health.html", title: "Health", nav: "Health", key: "h", needs: web.Reader, data: (*Console).healthPage},
	}
}

// frame is the data of the template around every page.
type frame struct {
	Title, File string
	Events      string // address of its events; empty: none
	Viewer      viewer
	Open        bool // no token is required
	Nav         []navItem
	Waiting     int  // number of approvals
	Unwritten   bool // the decision log cannot be written
	Version     string
	Data        any
}

// navItem is a link in the navigation.
type navItem struct {
	Href, Name, Key string
	Here            bool
}

// templates parses each page together with the frame.
func templates(list []page) (map[string]*template.Template, error) {
	base, err := template.New("frame.html").Funcs(funcs()).ParseFS(files, "pages/frame.html",
		"pages/parts.html")
	if err != nil {
		return nil, err
	}
	out := map[string]*template.Template{}
	names := []string{"sign-in.html", "trouble.html"}
	for _, p := range list {
		names = append(names, p.file)
	}
	for _, name := range names {
		of, err := base.Clone()
		if err == nil {
			of, err = of.ParseFS(files, "pages/"+name)
		}
		if err != nil {
			return nil, err
		}
		out[name] = of
	}
	return out, nil
}

// show answers with a page.
func (c *Console) show(w http.ResponseWriter, r *http.Request, v viewer, p page) error {
	data, err := p.data(c, r, v)
	if err != nil {
		return err
	}
	f := frame{Title: p.title, Events: Root + "events", Data: data}
	if named, ok := data.(interface{ title() string }); ok {
		f.Title = named.title()
	}
	if live, ok := data.(interface{ events() string }); ok {
		f.Events = live.events()
	}
	c.render(w, r, v, http.StatusOK, p.file, f)
	return nil
}

// render writes a whole page, or an error instead.
func (c *Console) render(w http.ResponseWriter, r *http.Request, v viewer, status int, file string, f frame) {
	f.File, f.Viewer, f.Open, f.Version = file, v, c.API.Token == "", c.Version
	if v.Role != web.NoRole {
		f.Waiting, f.Unwritten = c.waiting(), c.API.Decisions.Stats().Broken
		for _, p := range c.pages {
			if p.nav != "" {
				href := path.Clean(p.path)
				if p.path == Root+"{$}" {
					href = Root
				}
				f.Nav = append(f.Nav, navItem{href, p.nav, p.key, p.file == file})
			}
		}
	}
	var out bytes.Buffer
	if err := c.shown[file].ExecuteTemplate(&out, "frame.html", f); err != nil {
		c.API.Log.Error("a page of the console failed", "event", "console_failed", "path", r.URL.Path,
			"detail", err.Error())
		http.Error(w, "this page could not be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // an error means that the browser has left
}

// asset is a file of the folder static.
type asset struct {
	body []byte
	kind string
	tag  string
}

func assets() (map[string]asset, error) {
	out := map[string]asset{}
	names, err := fs.ReadDir(files, "static")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		body, err := files.ReadFile("static/" + n.Name())
		if err != nil {
			return nil, err
		}
		kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
			".svg": "image/svg+xml"}[path.Ext(n.Name())]
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(n.Name()))
		}
		sum := sha256.Sum256(body)
		out[n.Name()] = asset{body, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return out, nil
}

// file serves a static file by its exact name.
func (c *Console) file(w http.ResponseWriter, r *http.Request) {
	a, ok := c.static[r.PathValue("name")]
	if !ok {
		c.fail(w, r, viewer{}, &trouble{http.StatusNotFound, "There is no such file",
			"The console has none of this name."})
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(a.body)
}

// funcs are the functions of the templates.
func funcs() template.FuncMap {
	return template.FuncMap{"shown": shown, "duration": duration, "clock": clock, "bytes": size,
		"plural": terminal.Count, "stamp": stamp, "ends": strings.HasSuffix,
		"brought": originWords, "placeOf": placeOf, "fileHref": fileHref, "ruleHref": ruleHref,
		"fate":   fateWords,
		"remedy": remedyWords, "inc": func(n int) int { return n + 1 }}
}

// shown masks the secrets of a text and makes invisible characters visible.
func shown(s string) string {
	s, _ = secrets.Mask(s)
	return approvals.Visible(s)
}

// shownJSON is shown for a document, in which the names of members may reveal secrets.
func shownJSON(doc []byte) string {
	if masked, n, err := secrets.MaskJSON(doc); err == nil && n > 0 {
		return approvals.Visible(string(masked))
	}
	if json.Valid(doc) {
		return approvals.Visible(string(doc))
	}
	return shown(string(doc))
}

// fateWords describes what became of a call.
func fateWords(became string) string {
	if became == string(decisions.Passed) {
		return "sent on"
	}
	return became
}

// remedyWords describes what was done about a fault.
func remedyWords(a ruleset.Action) string {
	switch a {
	case ruleset.Correct:
		return "the model was asked to correct it"
	case ruleset.Resample:
		return "the model was asked the same again"
	}
	return "given up"
}

func clock(t time.Time) string { return t.Format("15:04:05") }

// originWords describes the origin of rules.
func originWords(by string) string {
	causes := map[string]string{"start": "the start", "watch": "files that were saved",
		"put": "the admin API", "rollback": "a rollback", "promote": "a promotion"}
	return cmp.Or(causes[by], by)
}

// duration formats a duration for people.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond && d > 0:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// tokenWords formats a number of tokens.
func tokenWords(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
