package ruleset

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// serverFile is servers.yaml.
type serverFile struct {
	Version int          `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Common  errorRules   `rule:"common,required" doc:"What the texts of errors mean, for every server."`
	Servers []serverRule `rule:"servers,required" doc:"The dialects. The first of which a probe is a hit counts; the last has no probe and fits every server."`
}

type serverRule struct {
	At             rulefile.Place
	ID             rulefile.Text                  `rule:"id,required" doc:"Its name in models.yaml, settings and traces." eg:"vllm"`
	About          string                         `rule:"about,required" doc:"Which servers it is for." eg:"vLLM from 0.12 on."`
	Detect         []probeRule                    `rule:"detect" doc:"Questions that tell it from other servers; one hit is enough."`
	Models         string                         `rule:"models" doc:"Path of the model list, after /v1." eg:"/models"`
	Props          string                         `rule:"props" doc:"A further path that tells the context window, from the root of the host." eg:"/props"`
	Window         []string                       `rule:"window" doc:"Where the answers of models and props hold the context window (gjson paths)." eg:"[data.0.max_model_len]"`
	ReasoningIn    []string                       `rule:"reasoning_in,required" doc:"Fields in which replies may carry the chain of thought." eg:"[reasoning, reasoning_content]"`
	ReasoningOut   []string                       `rule:"reasoning_out,required" doc:"Fields in which it is given back with the history." eg:"[reasoning]"`
	Rename         []rulefile.Pair[rulefile.Text] `rule:"rename" doc:"Fields of the request that are called something else here." eg:"{max_completion_tokens: max_tokens}"`
	DropFields     []string                       `rule:"drop_fields" doc:"Fields of the request that the server chokes on." eg:"[parallel_tool_calls]"`
	DropEmptyTools bool                           `rule:"drop_empty_tools" doc:"true leaves out an empty list of tools."`
	DropStrict     bool                           `rule:"drop_strict" doc:"true leaves out strict of each tool."`
	FoldSystem     bool                           `rule:"fold_system" doc:"true puts later system and developer messages into the first one."`
	SystemRole     string                         `rule:"system_role" one:"system" doc:"system: developer messages are sent as system messages."`
	FlattenParts   bool                           `rule:"flatten_parts" doc:"true makes a list of text parts one text."`
	ToolChoice     string                         `rule:"tool_choice,required" one:"pass auto drop" doc:"pass sends it as it is, auto makes what forces a call auto, drop leaves it out."`
	Effort         effortRule                     `rule:"effort,required" doc:"How the server takes the reasoning effort."`
	Structured     string                         `rule:"structured" doc:"The field that takes a bare JSON Schema; left out: response_format as it is." eg:"guided_json"`
	Errors         errorRules                     `rule:"errors" doc:"As under common, for this server alone; tried first."`
}

type probeRule struct {
	Path     rulefile.Text `rule:"path,required" doc:"From the root of the host." eg:"/version"`
	Contains rulefile.Text `rule:"contains" doc:"What a 200 answer contains, white space left out; left out: any JSON object." eg:"'\"owned_by\":\"vllm\"'"`
}

type effortRule struct {
	Field   string                         `rule:"field,required" doc:"Where it goes in the request." eg:"reasoning_effort"`
	Allowed []string                       `rule:"allowed,required" one:"none minimal low medium high xhigh max" doc:"What the server accepts." eg:"[low, medium, high]"`
	Map     []rulefile.Pair[rulefile.Text] `rule:"map" doc:"What other values become; an empty text leaves the field out." eg:"{minimal: low, max: high}"`
}

// errorRules is what the texts of errors mean.
type errorRules struct {
	Overflow       []errorRule   `rule:"overflow" doc:"The prompt is too long. Groups of the patterns: limit, requested, prompt, output."`
	OutputTooLarge []errorRule   `rule:"output_too_large" doc:"max_tokens alone is too large. Groups of the patterns: limit, prompt."`
	Retry          []errorRule   `rule:"retry" doc:"The model slipped and the server could not read it: ask again."`
	Recover        []recoverRule `rule:"recover" doc:"Error bodies that hold what the model wrote."`
	Hints          []hintRule    `rule:"hints" doc:"What an operator can do about an error."`
}

type errorRule struct {
	At    rulefile.Place
	About string          `rule:"about" doc:"Which server says it, or why this stands here." eg:"our proxy"`
	Find  rulefile.Text   `rule:"find,required" doc:"A regular expression (RE2) over the text of the error." eg:"'(?i)context is (?P<limit>[0-9]+) tokens'"`
	Hit   []errorText     `rule:"hit" doc:"Texts that it finds, tried whenever the rules are loaded."`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts that it does not find, tried whenever the rules are loaded." eg:"[Unexpected token in JSON]"`
}

