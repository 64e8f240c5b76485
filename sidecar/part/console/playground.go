package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// playground shows a draft of a rule file, and how it and the rules in force read a reply.
type playground struct {
	Form     playForm
	Files    []string
	Profiles []string
	Version  string // in force
	Masked   int    // secrets of the reply that were masked when it was taken

	Checked  Checked
	Problems []draftProblem
	Refused  string // why what was asked for was not done
	Done     string

	Asked         bool // there is something to read
	Wrong         string
	Before, After *playReading // After is nil where the draft changes nothing, or does not load
	Differences   []difference
	Unnamed       []string // names that no offered tool has, and
	Offered       []string // those that could be meant
	Diff          []Line
	Tests         *testsView

	May    bool // the viewer may publish
	MayNot string
	Since  []live.Past // what came into force since the version that was seen
	Theirs []Line      // what that changed in the file
	Undo   *live.Past  // the version before; nil: none is known
	Undone []string    // the files that it changes
	Failed []failed    // replies that one may begin with

	stale bool // another author has published since the draft began
}

// testsView shows the tests of the folder with the draft.
type testsView struct {
	ruleset.Report
	Failed int
}

// Up links back to the page of the reply or of the rule file.
func (p *playground) Up() pair {
	if p.Form.Turn != "" {
		return pair{"The turn", turnPath(p.Form.Turn)}
	}
	if rulefile.IsRuleFile(p.Form.From) {
		return pair{p.Form.From, fileHref(p.Form.From, "")}
	}
	return pair{"Live", Root}
}

// Next suggests the next step in a few words.
func (p *playground) Next() string {
	switch {
	case p.Refused != "":
		return p.Refused
	case p.Done != "":
		return p.Done
	case p.Wrong != "":
		return "Mend the reply: " + p.Wrong
	case p.Checked.Set == nil || p.Checked.Failing:
		if i := slices.IndexFunc(p.Problems, func(v draftProblem) bool { return !v.Warning }); i >= 0 {
			return "Mend " + p.Problems[i].where() + ": " + p.Problems[i].Msg
		}
	case !p.Asked:
		if len(p.Failed) > 0 {
			return "Paste a reply in step 1, or choose there one of a turn that failed."
		}
		return "Paste a reply in step 1. Or open a turn in Live, and press t."
	case len(p.Unnamed) > 0 && !p.Checked.Changed:
		return "No tool is called " + shown(p.Unnamed[0]) + ". Say in step 2 which one it means."
	case !p.Checked.Changed:
		return "Change the rule file in step 2. Step 3 shows at once what that does."
	case p.Tests != nil && p.Tests.Failed > 0:
		return "A test does not hold: mend the draft, or the test."
	case p.Tests == nil && p.refused() != "":
		return "Still refused: " + p.refused() + ". Go on in step 2, or drop the draft."
	case p.Tests == nil && len(p.Differences) == 0:
		return "Your draft reads it as before. Go on with step 2."
	case p.Tests == nil:
		return "The reading changes. Is it right? Then run the tests in step 4."
	case p.refused() != "":
		return "The tests hold, and the call is refused still. Publish only if that is right."
	case p.May:
		return "The tests hold. Publish in step 5."
	}
	return "The tests hold."
}

// refused returns why the draft refuses an apparent call; empty: it reads one, or there is none.
func (p *playground) refused() string {
	if p.After == nil || len(p.After.Calls) > 0 || len(p.After.Refused) == 0 {
		return ""
	}
	return p.After.Refused[0].Why
}

func (c *Console) playgroundPage(r *http.Request, v viewer) (any, error) {
	f, err := fieldsOf(r.URL.Query()), error(nil)
	// an address is no form
	f = playForm{What: "reply", Tools: "three", Turn: f.Turn, Reply: f.Reply, File: f.File, Line: f.Line,
		Do: "open"}
	masked := 0
	if f.Turn == "" {
		f.From = f.File
	} else {
		if masked, err = c.take(&f); err != nil {
			return nil, err
		}
	}
	p, err := c.applyChange(r, v, f, nil)
	if err != nil {
		return nil, err
	}
	p.Masked = masked
	return p, nil
}

// tryDraft shows the form, and changes nothing.
func (c *Console) tryDraft(w http.ResponseWriter, r *http.Request, v viewer) error {
	return c.showPlayground(w, r, v, nil)
}

