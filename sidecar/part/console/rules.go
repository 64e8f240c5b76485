package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// rulesView shows the rules in force, refused edits, earlier versions and hits.
type rulesView struct {
	live.Report
	Age      time.Duration
	Problems []problemView // of the last refused edit
	Warnings []problemView
	History  []live.Past
	Notice   string
	Filter   ruleFilter
	Rules    []live.RuleHits // that match the filter
	All      int
	Never    int // rules that never fired
	Gone     int // hits of rules that are no longer in force
	Up       time.Duration
	Own      []aboutFile // of the operator
	Fixed    []aboutFile // of the program, and of the locked folder
}

// aboutFile is a file with its purpose.
type aboutFile struct {
	live.ReportedFile
	About string
}

// problemView is a problem, with its source line split at the place.
type problemView struct {
	rulefile.Problem
	Before, About, After string
}

// ruleFilter selects the listed rules.
type ruleFilter struct{ Text, Fired string }

func (f ruleFilter) fits(r *live.RuleHits) bool {
	if f.Fired == "never" && r.Hits > 0 || f.Fired == "fired" && r.Hits == 0 {
		return false
	}
	all := strings.ToLower(r.ID + "\n" + strings.Join(r.Places, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(f.Text)),
		func(w string) bool { return !strings.Contains(all, w) })
}

func (c *Console) rulesPage(r *http.Request, _ viewer) (any, error) {
	q, now := r.URL.Query(), c.Now()
	out := &rulesView{Report: c.API.Rules.Report(true), History: c.API.Rules.History(),
		Filter: ruleFilter{strings.TrimSpace(q.Get("q")), q.Get("fired")}}
	out.Age = now.Sub(out.Since)
	out.Warnings = problemViews(out.Report.Warnings)
	if out.Refused != nil {
		out.Problems = problemViews(out.Refused.Problems)
	}
	if version := q.Get("back"); version == out.Version && out.By == "rollback" {
		out.Notice = "The rules are rolled back. Version " + version + " is in force."
	}
	for _, f := range out.Report.Files {
		list := &out.Fixed
		if f.From == rulefile.FromFolder {
			list = &out.Own
		}
		*list = append(*list, aboutFile{f, aboutOf(*f.Text)})
	}
	hits := c.API.Rules.Hits()
	out.All, out.Gone, out.Up = len(hits.Rules), int(hits.Gone), now.Sub(hits.Since)
	for i := range hits.Rules {
		rule := &hits.Rules[i]
		if rule.Hits == 0 {
			out.Never++
		}
		if out.Filter.fits(rule) {
			out.Rules = append(out.Rules, *rule)
		}
	}
	return out, nil
}

// problemViews converts problems for a page.
func problemViews(list rulefile.Problems) (out []problemView) {
	for _, p := range list {
		v := problemView{Problem: p}
		line := []rune(p.Source)
		from := min(max(p.Col-1, 0), len(line))
		to := min(max(p.EndCol-1, from), len(line))
		v.Before, v.About, v.After = shown(string(line[:from])), shown(string(line[from:to])),
			shown(string(line[to:]))
		if all := shown(p.Source); all != v.Before+v.About+v.After { // a secret crosses the place
			v.Before, v.About, v.After = all, "", ""
		}
		v.Msg, v.Hint = shown(p.Msg), shown(p.Hint)
		out = append(out, v)
	}
	return out
}

// fileView shows a rule file of a version.
type fileView struct {
	Name, Version, InForce string
	Lines                  []lineView
}

// lineView is a line, with the hits of the rule that begins there.
type lineView struct {
	N    int
	Text string
	Rule string // id; empty: no rule begins here
	Hits int
}

func (f *fileView) title() string { return f.Name }

func (c *Console) rulePage(r *http.Request, _ viewer) (any, error) {
	inForce := c.API.Rules.Set().Version
	out := &fileView{Name: r.PathValue("name"), Version: cmp.Or(r.URL.Query().Get("version"), inForce),
		InForce: inForce}
	files, ok := c.API.Rules.Texts(out.Version)
	if !ok {
		return nil, &trouble{http.StatusNotFound, "This version is gone",
			"The history keeps the last 20 versions of the rules, and has none of this name. Rules shows what is in force."}
	}
	text, ok := files[out.Name]
	if !ok {
		return nil, &trouble{http.StatusNotFound, "There is no such rule file",
			"Version " + out.Version + " has none of this name. Rules lists its files."}
	}
	fired := map[string]live.RuleHits{}
	if out.Version == inForce {
		for _, rule := range c.API.Rules.Hits().Rules {
			for _, place := range rule.Places {
				fired[place] = rule
			}
		}
	}
	for i, line := range maskedLines(text) {
		v := lineView{N: i + 1, Text: line}
		if rule, ok := fired[fmt.Sprintf("%s:%d", out.Name, i+1)]; ok {
			v.Rule, v.Hits = rule.ID, int(rule.Hits)
		}
		out.Lines = append(out.Lines, v)
	}
	return out, nil
}

// versionView shows an earlier version and what a rollback would change.
type versionView struct {
	live.Past
	Now     string // the version in force
	Folder  string
	Changes []fileDiff // from what is in force to this version
	Stays   []string   // files that differ, but that a rollback does not change
	Files   []string
	May     bool
	Refused bool
}

func (v *versionView) title() string { return "Version " + v.Version }

func (c *Console) versionPage(r *http.Request, v viewer) (any, error) {
	report, version := c.API.Rules.Report(false), r.PathValue("version")
	past := c.API.Rules.History()
	i := slices.IndexFunc(past, func(p live.Past) bool { return p.Version == version })
	then, ok := c.API.Rules.Texts(version)
	if i < 0 || !ok {
		return nil, &trouble{http.StatusNotFound, "This version is gone",
			"The history keeps the last 20 versions of the rules, and has none of this name."}
	}
	now, _ := c.API.Rules.Texts(report.Version)
	out := &versionView{Past: past[i], Now: report.Version, Folder: report.Folder, May: v.Role >= web.Admin,
		Refused: report.Refused != nil}
	out.Changes = diffsOf(now.Own(), then.Own())
	for _, name := range now.Differ(then) {
		if !rulefile.IsRuleFile(name) { // of the program, or of the locked folder
			out.Stays = append(out.Stays, name)
		}
	}
	for name := range then {
		out.Files = append(out.Files, name)
	}
	slices.Sort(out.Files)
	return out, nil
}

// rollback restores an earlier version, if the viewer has seen the rules in force.
func (c *Console) rollback(w http.ResponseWriter, r *http.Request, v viewer) error {
	version := r.PathValue("version")
	if version == "" {
		return &trouble{http.StatusNotFound, "This version is gone",
			"No version was named. Nothing was changed."}
	}
	edited, err := c.API.Rollback(version,
		live.Seen{Who: v.By(), Versions: []string{r.PostForm.Get("version")}})
	if err != nil {
		return unseen(err, "The rules could not be rolled back",
			Root+"rules/versions/"+url.PathEscape(version))
	}
	http.Redirect(w, r, Root+"rules?back="+url.QueryEscape(edited.Version), http.StatusSeeOther)
	return nil
}
