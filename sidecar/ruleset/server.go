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

// serverFile is servers.yaml.
type serverFile struct {
	rulefile.Head
	Common  ErrorRules `rule:"common,required" doc:"What the error texts of every server mean."`
	Servers []Server   `rule:"servers,required" doc:"The dialects. The first one with a probe that hits counts. The last one has no probe and fits every server."`
}

// Server is the dialect of one kind of model server, as data. The error rules of common follow those of each
// server.
type Server struct {
	At             rulefile.Place
	ID             rulefile.Text     `rule:"id,required" doc:"The server's name in models.yaml, settings and traces." eg:"vllm"`
	About          string            `rule:"about,required" doc:"Which servers this dialect is for." eg:"vLLM from 0.12 on."`
	Detect         []Probe           `rule:"detect" doc:"Questions that tell the server from others. One hit is enough."`
	API            string            `rule:"api" one:"ollama" doc:"ollama asks over Ollama's own API, /api/chat. If left out, or where that is missing, over chat completions."`
	Models         string            `rule:"models" doc:"The path of the model list, after /v1." eg:"/models"`
	Props          string            `rule:"props" doc:"A further path whose answer tells the context window, from the root of the host." eg:"/props"`
	Window         []string          `rule:"window" doc:"Paths (gjson) of the context window in the answers of models and props. data.0 stands for the model that is asked, if it is listed, {model} for its name." eg:"[data.0.max_model_len]"`
	ReasoningIn    []string          `rule:"reasoning_in,required" doc:"Fields in which replies may carry the chain of thought." eg:"[reasoning, reasoning_content]"`
	ReasoningOut   []string          `rule:"reasoning_out,required" doc:"Fields in which the history gives the chain of thought back." eg:"[reasoning]"`
	Rename         map[string]string `rule:"rename" doc:"Fields of the request that have another name here." eg:"{max_completion_tokens: max_tokens}"`
	DropFields     []string          `rule:"drop_fields" doc:"Fields of the request that the server cannot take. They are removed." eg:"[parallel_tool_calls]"`
	DropEmptyTools bool              `rule:"drop_empty_tools" doc:"true removes an empty list of tools."`
	DropStrict     bool              `rule:"drop_strict" doc:"true removes the field strict of each tool."`
	SetStrict      bool              `rule:"set_strict" doc:"true says strict: true of each tool, so that the server binds the arguments of calls to their JSON Schema, and strict: false where that would lose some. It counts for families whose history says strict, and for ten minutes no more after the server has refused a request with it."`
	PlainSchemas   bool              `rule:"plain_schemas" doc:"true writes {} for a schema of a tool's argument that is true, and gives an array without items the items {}. Both mean the same. Without it a chat template, or the server, may fail over them."`
	FoldSystem     bool              `rule:"fold_system" doc:"true moves later system and developer messages into the first one."`
	SystemRole     string            `rule:"system_role" one:"system" doc:"system means that developer messages are sent as system messages."`
	FlattenParts   bool              `rule:"flatten_parts" doc:"true joins a list of text parts to one text."`
	ToolChoice     string            `rule:"tool_choice,required" one:"pass required auto drop" doc:"pass sends tool_choice as it is. required sends the name of a tool as required, and that tool alone. auto replaces a choice that forces a call by auto. drop removes it."`
	StopsSilently  bool              `rule:"stops_silently" doc:"true says that a stream may end in good order without a finish_reason and an end mark, because the server has stopped the model. Without it such a stream counts as broken."`
	RoundsIntegers bool              `rule:"rounds_integers" doc:"true says that integers in calls lose their digits beyond the 15th. The model is told to write such a one in quotes."`
	Effort         Effort            `rule:"effort,required" doc:"How the server takes the reasoning effort."`
	Others         Others            `rule:"others" doc:"What is different for models of the other families in families/, which are not gpt-oss."`
	Structured     string            `rule:"structured" doc:"The field that takes a bare JSON Schema, or a path such as structured_outputs.json. If left out, response_format is sent as it is." eg:"guided_json"`
	ErrorRules     `rule:"errors" doc:"As under common, for this server alone. These are tried first."`

	// the family that reads raw output; nil: the server parses it
	Unparsed *Family

	family *Family // of the models; nil: gpt-oss
}

// Others is what differs for models of other families than gpt-oss.
type Others struct {
	Effort   *Effort `rule:"effort" doc:"How the server takes the effort."`
	Switch   string  `rule:"switch" doc:"In place of effort: the object of the request that holds variables of the chat template. The one that turns thoughts on (families/) is false there for the effort none, and else true." eg:"chat_template_kwargs"`
	Unparsed string  `rule:"unparsed" one:"always refused" doc:"When the words are asked for as the model writes them, so that the file of its family reads them and not the server's own parser: always, or once that has refused a reply or left nothing of it. It is asked for the prompt then, and for what follows it: over Ollama's own API, or /apply-template and /completions of llama.cpp." eg:"refused"`
}

