package ruleset

import (
	"slices"
	"strconv"
)

// serverFile is servers.yaml.
type serverFile struct {
	Version int          `rule:"version,required" one:"1"`
	Common  errorRules   `rule:"common,required"`
	Servers []serverRule `rule:"servers,required"`
}

type serverRule struct {
	At             place
	ID             text         `rule:"id,required"`
	About          string       `rule:"about,required"`
	Detect         []probeRule  `rule:"detect"`
	Models         string       `rule:"models"`
	Props          string       `rule:"props"`
	Window         []string     `rule:"window"`
	ReasoningIn    []string     `rule:"reasoning_in,required"`
	ReasoningOut   []string     `rule:"reasoning_out,required"`
	Rename         []pair[text] `rule:"rename"`
	DropFields     []string     `rule:"drop_fields"`
	DropEmptyTools bool         `rule:"drop_empty_tools"`
	DropStrict     bool         `rule:"drop_strict"`
	FoldSystem     bool         `rule:"fold_system"`
	SystemRole     string       `rule:"system_role" one:"system"`
	FlattenParts   bool         `rule:"flatten_parts"`
	ToolChoice     string       `rule:"tool_choice,required" one:"pass auto drop"`
	Effort         effortRule   `rule:"effort,required"`
	Structured     string       `rule:"structured"`
	Errors         errorRules   `rule:"errors"`
}

type probeRule struct {
	Path     text `rule:"path,required"`
	Contains text `rule:"contains"`
}

type effortRule struct {
	Field   string       `rule:"field,required"`
	Allowed []string     `rule:"allowed,required" one:"none minimal low medium high xhigh max"`
	Map     []pair[text] `rule:"map"`
}

// errorRules is what the texts of errors mean.
type errorRules struct {
	Overflow       []errorRule   `rule:"overflow"`
	OutputTooLarge []errorRule   `rule:"output_too_large"`
	Retry          []errorRule   `rule:"retry"`
	Recover        []recoverRule `rule:"recover"`
	Hints          []hintRule    `rule:"hints"`
}

type errorRule struct {
	At    place
	About string      `rule:"about"`
	Find  text        `rule:"find,required"`
	Hit   []errorText `rule:"hit"`
	Miss  []text      `rule:"miss"`
}

type recoverRule struct {
	At    place
	About string      `rule:"about"`
	Field text        `rule:"field"`
	Find  *text       `rule:"find"`
	Hit   []errorText `rule:"hit"`
	Miss  []text      `rule:"miss"`
}

type hintRule struct {
	At     place
	About  string      `rule:"about"`
	Find   text        `rule:"find,required"`
	Say    string      `rule:"say,required"`
	Status int         `rule:"status" min:"400" max:"599"`
	Hit    []errorText `rule:"hit"`
	Miss   []text      `rule:"miss"`
}

// errorText is the text of an error and what the groups of a pattern find in it.
type errorText struct {
	Text  text         `rule:"text,required"`
	Gives []pair[text] `rule:"gives"`
}

// servers takes servers.yaml; the common patterns go to the end of each server's.
func (l *loader) servers() {
	f := decodeFile[serverFile](l, serversFile)
	var common Server
	l.errors(&common, f.Common)
	var ids []text
	for _, r := range f.Servers {
		ids = append(ids, r.ID)
		s := Server{
			ID: r.ID.Value, About: r.About, Place: r.At.String(),
			Models: r.Models, Props: r.Props, Window: r.Window, ReasoningIn: r.ReasoningIn, ReasoningOut: r.ReasoningOut,
			Rename: texts(r.Rename), DropFields: r.DropFields, DropEmptyTools: r.DropEmptyTools, DropStrict: r.DropStrict,
			FoldSystem: r.FoldSystem, SystemRole: r.SystemRole, FlattenParts: r.FlattenParts, ToolChoice: r.ToolChoice,
			Effort:     Effort{Field: r.Effort.Field, Allowed: r.Effort.Allowed, Map: texts(r.Effort.Map)},
			Structured: r.Structured,
		}
		for _, p := range r.Detect {
			s.Detect = append(s.Detect, Probe{Path: p.Path.Value, Contains: p.Contains.Value})
		}
		l.errors(&s, r.Errors)
		s.Overflow = append(s.Overflow, common.Overflow...)
		s.OutputTooLarge = append(s.OutputTooLarge, common.OutputTooLarge...)
		s.Retry = append(s.Retry, common.Retry...)
		s.Recover = append(s.Recover, common.Recover...)
		s.Hints = append(s.Hints, common.Hints...)
		l.set.Servers = append(l.set.Servers, s)
	}
	l.unique(ids)
	l.lastServer(f.Servers)
}

