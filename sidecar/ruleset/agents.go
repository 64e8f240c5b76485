package ruleset

import (
	"fmt"
	"maps"
	"net/textproto"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/connection"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// OpenClaw is the agent that this program was made for. Its file always exists; a folder of rules may replace
// it.
const OpenClaw = "openclaw"

// generic is the agent of requests that match no other file.
const generic = "generic"

// agentFile is a file of the folder agents, about a program that sends requests and runs the calls. It is
// named after the agent.
type agentFile struct {
	rulefile.Head
	About     string                `rule:"about" doc:"Which program this is, and with which versions the file was tried."`
	Known     []agentSign           `rule:"known" doc:"How a request of the agent is recognised: by one of these entries. Of an entry, everything must hold. Without entries no request is."`
	Session   []rulefile.Text       `rule:"session" doc:"Headers that name the session." eg:"[x-session-id]"`
	Workspace agentWorkspace        `rule:"workspace" doc:"Where the agent says that it works."`
	Folders   agentFolders          `rule:"folders" doc:"Folders of the agent itself, beside those of paths.yaml."`
	Tools     rulefile.Lists        `rule:"tools" doc:"Further names for the groups of aliases.yaml, by the first name of each." eg:"{exec: [unified_exec]}"`
	Arguments rulefile.Lists        `rule:"arguments" doc:"Other names of arguments of any tool, beside those of arguments.yaml." eg:"{cmd: [line]}"`
	Asks      string                `rule:"asks" one:"gateway agent sidecar nobody" doc:"Who asks a person when a rule says ask. gateway: the agent asks about calls that have the argument ask. agent: the call leaves as it is, and the agent asks by its own settings; one that runs such calls at once is not trusted for ten minutes. sidecar: the call waits here. nobody: the call is denied. If left out, it is sidecar. asks: sidecar of exec.yaml outranks it." eg:"agent"`
	Results   agentResults          `rule:"results" doc:"What results of calls about which a person had to be asked look like. By them the sidecar sees whether the agent has asked."`
	Retry     rulefile.Text         `rule:"retry" doc:"Words by which the agent sends a request again. They stand in the text of errors that pass, where a stream has begun." eg:"server error"`
	Loop      agentLoop             `rule:"loop" doc:"What is to be known of its messages to see that a model goes round in circles, beside loop of limits.yaml."`
	Connect   connection.Connection `rule:"connect" doc:"How gpt-oss-executor connect leads the agent to the sidecar."`
	Commands  string                `rule:"commands" one:"here elsewhere" doc:"here: the agent runs commands on its own machine, as its user, so that the kernel can confine them once connect has noted that this machine is meant. elsewhere: in a sandbox of its own or on another machine. If left out, only serve --confine here confines them." eg:"elsewhere"`
}

// agentSign is one way to recognize a request.
type agentSign struct {
	At     rulefile.Place
	Header rulefile.Text   `rule:"header" doc:"A header that the request has." eg:"user-agent"`
	Has    rulefile.Text   `rule:"has" doc:"A text that the header contains, in upper or lower case. If left out, any value will do." eg:"opencode/"`
	Tools  []rulefile.Text `rule:"tools" doc:"Tools that are offered, all of them. exec.ask is a tool exec that takes an argument ask." eg:"[exec_command, write_stdin]"`
	Says   rulefile.Text   `rule:"says" doc:"A text that begins a line of the agent's instructions: the system and developer messages in front of the first message of the user." eg:"You are opencode"`
}

// agentWorkspace is where an agent says that it works. Texts of users and models never count.
type agentWorkspace struct {
	Says    []rulefile.Text                `rule:"says" doc:"Lines of its instructions, as learn of paths.yaml has them. They are tried before those." eg:"['  Working directory: {workspace}']"`
	Headers []rulefile.Pair[rulefile.Text] `rule:"headers" doc:"Headers, and the path (gjson) of the folder in the JSON of each; an empty path is the whole header. They outrank the lines." eg:"{x-workspace: ''}"`
}

type agentFolders struct {
	Read  []rulefile.Text `rule:"read" doc:"Folders that it reads, such as results that it has cut, and skills." eg:"[~/.codex/skills]"`
	Write []rulefile.Text `rule:"write" doc:"Folders that it writes, such as its memory." eg:"[~/.qwen/memories]"`
}

type agentResults struct {
	Asked  []rulefile.Text `rule:"asked" doc:"Regular expressions of results that show that a person was asked." eg:"['(?i)rejected by user']"`
	NotRun []rulefile.Text `rule:"not_run" doc:"Regular expressions of results of calls that failed before anything ran." eg:"['(?i)^tool not found']"`
	Ran    []rulefile.Text `rule:"ran" doc:"Regular expressions of results that only a program that has run gives." eg:"['exited with code']"`
}

type agentLoop struct {
	Notices []rulefile.Text `rule:"notices" doc:"Regular expressions of what the agent writes into user messages by itself, beside notices of limits.yaml." eg:"['(?s)<info-msg>.*?</info-msg>']"`
	Ignore  []rulefile.Text `rule:"ignore" doc:"Regular expressions of what does not count in a result, because it is another one each time." eg:"['Chunk ID: \\w+']"`
	Same    []rulefile.Text `rule:"same" doc:"Regular expressions of results in which the agent itself says that the call is made again and again. They count as the result before." eg:"['(?i)loop detected']"`
}

// Agent is a program that sends requests and runs the calls, by its file.
type Agent struct {
	Name     string
	Commands string // Here, Elsewhere or ""
	Retry    string // words in errors that make it retry; may be empty
	About    string

	signs   []agentSign
	headers []rulefile.Pair[rulefile.Text] // that name the workspace
	set     func(*Set) *Set
}

// agents compiles the folder agents. A file of the operator replaces the program's own.
func (l *loader) agents() {
	var results state.Evidence
	l.set.Connect = connection.Agents{}
	files := l.stems(rulefile.AgentFolder)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)),
		func(name string) bool { return name == generic })
	for _, name := range append(names, generic) {
		f := decodeFile[agentFile](l, files[name])
		l.set.agents = append(l.set.agents, l.agent(name, &f))
		if l.problems = append(l.problems, f.Connect.Problems()...); f.Connect.Known() {
			l.set.Connect[name] = f.Connect
		}
		headers := values(f.Session)
		for i, header := range headers {
			headers[i] = textproto.CanonicalMIMEHeaderKey(header)
		}
		if name == generic {
			l.set.Sessions = slices.Concat(headers, l.set.Sessions) // are what most send
		} else {
			l.set.Sessions = append(l.set.Sessions, headers...)
		}
		results.Asked = append(results.Asked, l.patterns(f.Results.Asked)...)
		results.NotRun = append(results.NotRun, l.patterns(f.Results.NotRun)...)
		results.Ran = append(results.Ran, l.patterns(f.Results.Ran)...)
	}
	l.set.Asking = results
}

