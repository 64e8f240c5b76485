package ruleset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// aliasFile is aliases.yaml.
type aliasFile struct {
	rulefile.Head
	Prefixes []rulefile.Text `rule:"prefixes" doc:"Texts that are removed from the front of a name." eg:"[functions., tools.]"`
	Glued    []rulefile.Text `rule:"glued" doc:"Words that servers glue to the end of a name. They are removed." eg:"[commentary, json]"`
	Pseudo   []rulefile.Text `rule:"pseudo" doc:"Names by which a model means its answer. What it sends to them is shown as text." eg:"[final_answer, output]"`
	Tools    rulefile.Lists  `rule:"tools" doc:"Groups of names for the same kind of tool, each under its first name. Each name of a group means the first tool of the group that is offered. A name in brackets counts only if no tool of its other groups is offered. One that reads never means one that changes something, nor the other way round, except for the first name." eg:"{web_search: [google, search_web]}"`
	Hit      []nameExample   `rule:"hit" doc:"Names, and the tools that they must mean. Every load tries them."`
	Miss     []nameExample   `rule:"miss" doc:"Names that must mean no tool. Every load tries them."`
}

// nameExample is a name as a model wrote it, and the intended tool.
type nameExample struct {
	Name  rulefile.Text `rule:"name,required" doc:"The name that the model wrote." eg:"Web-Search"`
	Tools []string      `rule:"tools,required" doc:"The names of the offered tools." eg:"[web_search, exec]"`
	Gives string        `rule:"gives" doc:"The tool that is meant." eg:"web_search"`
}

// argumentFile is arguments.yaml. The tool "*" is every tool, "*exec" every tool of class exec.
type argumentFile struct {
	rulefile.Head
	Classes rulefile.Lists            `rule:"classes,required" doc:"What tools do to the world, by words in their names: read, write, exec. agent has words for what works by itself. A word in brackets counts only if no other word of the name does. A word with a plus sign acts on what the others name: with a word of agent, it writes. A tool without any of the words is what the others of its group in aliases.yaml are, or else counts as write." eg:"{read: [get, list, look*]}"`
	Remarks []rulefile.Text           `rule:"remarks" doc:"Arguments of tools that run a command, which only say in words what it is for. With other words it is the same call." eg:"[description]"`
	Tools   []rulefile.Pair[toolRule] `rule:"tools" doc:"What is known about each tool. '*' is every tool, '*exec' every tool of class exec, and the first name of a group in aliases.yaml every tool of it."`
}

type toolRule struct {
	Text      []rulefile.Text                `rule:"text" doc:"Arguments whose value is a text of its own, such as code. If a call's arguments are no JSON, they are the value. A tool that writes or executes takes such text nowhere else." eg:"[code]"`
	Is        []rulefile.Pair[rulefile.Text] `rule:"is" doc:"What the text of an argument is: command, code, patch, prose, path, url or text. Text in place of a call's arguments is refused if it does not look like it. Without a rule, the name of the argument says it." eg:"{input: patch}"`
	Arguments rulefile.Lists                 `rule:"arguments" doc:"Other names of each argument. A name is changed only if the tool's schema has the right name and not this one." eg:"{query: [q, search]}"`
	Phrases   []phraseRule                   `rule:"phrases" doc:"Prose that asks for the tool. Strategies of kind phrases read it."`
	Hit       []argsExample                  `rule:"hit" doc:"Arguments, and what they must become. Every load tries them."`
	Miss      []argsRefused                  `rule:"miss" doc:"Arguments that must be refused. Every load tries them."`
}

type phraseRule struct {
	At    rulefile.Place
	About string          `rule:"about" doc:"Why the rule exists."`
	After []rulefile.Text `rule:"after,required" doc:"Words that stand just before the argument, in upper or lower case." eg:"[search for, look up]"`
	Until []string        `rule:"until" doc:"Words that end the sentence early." eg:"[on the web]"`
	Take  string          `rule:"take,required" doc:"The argument that is filled." eg:"query"`
	As    string          `rule:"as,required" one:"sentence quoted url path" doc:"The shape of the argument's text."`
	Hit   []phraseExample `rule:"hit" doc:"Texts, and the arguments that they must give. Every load tries them."`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts that must ask for nothing. Every load tries them." eg:"[The search for this was hard.]"`
}

type phraseExample struct {
	Text  rulefile.Text `rule:"text,required" doc:"The prose." eg:"I will search for the tide table."`
	Gives any           `rule:"gives,required" doc:"The arguments of the call." eg:"{query: the tide table}"`
}

