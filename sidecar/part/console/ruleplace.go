package console

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// rulePlace is the place of a rule and its page; other texts have no page.
type rulePlace struct{ Text, Href string }

// placePattern matches file:line or file:line:column, with an optional version of the rules.
var placePattern = regexp.MustCompile(`^([\w./-]+\.yaml):(\d+)(?::\d+)?(?:@([0-9a-f]{12}))?$`)

func placeOf(s string) rulePlace {
	m := placePattern.FindStringSubmatch(s)
	if m == nil || strings.HasPrefix(m[1], rulefile.ArmFolder+"/") { // the settings of an arm are in no file
		return rulePlace{Text: s}
	}
	text, _, _ := strings.Cut(s, "@")
	return rulePlace{text, fileHref(m[1], m[3]) + "#L" + m[2]}
}

// fileHref returns the page of a rule file, by default in the version in force.
func fileHref(name, version string) string {
	u := url.URL{Path: Root + "rules/files/" + name}
	if version != "" {
		u.RawQuery = url.Values{"version": {version}}.Encode()
	}
	return u.String()
}

// ofVersion adds the version of the rules to every place of a reply.
func (v *replyView) ofVersion(version string) {
	at := func(place *string) {
		if placeOf(*place+"@"+version).Href != "" {
			*place += "@" + version
		}
	}
	for _, calls := range [][]callView{v.Calls, v.Refused} {
		for i := range calls {
			for k := range calls[i].Repairs {
				at(&calls[i].Repairs[k].Rule)
			}
		}
	}
	for i := range v.Judged {
		j := &v.Judged[i]
		at(&j.Place)
		for k := range j.Audits {
			at(&j.Audits[k].Place)
		}
		for _, list := range [][]ruleset.Verdict{j.Holds, j.Idle} {
			for k := range list {
				at(&list[k].Place)
				eachTerm(list[k].Term, func(t *cond.Term) { at(&t.Place) })
			}
		}
	}
	if v.Tree == nil {
		return
	}
	for i := range v.Tree.Strategies {
		s := &v.Tree.Strategies[i]
		at(&s.Rule)
		for k := range s.Steps {
			eachTerm(s.Steps[k].Condition, func(t *cond.Term) { at(&t.Place) })
		}
	}
	for i := range v.Tree.Trace {
		at(&v.Tree.Trace[i].Rule)
	}
}

func eachTerm(t *cond.Term, do func(*cond.Term)) {
	if t == nil {
		return
	}
	do(t)
	for i := range t.Of {
		eachTerm(&t.Of[i], do)
	}
}