// patterns compiles regular expressions, and reports and drops invalid ones.
func (l *loader) patterns(list []rulefile.Text) (out []*regexp.Regexp) {
	for _, t := range list {
		if re := l.pattern(t, ""); re != nil {
			out = append(out, re)
		}
	}
	return out
}

// agent compiles one file.
func (l *loader) agent(name string, f *agentFile) *Agent {
	a := &Agent{Name: name, Commands: f.Commands, Retry: f.Retry.Value, About: f.About, signs: f.Known,
		headers: f.Workspace.Headers}
	for _, s := range f.Known {
		switch {
		case s.Header.Value == "" && s.Has.Value != "":
			l.report(s.Has.All(), rulefile.CodeMissing, "has needs header",
				"name the header that contains this")
		case s.Header.Value == "" && s.Says.Value == "" && len(s.Tools) == 0:
			l.report(s.At, rulefile.CodeMissing, "this recognises nothing", "give header, tools or says")
		case name == generic:
			l.report(s.At, rulefile.CodeKey, generic+" is for requests that no other file recognises",
				"write a file of its own for this agent")
		}
	}
	learn := l.sentences(f.Workspace.Says)
	loop := LoopIgnores{Results: l.patterns(f.Loop.Ignore), Notices: l.patterns(f.Loop.Notices),
		Same: l.patterns(f.Loop.Same)}
	read, write := l.ownFolders(f.Folders.Read), l.ownFolders(f.Folders.Write)
	groups, params := l.nameGroups(f.Tools), l.agentParams(f.Arguments)
	a.set = func(s *Set) *Set {
		out := *s
		out.Agent, out.agents, out.base = a, nil, s
		own := loop
		own.Arguments = out.Unremarked
		out.Loop = s.Loop.With(own)
		out.own = s.own.forAgent(f.Asks, learn, read, write)
		if s.locked != nil && s.sameWorld {
			out.locked = s.locked.forAgent("", nil, read, write)
		}
		if len(groups)+len(params) > 0 {
			rules := *s.Tools
			rules.Groups, rules.Params = addNames(rules.Groups, groups), slices.Concat(params, rules.Params)
			out.Tools = &rules
		}
		return &out
	}
	return a
}

// ownFolders returns folders of an agent, absolute. It rejects the whole home folder and the whole machine.
func (l *loader) ownFolders(list []rulefile.Text) (out []string) {
	home := l.set.own.roots.Home
	for _, t := range list {
		folder, _ := l.folder(t, home)
		if t.At.Known() && (folder == "/" || folder == home) {
			l.reject(t, t.Value+" is more than a folder of the agent",
				"name a folder below it, such as ~/.codex/skills")
			continue
		}
		out = append(out, folder)
	}
	return out
}