type recoverRule struct {
	At    rulefile.Place
	About string          `rule:"about" doc:"Which server says it, or why this stands here." eg:"our proxy"`
	Field rulefile.Text   `rule:"field" doc:"Path of the generated text in the body (gjson)." eg:"error.failed_generation"`
	Find  *rulefile.Text  `rule:"find" doc:"A regular expression (RE2) over the text of the error; its group args is arguments, its group text generated text." eg:"'raw=(?P<args>.*), err='"`
	Hit   []errorText     `rule:"hit" doc:"Texts that it finds, tried whenever the rules are loaded."`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts that it does not find, tried whenever the rules are loaded." eg:"[Unexpected token in JSON]"`
}

type hintRule struct {
	At     rulefile.Place
	About  string          `rule:"about" doc:"Which server says it, or why this stands here." eg:"our proxy"`
	Find   rulefile.Text   `rule:"find,required" doc:"A regular expression (RE2) over the text of the error." eg:"'(?i)does not support tools'"`
	Say    string          `rule:"say,required" doc:"The sentence for the log and the caller." eg:"The model at the server has no template for tools."`
	Status int             `rule:"status" min:"400" max:"599" doc:"HTTP status for the caller; left out: as recovery.yaml says." eg:"503"`
	Hit    []errorText     `rule:"hit" doc:"Texts that it finds, tried whenever the rules are loaded."`
	Miss   []rulefile.Text `rule:"miss" doc:"Texts that it does not find, tried whenever the rules are loaded." eg:"[Unexpected token in JSON]"`
}

// errorText is the text of an error and what the groups of a pattern find in it.
type errorText struct {
	Text  rulefile.Text                  `rule:"text,required" doc:"The text of an error." eg:"prompt of 9000 tokens is over the limit of 8192"`
	Gives []rulefile.Pair[rulefile.Text] `rule:"gives" doc:"What the groups of the pattern find in it." eg:"{prompt: '9000', limit: '8192'}"`
}

// servers takes servers.yaml; the common patterns go to the end of each server's.
func (l *loader) servers() {
	f := decodeFile[serverFile](l, serversFile)
	var common Server
	l.errors(&common, f.Common)
	var ids []rulefile.Text
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
	l.unique("id", ids)
	l.lastServer(f.Servers)
}

// lastServer checks that exactly the last server fits every server.
func (l *loader) lastServer(rules []serverRule) {
	for i, r := range rules {
		switch last := i == len(rules)-1; {
		case last && len(r.Detect) > 0:
			l.report(r.At, rulefile.CodeValue, "the last server has no detect: it is for every server that nothing else fits", "")
		case !last && len(r.Detect) == 0:
			l.report(r.At, rulefile.CodeMissing, r.ID.Value+" lacks detect", "only the last server fits every server")
		}
	}
	if _, ok := l.files[serversFile]; ok && len(rules) == 0 && l.clean(serversFile) {
		l.problems = append(l.problems, rulefile.Problem{File: serversFile, Code: rulefile.CodeMissing, Msg: "no server: at least generic must stand here"})
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
			l.report(e.At, rulefile.CodeMissing, "this pattern lacks find or field", "")
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
		if r.Find.At.Known() { // a missing one is reported already
			l.report(r.Find.All(), rulefile.CodeValue, "an empty pattern fits every text", "")
		}
		return p
	}
	if p.Match = l.pattern(r.Find, ""); p.Match == nil {
		return p
	}
	l.set.book.add(r.At, cmp.Or(r.About, r.Find.Value))
	for _, name := range p.Match.SubexpNames() {
		if name != "" && !slices.Contains(groups, name) {
			l.report(r.Find.All(), cond.CodeRegexp, "no group here is called "+name, rulefile.DidYouMean(name, groups))
		}
	}
	l.tryErrors(p, r)
	return p
}

// tryErrors checks the examples of one pattern.
func (l *loader) tryErrors(p Pattern, r errorRule) {
	l.set.Counts.Examples += len(r.Hit) + len(r.Miss)
	where := "the pattern stands in line " + strconv.Itoa(r.Find.At.Line())
	for _, e := range r.Hit {
		m := p.Match.FindStringSubmatch(e.Text.Value)
		if m == nil {
			l.report(e.Text.All(), codeExample, "the pattern does not find this", where)
			continue
		}
		l.cover(p.Place)
		for _, g := range e.Gives {
			got := ""
			if i := p.Match.SubexpIndex(g.Key.Value); i >= 0 {
				got = m[i]
			}
			if got != g.Value.Value {
				l.report(g.Value.All(), codeExample, g.Key.Value+" is "+orNothing(got)+" here, not "+g.Value.Value, where)
			}
		}
	}
	for _, t := range r.Miss {
		if p.Match.MatchString(t.Value) {
			l.report(t.All(), codeExample, "the pattern finds this, and should not", where)
		}
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func texts(pairs []rulefile.Pair[rulefile.Text]) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		out[p.Key.Value] = p.Value.Value
	}
	return out
}
