package ruleset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Codes of failed examples and tests. They never change their meaning.
const (
	codeExample = "E-example" // a hit that missed, or a miss that hit
	codeTest    = "E-test"    // a test that fails
)

// example is a reply and its expected reading.
type example struct {
	At    rulefile.Place
	Text  *rulefile.Text `rule:"text" doc:"The reply." eg:"'[TOOL:web_search|query=tide table]'"`
	In    parse.Field    `rule:"in" one:"content reasoning" doc:"The field in which the text stands. If left out, it is content."`
	Calls []exampleCall  `rule:"calls" doc:"Calls as the server parsed them." eg:"[{name: read, arguments: '{\"path\":\"notes.md\"}'}]"`
	Tools *[]string      `rule:"tools" doc:"The names of the offered tools. If left out, every name counts as offered." eg:"[web_search]"`
	Gives []gives        `rule:"gives,required" doc:"The calls that are made of the reply. [] means none." eg:"[{tool: web_search, args: {query: tide table}}]"`
	Shows *string        `rule:"shows" doc:"The text that the user sees. If left out, it is not checked." eg:"Hello!"`
	Done  bool           `rule:"done" doc:"true means that the turn ends here."`
}

type exampleCall struct {
	Name      string `rule:"name" json:"name" doc:"The name that the model wrote." eg:"functions.read"`
	Arguments string `rule:"arguments" json:"arguments" doc:"The arguments as the model wrote them: JSON, or something like it." eg:"'{\"path\":\"notes.md\"}'"`
}

type gives struct {
	Tool string `rule:"tool,required" doc:"The tool that is called." eg:"web_search"`
	Args any    `rule:"args,required" doc:"The arguments of the call." eg:"{query: tide table}"`
}

// tryHit checks that a strategy alone reads a reply as the example says.
func (l *loader) tryHit(s parse.Strategy, e example) {
	at, delta, finish := e.At, parse.Delta{}, "stop"
	if e.Text != nil {
		at = e.Text.All()
		if e.In == parse.Reasoning {
			delta.Reasoning = e.Text.Value
		} else {
			delta.Content = e.Text.Value
		}
	}
	if delta.Calls = deltas(e.Calls); len(delta.Calls) > 0 {
		finish = "tool_calls"
	}
	got, ok := l.read(s, l.catalog(e.Tools), delta, finish)
	if !ok {
		return
	}
	want, err := wantedCalls(e.Gives)
	switch {
	case err != nil:
		l.report(at, codeExample, err.Error(), "")
	case !sameCalls(got.Calls, want):
		l.report(at, codeExample, fmt.Sprintf("%s makes %s of this, not %s", s.ID, callsText(got.Calls),
			callsText(want)), refusals(got))
	case e.Shows != nil && !sameText(got.Content, *e.Shows):
		l.report(at, codeExample, fmt.Sprintf("%s shows %q of this, not %q", s.ID, got.Content, *e.Shows), "")
	case e.Done && !got.Done:
		l.report(at, codeExample, s.ID+" does not end the turn here", "")
	}
}

// deltas returns calls as a server sends them, each in one piece.
func deltas(calls []exampleCall) (out []parse.CallDelta) {
	for i, c := range calls {
		out = append(out, parse.CallDelta{Index: i, ID: fmt.Sprintf("call%d", i), Name: c.Name,
			Arguments: []byte(c.Arguments)})
	}
	return out
}

// wantedCalls returns the calls that an example or a test expects.
func wantedCalls(list []gives) ([]tools.Call, error) {
	want := make([]tools.Call, len(list))
	for i, g := range list {
		args, err := json.Marshal(g.Args)
		if err != nil {
			return nil, fmt.Errorf("args of %s: %w", g.Tool, err)
		}
		want[i] = tools.Call{Name: g.Tool, Arguments: args}
	}
	return want, nil
}

// tryMiss checks that a strategy does not change a text if these tools are offered.
func (l *loader) tryMiss(s parse.Strategy, t rulefile.Text, offered *[]string) {
	got, ok := l.read(s, l.catalog(offered), parse.Delta{Content: t.Value}, "stop")
	switch {
	case !ok:
	case len(got.Calls) > 0:
		l.report(t.All(), codeExample, fmt.Sprintf("%s makes %s of this, but should leave it alone", s.ID,
			callsText(got.Calls)), "")
	case got.Done || !sameText(got.Content, t.Value):
		l.report(t.All(), codeExample, fmt.Sprintf("%s shows %q of this, but should leave it alone", s.ID,
			got.Content), "")
	}
}

// catalog offers the named tools, with unknown parameters.
func (l *loader) catalog(names *[]string) *tools.Catalog {
	if names == nil {
		return tools.OpenCatalog(l.set.Tools)
	}
	return tools.NewCatalog(l.set.Tools, nil,
		mapSlice(*names, func(name string) tools.Tool { return tools.Tool{Name: name} }))
}

// read reads a reply with one strategy, enabled.
func (l *loader) read(s parse.Strategy, c *tools.Catalog, d parse.Delta,
	finish string) (parse.Reading, bool) {
	compiled := l.single[s.Place]
	if compiled == nil {
		var err error
		s.Enabled = true
		if compiled, err = parse.Compile([]parse.Strategy{s}); err != nil {
			l.refused(err)
			return parse.Reading{}, false
		}
		l.single[s.Place] = compiled
	}
	r := compiled.Reader(c, l.set.Facts("gpt-oss", "generic", ""))
	r.Feed(d)
	reading, _ := r.Close(finish)
	l.countReading(&reading)
	return reading, true
}

func sameCalls(got, want []tools.Call) bool {
	return slices.EqualFunc(got, want,
		func(a, b tools.Call) bool { return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments) })
}

// callsText lists calls for a message.
func callsText(calls []tools.Call) string {
	if len(calls) == 0 {
		return "no call"
	}
	return strings.Join(mapSlice(calls,
		func(c tools.Call) string { return c.Name + " " + string(c.Arguments) }), ", ")
}

// refusals returns why candidates are no calls.
func refusals(r parse.Reading) string {
	return strings.Join(mapSlice(r.Refused, func(r tools.Refusal) string { return r.Error() }), "; ")
}