// addNames adds groups of names, merging those with the same first name.
func addNames(groups, more []tools.Group) []tools.Group {
	out := slices.Clone(groups)
	for _, g := range more {
		at := slices.IndexFunc(out, func(o tools.Group) bool { return o.Names[0].Text == g.Names[0].Text })
		if at < 0 {
			out = append(out, g)
			continue
		}
		out[at] = tools.Group{Names: slices.Concat(out[at].Names, g.Names[1:]),
			Weak: slices.Concat(out[at].Weak, g.Weak)}
	}
	return out
}

func (l *loader) agentParams(list rulefile.Lists) (out []tools.ParamAlias) {
	for _, p := range list {
		l.set.book.add(p.Key.At, "*."+p.Key.Value)
		out = append(out, tools.ParamAlias{Param: p.Key.Value, From: values(p.Value),
			Place: p.Key.At.String()})
	}
	return out
}

// forAgent returns the author with an agent's folders in addition to those of paths.yaml.
func (a *author) forAgent(asks string, learn []Sentence, read, write []string) *author {
	out := *a
	out.asks = asks
	out.learn = slices.Concat(learn, a.learn)
	out.roots.Read = slices.Concat(a.roots.Read, read)
	out.roots.Write = slices.Concat(a.roots.Write, write)
	out.confined.Read = slices.Concat(a.confined.Read, read)
	return &out
}

// For returns the set for requests of an agent, with the settings of its file. A name without a file gives
// the set itself.
func (s *Set) For(name string) *Set {
	if s.Agent != nil && s.Agent.Name == name {
		return s
	}
	if one := s.of[name]; one != nil && s.base == s {
		return one
	}
	if a := s.AgentOf(name); a != nil {
		return a.set(s)
	}
	return s
}

// Base returns the set for every agent.
func (s *Set) Base() *Set {
	if s.Agent != nil {
		return s.base
	}
	return s
}

// forAgents makes the sets of all agents, so that no request has to.
func (s *Set) forAgents() {
	s.of, s.base = map[string]*Set{}, s
	for _, a := range s.agents {
		s.of[a.Name] = a.set(s)
	}
}

// AgentOf returns an agent; nil: no file describes it.
func (s *Set) AgentOf(name string) *Agent {
	if i := slices.IndexFunc(s.agents, func(a *Agent) bool { return a.Name == name }); i >= 0 {
		return s.agents[i]
	}
	return nil
}

// AgentNames returns the agents with files in the order in which they are tried; generic is the last.
func (s *Set) AgentNames() []string {
	return mapSlice(s.agents, func(a *Agent) string { return a.Name })
}

// Recognise returns the agent of a request, and what identified it. header returns a header of the request.
// Instructions are read last, since they are long.
func (s *Set) Recognise(header func(name string) string, req *openai.Request) (a *Agent, by string) {
	for _, reads := range []bool{false, true} {
		for _, a := range s.agents {
			for _, sign := range a.signs {
				if by := sign.fits(header, req, reads); by != "" {
					return a, by
				}
			}
		}
	}
	return s.agents[len(s.agents)-1], "no file of agents fits it"
}

// fits returns what identifies a request; empty: it does not match. A sign that reads the instructions is
// tried only if reads is set, others only if it is not.
func (s *agentSign) fits(header func(name string) string, req *openai.Request, reads bool) (by string) {
	if (s.Says.Value != "") != reads {
		return ""
	}
	var found []string
	if name := s.Header.Value; name != "" {
		value := header(name)
		if value == "" || !strings.Contains(strings.ToLower(value), strings.ToLower(s.Has.Value)) {
			return ""
		}
		found = append(found, "header "+name)
	}
	for _, t := range s.Tools {
		name, argument, _ := strings.Cut(t.Value, ".")
		offered := func(o tools.Tool) bool {
			return o.Name == name && (argument == "" ||
				gjson.GetBytes(o.Parameters, "properties."+argument).Exists())
		}
		if !slices.ContainsFunc(req.Tools, offered) {
			return ""
		}
		found = append(found, "tool "+t.Value)
	}
	if text := s.Says.Value; text != "" {
		if at, _ := req.Instructed(text, 0); len(at) == 0 {
			return ""
		}
		found = append(found, fmt.Sprintf("instructions %q", text))
	}
	return strings.Join(found, ", ")
}

// Workspace returns the folder that a header of a request names; empty: none does.
func (a *Agent) Workspace(header func(name string) string) string {
	for _, h := range a.headers {
		value := header(h.Key.Value)
		if h.Value.Value != "" {
			value = gjson.Get(value, h.Value.Value).String()
		}
		if path.IsAbs(value) {
			return path.Clean(value)
		}
	}
	return ""
}