// showPlayground applies change, unless it is nil, and shows the page.
func (c *Console) showPlayground(w http.ResponseWriter, r *http.Request, v viewer,
	change func(*playground) error) error {
	f, err := formOf(r)
	if err != nil {
		return err
	}
	p, err := c.applyChange(r, v, f, change)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Refused != "" {
		status = http.StatusConflict
	}
	c.render(w, r, v, status, "playground.html", frame{Title: "Playground", Events: Root + "events", Data: p})
	return nil
}

// applyChange applies change, and computes the page within the limit of drafts.
func (c *Console) applyChange(r *http.Request, v viewer, f playForm,
	change func(*playground) error) (*playground, error) {
	p := &playground{Form: f}
	err := c.limited(r, change != nil, func() error {
		if change != nil {
			if err := change(p); err != nil {
				return err
			}
		}
		return c.fillPlayground(p, v)
	})
	if errors.Is(err, errNoFile) {
		return nil, &trouble{http.StatusNotFound, "There is no such rule file",
			"The rules in force have no file of this name. Choose one of the list."}
	}
	return p, err
}

// fillPlayground computes the page.
func (c *Console) fillPlayground(p *playground, v viewer) error {
	report := c.API.Rules.Report(true)
	texts := map[string]string{}
	for _, file := range report.Files {
		if rulefile.IsRuleFile(file.Name) {
			p.Files = append(p.Files, file.Name)
			texts[file.Name] = *file.Text
		}
	}
	p.Version = report.Version
	p.choose(texts, v)
	d := p.Form.drafted(c.API.Rules)
	var err error
	if p.Checked, err = d.Check(c.API.Rules); err != nil {
		return err
	}
	c.compare(p)
	if p.Form.Do == "alias" {
		if p.alias(); p.Refused == "" {
			d = p.Form.drafted(c.API.Rules)
			if p.Checked, err = d.Check(c.API.Rules); err != nil {
				return err
			}
			c.compare(p)
		}
	}
	for _, problem := range p.Checked.Problems {
		p.Problems = append(p.Problems, draftProblem{problem, problem.File == d.File && problem.Line > 0})
	}
	if p.Checked.Changed {
		p.Diff = Diff(texts[d.File], d.Text)
	}
	if p.Form.Do == "tests" {
		report, _, err := d.Test(c.API.Rules)
		if err != nil {
			return err
		}
		p.tests(report)
	}
	if p.Form.Turn == "" && !p.Asked {
		p.Failed = c.failedTurns(p.Form.Of)
	}
	p.rights(report, v)
	p.past(c.API.Rules, texts[d.File])
	return nil
}

// choose opens the requested file, unless another draft would be lost.
func (p *playground) choose(texts map[string]string, v viewer) {
	f := &p.Form
	dirty := f.Of != "" && !sameLines(texts[f.Of], unmaskLines(texts[f.Of], f.Draft))
	switch {
	case f.Do == "open" && dirty && f.File != f.Of:
		p.Refused = "Your draft of " + f.Of +
			" is not published. Publish it, or drop it, and then open " + f.File + "."
		f.File = f.Of
	case f.Of == "", f.Do == "open" && f.File != f.Of, f.Do == "drop", f.Do == "alias" && f.Of != aliasFile &&
		!dirty:
		switch f.Do {
		case "drop":
			f.File = f.Of
		case "alias":
			f.File = aliasFile
		}
		f.Of = cmp.Or(f.File, aliasFile)
		f.Draft, f.Base = draftFor(v, texts[f.Of]), p.Version
	}
	f.File = f.Of
}

// drafted returns the draft of the form. A file keeps its CR LF.
func (f *playForm) drafted(rules Rules) *Draft {
	now := rules.Merged(nil)[f.Of]
	d := &Draft{File: f.Of, Text: unmaskLines(now, f.Draft)}
	if sameLines(now, d.Text) {
		d.Text = now
	} else if strings.Contains(now, "\r\n") {
		d.Text = strings.ReplaceAll(d.Text, "\n", "\r\n")
	}
	return d
}

// alias adds a name of a tool to the draft.
func (p *playground) alias() {
	f := &p.Form
	tool, name, _ := strings.Cut(f.Alias, " ")
	switch {
	case !slices.Contains(p.Unnamed, name) || !slices.Contains(p.Offered, tool):
		p.Refused = "Nothing was changed: the reply holds no such name now, or no such tool is offered."
	case f.Of != aliasFile:
		p.Refused = "Names stand in " + aliasFile + ". Publish your draft of " + f.Of + " first, or drop it."
	default:
		if f.Draft, f.Line = Alias(f.Draft, tool, name); f.Line == 0 {
			p.Refused = fmt.Sprintf("It cannot be written in there by itself. Say below tools: in the draft that %s has the name %s.", shown(tool), shown(name))
		}
	}
}

