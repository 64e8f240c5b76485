package ruleset

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Native is the style of a model whose server calls tools itself.
const Native = "native"

// styleRule is a style of strategies.yaml.
type styleRule struct {
	About     string        `rule:"about,required" doc:"What the style is for." eg:"Three lines for a call, for any server."`
	Prompt    rulefile.Text `rule:"prompt,required" doc:"A template of prompts/, without .tmpl, that defines calls and results." eg:"react"`
	Profile   rulefile.Text `rule:"profile,required" doc:"The profile that reads what is written in this style." eg:"react"`
	Schema    bool          `rule:"schema" doc:"true makes the server write JSON by a schema that is made of the offered tools."`
	Several   bool          `rule:"several" doc:"true lets the schema take several calls in one reply."`
	Otherwise rulefile.Text `rule:"otherwise" doc:"The style for servers that do not follow a schema. It goes with schema." eg:"react"`
}

// Style is how a model is told of tools, and calls them, if its server cannot. It never changes.
type Style struct {
	ID        string
	Form      *prompt.Prompt
	Profile   string
	Schema    bool   // the server must follow a schema
	Several   bool   // the schema takes several calls
	Otherwise *Style // for servers that ignore a schema; nil without one
}

// choice selects a style for some requests.
type choice struct {
	ID    rulefile.Text  `rule:"id,required" doc:"The name of the choice, in logs." eg:"half"`
	About string         `rule:"about,required" doc:"Why the choice exists." eg:"Half of the conversations try the other style."`
	When  *rulefile.Text `rule:"when" doc:"A condition. If it does not hold, or fails while it runs, the next choice counts." eg:"not native and part < 50"`
	Style rulefile.Text  `rule:"style,required" doc:"A style of this file, or native: the server calls tools itself." eg:"react"`
}

// StyleEnv is what the condition of a choice sees.
type StyleEnv struct {
	Model  string `expr:"model" doc:"The model id that the caller asked for."`
	Server string `expr:"server" doc:"The id of the server's dialect in servers.yaml."`
	Native bool   `expr:"native" doc:"false if the server has said that it cannot call tools."`
	Part   int    `expr:"part" doc:"0 to 99, the same for all requests of a session, or else of a conversation."`
}

// chooser is a compiled choice.
type chooser struct {
	holds func(StyleEnv) (bool, error) // nil: always
	style *Style                       // nil: native
}

// Style returns the style of a request to a model; nil: the server calls tools itself. The error is of
// conditions that could not be evaluated, and did not count.
func (s *Set) Style(m Model, asked StyleEnv) (*Style, error) {
	if id := m.Style.Value; id != "" {
		return s.styles[id], nil
	}
	var failed error
	for _, c := range s.choices {
		if c.holds == nil {
			return c.style, failed
		}
		holds, err := c.holds(asked)
		if failed = errors.Join(failed, err); holds && err == nil {
			return c.style, failed
		}
	}
	return nil, failed
}

// styles compiles the styles of strategies.yaml, after profiles and prompts.
func (l *loader) styles() {
	l.set.styles = map[string]*Style{}
	profiles := l.clean(strategiesFile)
	ids := append(mapSlice(l.strategyDoc.Styles,
		func(p rulefile.Pair[styleRule]) string { return p.Key.Value }),
		Native)
	for _, p := range l.strategyDoc.Styles {
		r := p.Value
		if p.Key.Value == Native {
			l.reject(p.Key,
				"native is no name for a style: it says that the server calls tools itself", "")
		}
		form, isTemplate := l.templates[r.Prompt.Value]
		switch {
		case !r.Prompt.At.Known():
		case !isTemplate && !l.checkOneOf(r.Prompt, "prompt", slices.Sorted(maps.Keys(l.set.Prompts))):
		case !isTemplate || form != nil && !form.IsStyle():
			l.reject(r.Prompt,
				fmt.Sprintf("the prompt %s does not say how calls and results are written", r.Prompt.Value),
				`it must be a file `+r.Prompt.Value+prompt.Ext+
					` with {{define "calls"}} and {{define "results"}}`)
		}
		if profiles {
			l.checkOneOf(r.Profile, "profile", l.set.Profiles())
		}
		l.set.styles[p.Key.Value] = &Style{ID: p.Key.Value, Form: form, Profile: r.Profile.Value,
			Schema: r.Schema, Several: r.Several}
	}
	for _, p := range l.strategyDoc.Styles {
		l.linkFallback(p)
	}
	for _, c := range l.strategyDoc.Choose {
		holds := when[StyleEnv](l, c.When, nil)
		if l.checkOneOf(c.Style, "style", ids) {
			l.set.choices = append(l.set.choices, chooser{holds, l.set.styles[c.Style.Value]})
		}
	}
	l.checkUnique("id", mapSlice(l.strategyDoc.Choose, func(c choice) rulefile.Text { return c.ID }))
}

// linkFallback sets the style for servers that ignore the schema of another style.
func (l *loader) linkFallback(p rulefile.Pair[styleRule]) {
	r, style := p.Value, l.set.styles[p.Key.Value]
	switch other := r.Otherwise; {
	case !r.Schema && other.At.Known():
		l.report(other.All(), rulefile.CodeKey, "otherwise goes with schema: true", "")
	case !r.Schema && r.Several:
		l.report(p.Key.All(), rulefile.CodeKey, "several goes with schema: true",
			"the prompt says it where there is no schema")
	case r.Schema && !other.At.Known():
		l.report(p.Key.All(), rulefile.CodeMissing,
			p.Key.Value+" lacks otherwise, the style for servers that do not follow a schema", "")
	case r.Schema && l.checkOneOf(other, "style", slices.Sorted(maps.Keys(l.set.styles))):
		if style.Otherwise = l.set.styles[other.Value]; style.Otherwise.Schema {
			l.reject(other, other.Value+" has a schema, too",
				"name a style that every server can follow")
		}
	}
}

// prompts reads the prompts folder and the program's own prompts that it does not replace. A text does not
// replace the template of a style, since older folders have such texts.
func (l *loader) prompts() {
	for _, in := range []string{rulefile.BuiltinFolder + "/" + rulefile.PromptFolder, rulefile.PromptFolder} {
		for _, file := range slices.Sorted(maps.Keys(l.files)) {
			name, isPrompt := strings.CutPrefix(file, in+"/")
			if !isPrompt {
				continue
			}
			ext := path.Ext(name)
			if name = strings.TrimSuffix(name, ext); ext == prompt.Ext && l.files.Has(in+"/"+name+".txt") {
				l.reportFile(file, rulefile.CodeDup, "there is "+name+".txt, too", "remove one of them")
			}
			l.set.Prompts[name] = l.prompt(file, ext)
			if ext == prompt.Ext {
				l.templates[name] = l.set.Prompts[name]
			}
		}
	}
}

// prompt parses one file; nil if it is invalid.
func (l *loader) prompt(file, ext string) *prompt.Prompt {
	read := prompt.Plain
	if ext == prompt.Ext {
		read = prompt.Compile
	}
	p, fault := read(l.files[file])
	if fault != nil {
		l.problems = append(l.problems, rulefile.LineOf(file, l.files[file],
			fault.Line).Problem(rulefile.CodeValue, fault.Msg, fault.Hint))
	}
	return p
}