// lastServer checks that exactly the last server fits every server.
func (l *loader) lastServer(rules []serverRule) {
	for i, r := range rules {
		switch last := i == len(rules)-1; {
		case last && len(r.Detect) > 0:
			l.report(r.At, codeValue, "the last server has no detect: it is for every server that nothing else fits", "")
		case !last && len(r.Detect) == 0:
			l.report(r.At, codeMissing, r.ID.Value+" lacks detect", "only the last server fits every server")
		}
	}
	if _, ok := l.files[serversFile]; ok && len(rules) == 0 && l.clean(serversFile) {
		l.problems = append(l.problems, Problem{File: serversFile, Code: codeMissing, Msg: "no server: at least generic must stand here"})
	}
}

// errors compiles what the texts of errors mean for one server.
func (l *loader) errors(s *Server, r errorRules) {
	for _, e := range r.Overflow {
		s.Overflow = append(s.Overflow, l.errorPattern(e, "limit", "requested", "prompt", "output"))
	}
	for _, e := range r.OutputTooLarge {
		s.OutputTooLarge = append(s.OutputTooLarge, l.errorPattern(e, "limit", "prompt"))
	}
	for _, e := range r.Retry {
		s.Retry = append(s.Retry, l.errorPattern(e))
	}
	for _, e := range r.Recover {
		p := CallPattern{Field: e.Field.Value, Place: e.At.String()}
		switch {
		case e.Find != nil:
			p.Match = l.errorPattern(errorRule{e.At, e.About, *e.Find, e.Hit, e.Miss}, "args", "text").Match
		case e.Field.Value == "":
			l.report(e.At, codeMissing, "this pattern lacks find or field", "")
		}
		s.Recover = append(s.Recover, p)
	}
	for _, e := range r.Hints {
		p := l.errorPattern(errorRule{e.At, e.About, e.Find, e.Hit, e.Miss})
		s.Hints = append(s.Hints, Hint{Match: p.Match, Say: e.Say, Status: e.Status, Place: p.Place})
	}
}

// errorPattern compiles a pattern whose groups have some of these names, and
// tries its examples.
func (l *loader) errorPattern(r errorRule, groups ...string) Pattern {
	p := Pattern{Place: r.At.String()}
	if r.Find.Value == "" {
		if r.Find.at.src != nil { // a missing one is reported already
			l.report(r.Find.all(), codeValue, "an empty pattern fits every text", "")
		}
		return p
	}
	if p.Match = l.pattern(r.Find); p.Match == nil {
		return p
	}
	for _, name := range p.Match.SubexpNames() {
		if name != "" && !slices.Contains(groups, name) {
			l.report(r.Find.all(), codeRegexp, "no group here is called "+name, didYouMean(name, groups))
		}
	}
	l.tryErrors(p, r)
	return p
}

// tryErrors checks the examples of one pattern.
func (l *loader) tryErrors(p Pattern, r errorRule) {
	l.set.Counts.Examples += len(r.Hit) + len(r.Miss)
	where := "the pattern stands in line " + strconv.Itoa(r.Find.at.line)
	for _, e := range r.Hit {
		m := p.Match.FindStringSubmatch(e.Text.Value)
		if m == nil {
			l.report(e.Text.all(), codeExample, "the pattern does not find this", where)
			continue
		}
		for _, g := range e.Gives {
			got := ""
			if i := p.Match.SubexpIndex(g.Key.Value); i >= 0 {
				got = m[i]
			}
			if got != g.Value.Value {
				l.report(g.Value.all(), codeExample, g.Key.Value+" is "+orNothing(got)+" here, not "+g.Value.Value, where)
			}
		}
	}
	for _, t := range r.Miss {
		if p.Match.MatchString(t.Value) {
			l.report(t.all(), codeExample, "the pattern finds this, and should not", where)
		}
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func texts(pairs []pair[text]) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		out[p.Key.Value] = p.Value.Value
	}
	return out
}