// For returns the dialect for models of a family; nil: gpt-oss.
func (s *Server) For(f *Family) *Server {
	if f == nil || !f.foreign {
		return s
	}
	out := *s
	switch o := &s.Others; {
	case o.Effort != nil:
		out.Effort = *o.Effort
	case o.Switch != "" && f.Switch != "":
		out.Effort = Effort{Field: o.Switch + "." + f.Switch, Switches: true}
	case o.Switch != "":
		out.Effort = Effort{Switches: true}
	}
	if s.Others.Unparsed == "always" {
		out.Unparsed = f
	}
	out.family = f
	return &out
}

// Refused returns the dialect after the server's own parser has refused a reply, or left nothing of it.
func (s *Server) Refused() *Server {
	if s.family == nil || s.Others.Unparsed == "" {
		return s
	}
	out := *s
	out.Unparsed = s.family
	return &out
}

// OllamaAPI is the value of Server.API for Ollama's own API.
const OllamaAPI = "ollama"

// Probe is one question to a server.
type Probe struct {
	Path     string `rule:"path,required" doc:"The path from the root of the host." eg:"/version"`
	Contains string `rule:"contains" doc:"A text that a 200 answer contains. White space does not count. If left out, any JSON object will do." eg:"'\"owned_by\":\"vllm\"'"`
}

// Effort is how a server takes the reasoning effort.
type Effort struct {
	Field   string            `rule:"field,required" doc:"The field of the request that holds the effort." eg:"reasoning_effort"`
	Allowed []string          `rule:"allowed,required" one:"none minimal low medium high xhigh max" doc:"Values that the server accepts." eg:"[low, medium, high]"`
	Map     map[string]string `rule:"map" doc:"What other values become. An empty text removes the field." eg:"{minimal: low, max: high}"`

	Switches bool // Field, if any, only enables thoughts
}

// ErrorRules are the meanings of error texts.
type ErrorRules struct {
	Overflow       []Pattern     `rule:"overflow" doc:"Errors that say: the prompt is too long. The patterns may have the groups limit, requested, prompt and output."`
	OutputTooLarge []Pattern     `rule:"output_too_large" doc:"Errors that say: max_tokens alone is too large. The patterns may have the groups limit and prompt."`
	NoTools        []Pattern     `rule:"no_tools" doc:"Errors that say: this server or model cannot call tools. The request is sent again in the style that strategies.yaml chooses."`
	BadRequest     []Pattern     `rule:"bad_request" doc:"Errors that say: the server cannot read the request, although their status is 500. It is not sent again."`
	Retry          []Pattern     `rule:"retry" doc:"Errors that say: the server could not read what the model wrote. The model is asked again."`
	Recover        []CallPattern `rule:"recover" doc:"Error bodies that hold what the model wrote."`
	Hints          []Hint        `rule:"hints" doc:"What an operator can do about errors."`
}

// Pattern matches the text of an error.
type Pattern struct {
	At    rulefile.Place
	About string        `rule:"about" doc:"Which server sends this text, or why the rule exists." eg:"our proxy"`
	Find  rulefile.Text `rule:"find,required" doc:"A regular expression (RE2) over the text of the error." eg:"'(?i)context is (?P<limit>[0-9]+) tokens'"`
	errorExamples

	Match *regexp.Regexp // Find, compiled
}

// CallPattern finds generated text in an error body: the value of Field or, if that is empty, the groups of
// Match in the text of the error.
type CallPattern struct {
	At    rulefile.Place
	About string         `rule:"about" doc:"Which server sends this text, or why the rule exists." eg:"our proxy"`
	Field string         `rule:"field" doc:"The path (gjson) of the generated text in the body." eg:"error.failed_generation"`
	Find  *rulefile.Text `rule:"find" doc:"A regular expression (RE2) over the text of the error. Its group args is the arguments of a call, its group text generated text." eg:"'raw=(?P<args>.*), err='"`
	errorExamples

	Match *regexp.Regexp // Find, compiled; nil where Field is enough
}

// Hint is a sentence for the operator if the text of an error matches.
type Hint struct {
	Pattern
	Say    string `rule:"say,required" doc:"The sentence that the log and the caller get." eg:"The model at the server has no template for tools."`
	Status int    `rule:"status" min:"400" max:"599" doc:"The HTTP status for the caller. If left out, recovery.yaml says it." eg:"503"`
}

// errorExamples are texts for testing a pattern.
type errorExamples struct {
	Hit  []errorText     `rule:"hit" doc:"Texts in which the pattern must find something. Every load tries them."`
	Miss []rulefile.Text `rule:"miss" doc:"Texts in which the pattern must find nothing. Every load tries them." eg:"[Unexpected token in JSON]"`
}

// errorText is the text of an error and the expected groups.
type errorText struct {
	Text  rulefile.Text                  `rule:"text,required" doc:"The text of an error." eg:"prompt of 9000 tokens is over the limit of 8192"`
	Gives []rulefile.Pair[rulefile.Text] `rule:"gives" doc:"What the groups of the pattern find in the text." eg:"{prompt: '9000', limit: '8192'}"`
}

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
