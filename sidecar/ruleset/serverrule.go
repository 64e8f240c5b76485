package ruleset

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// servers reads servers.yaml; the common patterns follow those of each server.
func (l *loader) servers() {
	f := decodeFile[serverFile](l, serversFile)
	l.errors(&f.Common)
	for i := range f.Servers {
		s := &f.Servers[i]
		l.errors(&s.ErrorRules)
		switch {
		case !l.clean(serversFile):
		case s.Effort.Field == "":
			l.report(s.ID.All(), rulefile.CodeMissing, "effort of "+s.ID.Value+" names no field",
				"write the field that holds the effort, such as reasoning_effort")
		case slices.ContainsFunc(s.Detect, func(p Probe) bool { return p.Path == "" }):
			l.report(s.ID.All(), rulefile.CodeMissing, "a probe of "+s.ID.Value+" has no path",
				"write a path from the root of the host, such as /version")
		}
		common, own := reflect.ValueOf(f.Common), reflect.ValueOf(&s.ErrorRules).Elem()
		for k := range common.NumField() {
			own.Field(k).Set(reflect.AppendSlice(own.Field(k), common.Field(k)))
		}
	}
	l.set.Servers = f.Servers
	l.lastServer(f.Servers)
}

// lastServer checks that only the last server matches every server.
func (l *loader) lastServer(rules []Server) {
	for i, r := range rules {
		switch last := i == len(rules)-1; {
		case last && len(r.Detect) > 0:
			l.report(r.At, rulefile.CodeValue,
				"the last server cannot have detect: it is for every server that no other fits", "")
		case !last && len(r.Detect) == 0:
			l.report(r.At, rulefile.CodeMissing, r.ID.Value+" lacks detect",
				"only the last server fits every server")
		}
	}
	if _, ok := l.files[serversFile]; ok && len(rules) == 0 && l.clean(serversFile) {
		l.reportFile(serversFile, rulefile.CodeMissing, "there is no server; at least generic must stand here", "")
	}
}

// errors compiles the error rules of one server.
func (l *loader) errors(r *ErrorRules) {
	for _, list := range []struct {
		patterns []Pattern
		groups   []string
	}{{r.Overflow, []string{"limit", "requested", "prompt", "output"}},
		{r.OutputTooLarge, []string{"limit", "prompt"}}, {r.NoTools, nil}, {r.BadRequest, nil}, {r.Retry, nil}} {
		for i := range list.patterns {
			l.errorPattern(&list.patterns[i], list.groups...)
		}
	}
	for i := range r.Recover {
		switch c := &r.Recover[i]; {
		case c.Find != nil:
			p := Pattern{At: c.At, About: c.About, Find: *c.Find, errorExamples: c.errorExamples}
			l.errorPattern(&p, "args", "text")
			c.Match = p.Match
		case c.Field == "":
			l.report(c.At, rulefile.CodeMissing, "this pattern has neither find nor field", "")
		}
	}
	for i := range r.Hints {
		l.errorPattern(&r.Hints[i].Pattern)
	}
}

// errorPattern compiles a pattern that may have these groups, and tries its examples.
func (l *loader) errorPattern(p *Pattern, groups ...string) {
	if p.Find.Value == "" {
		if p.Find.At.Known() { // a missing one is reported already
			l.reject(p.Find, "an empty pattern fits every text", "")
		}
		return
	}
	if p.Match = l.pattern(p.Find, ""); p.Match == nil {
		return
	}
	l.set.book.add(p.At, cmp.Or(p.About, p.Find.Value))
	l.groups(p.Find, p.Match, "find", groups)
	l.tryErrors(p)
}

// tryErrors checks the examples of one pattern.
func (l *loader) tryErrors(p *Pattern) {
	l.set.Counts.Examples += len(p.Hit) + len(p.Miss)
	where := "the pattern stands in line " + strconv.Itoa(p.Find.At.Line())
	for _, e := range p.Hit {
		m := p.Match.FindStringSubmatch(e.Text.Value)
		if m == nil {
			l.report(e.Text.All(), codeExample, "the pattern does not find this", where)
			continue
		}
		l.countHit(p.At.String())
		for _, g := range e.Gives {
			got := ""
			if i := p.Match.SubexpIndex(g.Key.Value); i >= 0 {
				got = m[i]
			}
			if got != g.Value.Value {
				l.report(g.Value.All(), codeExample, g.Key.Value+" is "+cmp.Or(got, "nothing")+
					" here, not "+g.Value.Value, where)
			}
		}
	}
	for _, t := range p.Miss {
		if p.Match.MatchString(t.Value) {
			l.report(t.All(), codeExample, "the pattern finds this, but should not", where)
		}
	}
}

// groups checks the names of groups.
func (l *loader) groups(t rulefile.Text, re *regexp.Regexp, key string, names []string) {
	for _, name := range re.SubexpNames() {
		if name != "" && !slices.Contains(names, name) {
			before, _, _ := strings.Cut(t.Value, "<"+name+">")
			from := len([]rune(before)) + 1
			l.report(t.Span(from, from+len([]rune(name))), cond.CodeRegexp,
				"no group of "+key+" is called "+name, rulefile.DidYouMean(name, names))
		}
	}
}
