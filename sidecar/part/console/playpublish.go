package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

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
		p.Refused = "Nothing was changed: somebody has published since you began. See below what, and publish again if yours is to stand over it."
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
		p.MayNot = "Nobody can publish on this page: this listener asks for no token, so nobody knows who you are. But every program that reaches it can, with PUT /rules. Set admin_token where the server starts: then both ask for a token."
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
