package ruleset

import (
	"encoding/json"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// aliasFile is aliases.yaml.
type aliasFile struct {
	Version  int            `rule:"version,required" one:"1"`
	Prefixes []text         `rule:"prefixes"`
	Glued    []text         `rule:"glued"`
	Pseudo   []text         `rule:"pseudo"`
	Tools    []pair[[]text] `rule:"tools"`
	Hit      []nameExample  `rule:"hit"`
	Miss     []nameExample  `rule:"miss"`
}

// nameExample is a name as a model wrote it, and the tool that is meant.
type nameExample struct {
	Name  text     `rule:"name,required"`
	Tools []string `rule:"tools,required"`
	Gives string   `rule:"gives"`
}

// argumentFile is arguments.yaml. The tool "*" is every tool.
type argumentFile struct {
	Version int              `rule:"version,required" one:"1"`
	Classes []pair[[]text]   `rule:"classes,required"`
	Tools   []pair[toolRule] `rule:"tools"`
}

type toolRule struct {
	Arguments []pair[[]text] `rule:"arguments"`
	Phrases   []phraseRule   `rule:"phrases"`
	Hit       []argsExample  `rule:"hit"`
}

type phraseRule struct {
	At    place
	About string          `rule:"about"`
	After []text          `rule:"after,required"`
	Until []string        `rule:"until"`
	Take  string          `rule:"take,required"`
	As    string          `rule:"as,required" one:"sentence quoted url path"`
	Hit   []phraseExample `rule:"hit"`
	Miss  []text          `rule:"miss"`
}

type phraseExample struct {
	Text  text `rule:"text,required"`
	Gives any  `rule:"gives,required"`
}

// argsExample is arguments as a model wrote them, for a tool with these
// parameters, and what they become.
type argsExample struct {
	At    place
	Takes []string `rule:"takes,required"`
	Args  any      `rule:"args,required"`
	Gives any      `rule:"gives,required"`
}

// aliases takes what aliases.yaml says about names.
func (l *loader) aliases() {
	f := decodeFile[aliasFile](l, aliasesFile)
	r := l.set.Tools
	r.Prefixes, r.Glued, r.Pseudo = words(f.Prefixes), words(f.Glued), words(f.Pseudo)
	for _, tool := range f.Tools {
		for _, name := range tool.Value {
			r.Aliases = append(r.Aliases, tools.Alias{Name: name.Value, Tools: []string{tool.Key.Value}, Place: name.at.String()})
		}
	}
	for _, e := range f.Hit {
		l.examples = append(l.examples, func() { l.tryName(e, e.Gives) })
	}
	for _, e := range f.Miss {
		l.examples = append(l.examples, func() { l.tryName(e, "") })
	}
}

func words(list []text) []tools.Word {
	out := make([]tools.Word, len(list))
	for i, t := range list {
		out[i] = tools.Word{Text: t.Value, Place: t.at.String()}
	}
	return out
}

// tryName checks which offered tool a name means; want is empty for none.
func (l *loader) tryName(e nameExample, want string) {
	got := ""
	m, refused := l.catalog(&e.Tools).Name(e.Name.Value)
	hint := ""
	if refused != nil {
		hint = refused.Why
	} else {
		got = m.Name
	}
	if got != want {
		l.report(e.Name.all(), codeExample, fmt.Sprintf("%s means %s here, not %s", e.Name.Value, orNoTool(got), orNoTool(want)), hint)
	}
}

func orNoTool(name string) string {
	if name == "" {
		return "no tool"
	}
	return name
}

var classNames = []string{string(tools.Read), string(tools.Write), string(tools.Exec)}

// arguments takes what arguments.yaml says about parameters, classes and prose.
func (l *loader) arguments() {
	f := decodeFile[argumentFile](l, argumentsFile)
	r := l.set.Tools
	for _, c := range f.Classes {
		if l.known(c.Key, "class", classNames) {
			r.Classes = append(r.Classes, tools.ClassRule{Class: tools.Class(c.Key.Value), Words: values(c.Value), Place: c.Key.at.String()})
		}
	}
	for _, t := range f.Tools {
		tool := t.Key.Value
		if tool == "*" {
			tool = ""
		}
		for _, a := range t.Value.Arguments {
			r.Params = append(r.Params, tools.ParamAlias{Tool: tool, Param: a.Key.Value, From: values(a.Value), Place: a.Key.at.String()})
		}
		for _, e := range t.Value.Hit {
			l.examples = append(l.examples, func() { l.tryArguments(t.Key.Value, e) })
		}
		l.prose(tool, t.Value.Phrases)
	}
}

// prose takes the phrases that ask for a tool.
func (l *loader) prose(tool string, rules []phraseRule) {
	for _, p := range rules {
		phrase := parse.Phrase{Tool: tool, After: values(p.After), Until: p.Until, Take: p.Take, As: p.As, Place: p.At.String()}
		l.phrases = append(l.phrases, phrase)
		alone := parse.Strategy{
			ID: "phrase", Kind: parse.Phrases, Priority: 1, Confidence: 0.5, Place: phrase.Place,
			Phrase: []parse.Phrase{phrase}, Tools: []string{tool},
		}
		for _, e := range p.Hit {
			hit := example{At: p.At, Text: &e.Text, Tools: &alone.Tools, Gives: []gives{{tool, e.Gives}}}
			l.examples = append(l.examples, func() { l.tryHit(alone, hit) })
		}
		for _, t := range p.Miss {
			l.examples = append(l.examples, func() { l.tryMiss(alone, t, &alone.Tools) })
		}
	}
}

// tryArguments checks what arguments become for a tool with known parameters.
func (l *loader) tryArguments(tool string, e argsExample) {
	properties := map[string]any{}
	for _, name := range e.Takes {
		properties[name] = map[string]any{}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "additionalProperties": false})
	args, err := json.Marshal(e.Args)
	want, err2 := json.Marshal(e.Gives)
	if err != nil || err2 != nil {
		l.report(e.At, codeExample, "these values are no JSON", "")
		return
	}
	if tool == "*" {
		tool = "a_tool"
	}
	c := tools.NewCatalog(l.set.Tools, nil, []tools.Tool{{Name: tool, Parameters: schema}})
	got, refused := c.Call(tool, string(args), tools.Ending{Terminated: true})
	switch {
	case refused != nil:
		l.report(e.At, codeExample, fmt.Sprintf("%s cannot be called with %s", tool, args), refused.Why)
	case !sameJSON(got.Arguments, want):
		l.report(e.At, codeExample, fmt.Sprintf("%s becomes %s, not %s", args, got.Arguments, want), "")
	}
}