func (p *playground) tests(report *ruleset.Report) {
	if report == nil {
		p.Refused = "The tests cannot run: the draft does not load."
		return
	}
	p.Tests = &testsView{Report: *report}
	for i := range report.Tests {
		if len(report.Tests[i].Problems) > 0 {
			p.Tests.Failed++
		}
	}
}

// publishDraft puts the draft in force, if its author has seen the rules that it replaces.
func (c *Console) publishDraft(w http.ResponseWriter, r *http.Request, v viewer) error {
	return c.showPlayground(w, r, v, func(p *playground) error {
		d := p.Form.drafted(c.API.Rules)
		checked, err := d.Check(c.API.Rules)
		switch {
		case err != nil:
			return err
		case !checked.Changed:
			p.Refused = p.Form.Of + " is in force as it stands here."
			return nil
		case checked.Set == nil || checked.Failing:
			p.Refused = "Nothing was published: the draft has problems."
			return nil
		}
		edited, err := c.API.Rules.Merge(map[string]*string{d.File: &d.Text},
			live.Seen{Versions: []string{p.Form.Base}, Who: v.By()})
		return p.edited(edited, err,
			fmt.Sprintf("%s has published %s. The next turn is read by it: send the same again, and look in Live. Step 5 undoes it.", v.Name, d.File))
	})
}

// undo restores the previous version.
func (c *Console) undo(w http.ResponseWriter, r *http.Request, v viewer) error {
	return c.showPlayground(w, r, v, func(p *playground) error {
		if p.Form.To == "" {
			p.Refused = "No earlier version is known."
			return nil
		}
		edited, err := c.API.Rules.Rollback(p.Form.To, live.Seen{Versions: []string{p.Form.Base},
			Who: v.By()})
		return p.edited(edited, err,
			v.Name+" has put the version before back in force. Your draft is still here.")
	})
}

// edited reports the result of an edit. A refused edit is no error: the draft stays.
func (p *playground) edited(e live.Edited, err error, done string) error {
	var stale *live.Stale
	var unwritten *live.Unwritten
	var problems rulefile.Problems
	switch {
	case err == nil:
		p.Form.Base, p.Done = e.Version, done
	case errors.As(err, &stale) && stale.OnDisk != stale.InForce:
		p.Refused = "Nothing was changed: the folder holds an edit that is not in force. Health says why; mend it there first."
	case errors.As(err, &stale):
		p.stale = true
		p.Refused = "Nothing was changed: the rules were published anew since you began. See below what, and publish again if yours is to stand over it."
	case errors.As(err, &problems):
		p.Refused = "Nothing was changed: the rules do not load. " + problems[0].Error()
	case errors.Is(err, live.ErrNoVersion), errors.Is(err, live.ErrBuiltin), errors.As(err, &unwritten):
		p.Refused = "Nothing was changed: " + err.Error() + "."
	default:
		return err
	}
	return nil
}

// rights determines whether the viewer may publish, and if not, why.
func (p *playground) rights(report live.Report, v viewer) {
	switch {
	case v.Role == web.Reader && !v.Signed:
		p.MayNot = "This page cannot publish: this listener asks for no token, so the page does not know who you are. But every program that reaches it can, with PUT /rules. Set admin_token where the server starts: then both ask for a token."
	case v.Role < web.Admin:
		p.MayNot = "You have signed in as " + article(v.Role) + ". Publishing takes the right of an admin."
	case report.Source == rulefile.FromProgram:
		p.MayNot = "These rules are those of the program. Write them to a folder with gpt-oss-executor init DIR, and serve that with --rules DIR."
	}
	p.May = p.MayNot == ""
}

// past lists the versions since the one that was seen, and what undo would restore. A refused author has
// now seen them, and may overwrite them.
func (p *playground) past(rules *live.Rules, now string) {
	f, list := &p.Form, rules.History()
	if f.Base != p.Version {
		for _, e := range list {
			if e.Version == f.Base {
				break
			}
			p.Since = append(p.Since, e)
		}
		if was, ok := rules.Texts(f.Base); ok {
			p.Theirs = Diff(was[f.Of], now)
		}
		if p.stale {
			f.Base = p.Version
		}
	}
	f.To = ""
	if i := slices.IndexFunc(list, func(e live.Past) bool { return e.Version != p.Version }); i > 0 {
		p.Undo, f.To, p.Undone = &list[i], list[i].Version, list[0].Changed
	}
}