// argsExample is arguments as a model wrote them, for a tool with these parameters, and their corrected form.
type argsExample struct {
	At    rulefile.Place
	Takes []string `rule:"takes,required" doc:"The arguments that the tool knows." eg:"[query]"`
	Args  any      `rule:"args,required" doc:"The arguments as the model wrote them." eg:"{q: tide table}"`
	Gives any      `rule:"gives,required" doc:"The arguments after the rules have changed them." eg:"{query: tide table}"`
}

// argsRefused is arguments as a model wrote them, for a tool with these parameters, that must be refused.
type argsRefused struct {
	At    rulefile.Place
	Takes []string `rule:"takes,required" doc:"The arguments that the tool knows." eg:"[command]"`
	Args  any      `rule:"args,required" doc:"The arguments as the model wrote them." eg:"I cannot do that."`
}

// aliases reads aliases.yaml.
func (l *loader) aliases() {
	f := decodeFile[aliasFile](l, aliasesFile)
	r := l.set.Tools
	r.Prefixes, r.Glued, r.Pseudo = l.words("prefixes", f.Prefixes), l.words("glued",
		f.Glued), l.words("pseudo", f.Pseudo)
	r.Groups = l.nameGroups(f.Tools)
	for _, e := range f.Hit {
		l.examples = append(l.examples, func() { l.tryName(e, e.Gives) })
	}
	for _, e := range f.Miss {
		l.examples = append(l.examples, func() { l.tryName(e, "") })
	}
}

// nameGroups returns groups of names.
func (l *loader) nameGroups(list rulefile.Lists) (out []tools.Group) {
	for _, tool := range list {
		g := tools.Group{}
		for _, name := range l.words("tools."+tool.Key.Value, append([]rulefile.Text{tool.Key},
			tool.Value...)) {
			if inner, weak := strings.CutPrefix(name.Text, "("); weak {
				g.Weak = append(g.Weak, tools.Word{Text: strings.TrimSuffix(inner, ")"), Place: name.Place})
			} else {
				g.Names = append(g.Names, name)
			}
		}
		if len(g.Names) == 0 || g.Names[0].Text != tool.Key.Value {
			l.report(tool.Key.At, rulefile.CodeValue, "the first name of a group is always one",
				"write it without brackets")
			continue
		}
		out = append(out, g)
	}
	return out
}

func (l *loader) words(id string, list []rulefile.Text) []tools.Word {
	return mapSlice(list, func(t rulefile.Text) tools.Word {
		l.set.book.add(t.At, id)
		return tools.Word{Text: t.Value, Place: t.At.String()}
	})
}

// tryName checks which offered tool a name means; want is empty for none.
func (l *loader) tryName(e nameExample, want string) {
	got := ""
	m, refused := l.catalog(&e.Tools).Name(e.Name.Value)
	l.set.hitRepairs(m.Repairs, l.countHit)
	hint := ""
	if refused != nil {
		hint = refused.Why
	} else {
		got = m.Name
	}
	if got != want {
		l.report(e.Name.All(), codeExample, fmt.Sprintf("%s means %s here, not %s", e.Name.Value,
			cmp.Or(got, "no tool"), cmp.Or(want, "no tool")), hint)
	}
}

var (
	classNames = []string{string(tools.Read), string(tools.Write), string(tools.Exec)} // of tools
	groupNames = []string{tools.OfClass + string(tools.Read), tools.OfClass + string(tools.Write),
		tools.OfClass + string(tools.Exec)} // of all tools of a class
	wordNames = append(classNames[:3:3], string(tools.Agent)) // of words
)

// arguments reads arguments.yaml.
func (l *loader) arguments() {
	f := decodeFile[argumentFile](l, argumentsFile)
	r := l.set.Tools
	r.Classes, r.Remarks = l.classes(f.Classes), values(f.Remarks)
	for _, t := range f.Tools {
		tool := t.Key.Value
		if tool == tools.OfClass {
			tool = ""
		} else if strings.HasPrefix(tool, tools.OfClass) && !l.checkOneOf(t.Key, "group", groupNames) {
			continue
		}
		for _, a := range t.Value.Arguments {
			l.set.book.add(a.Key.At, t.Key.Value+"."+a.Key.Value)
			r.Params = append(r.Params, tools.ParamAlias{Tool: tool, Param: a.Key.Value,
				From: values(a.Value), Place: a.Key.At.String()})
		}
		if names := t.Value.Text; len(names) > 0 {
			l.set.book.add(names[0].At, t.Key.Value+".text")
			r.Texts = append(r.Texts, tools.TextParam{Tool: tool, Params: values(names),
				Place: names[0].At.String()})
		}
		for _, k := range t.Value.Is {
			if l.checkOneOf(k.Value, "kind of text", tools.TextKinds()) {
				l.set.book.add(k.Key.At, t.Key.Value+".is."+k.Key.Value)
				r.Kinds = append(r.Kinds, tools.KindRule{Tool: tool, Param: k.Key.Value,
					Kind: tools.TextKind(k.Value.Value), Place: k.Key.At.String()})
			}
		}
		for _, e := range t.Value.Hit {
			l.examples = append(l.examples, func() { l.tryArguments(t.Key.Value, e) })
		}
		for _, e := range t.Value.Miss {
			l.examples = append(l.examples, func() { l.tryRefused(t.Key.Value, e) })
		}
		l.prose(tool, t.Value.Phrases)
	}
}

func (l *loader) classes(list rulefile.Lists) tools.Classes {
	var rules []tools.ClassRule
	for _, c := range list {
		if l.checkOneOf(c.Key, "class", wordNames) {
			rules = append(rules, tools.ClassRule{Class: tools.Class(c.Key.Value), Words: values(c.Value)})
		}
	}
	return tools.NewClasses(rules...)
}

// prose adds the phrases that ask for a tool.
func (l *loader) prose(tool string, rules []phraseRule) {
	for _, p := range rules {
		l.set.book.add(p.At, cmp.Or(tool, "*")+".phrases")
		phrase := parse.Phrase{Tool: tool, After: values(p.After), Until: p.Until, Take: p.Take, As: p.As,
			Place: p.At.String()}
		l.phrases = append(l.phrases, phrase)
		alone := parse.Strategy{
			ID: "phrase", Kind: parse.Phrases, Priority: 1, Confidence: 0.5, Place: phrase.Place,
			Phrase: []parse.Phrase{phrase}, Tools: []string{tool},
		}
		for _, e := range p.Hit {
			hit := example{At: p.At, Text: &e.Text, Tools: &alone.Tools, Gives: []gives{{tool,
				e.Gives}}}
			l.examples = append(l.examples, func() { l.tryHit(alone, hit) })
		}
		for _, t := range p.Miss {
			l.examples = append(l.examples, func() { l.tryMiss(alone, t, &alone.Tools) })
		}
	}
}

// tryArguments checks what arguments become for a tool with known parameters.
func (l *loader) tryArguments(tool string, e argsExample) {
	got, args, refused := l.callWith(tool, e.Takes, e.Args)
	want, err := json.Marshal(e.Gives)
	switch {
	case args == nil || err != nil:
		l.report(e.At, codeExample, "these values are not JSON", "")
	case refused != nil:
		l.report(e.At, codeExample, fmt.Sprintf("%s cannot be called with %s", exampleTool(tool), args),
			refused.Why)
	case !tools.SameJSON(got.Arguments, want):
		l.report(e.At, codeExample, fmt.Sprintf("%s becomes %s, not %s", args, got.Arguments, want), "")
	}
}

// tryRefused checks that arguments are refused for a tool with known parameters.
func (l *loader) tryRefused(tool string, e argsRefused) {
	got, args, refused := l.callWith(tool, e.Takes, e.Args)
	switch {
	case args == nil:
		l.report(e.At, codeExample, "these values are not JSON", "")
	case refused == nil:
		l.report(e.At, codeExample, fmt.Sprintf("%s becomes %s, and should be refused", args, got.Arguments),
			"say under is what the argument takes")
	}
}

// callWith calls a tool with the parameters in takes. args is nil if the value is not JSON.
func (l *loader) callWith(tool string, takes []string,
	value any) (got tools.Call, args []byte, refused *tools.Refusal) {
	properties := map[string]any{}
	for _, name := range takes {
		properties[name] = map[string]any{}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties,
		"additionalProperties": false})
	args, err := json.Marshal(value)
	if err != nil {
		return tools.Call{}, nil, nil
	}
	c := tools.NewCatalog(l.set.Tools, nil, []tools.Tool{{Name: exampleTool(tool), Parameters: schema}})
	got, refused = c.Call(exampleTool(tool), args, tools.Ending{})
	l.set.hitRepairs(got.Repairs, l.countHit)
	return got, args, refused
}

// exampleTool returns a tool for an example: any if the rule is for all tools, and for a class its name.
func exampleTool(tool string) string {
	return cmp.Or(strings.TrimPrefix(tool, tools.OfClass), "a_tool")
}
