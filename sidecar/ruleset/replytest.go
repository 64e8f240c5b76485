package ruleset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// testFile is a file of the folder tests.
type testFile struct {
	rulefile.Head
	Tests []replyTest `rule:"tests,required" doc:"Replies, and what all rules together make of them."`
}

// replyTest is a reply, and its expected reading by all rules together.
type replyTest struct {
	At         rulefile.Place
	Name       rulefile.Text        `rule:"name,required" doc:"What must hold, in a few words. No two tests have the same name." eg:"a leaked call comes back"`
	About      string               `rule:"about" doc:"Why the test must hold."`
	Profile    *rulefile.Text       `rule:"profile" doc:"A profile of strategies.yaml. If left out, it is default." eg:"native"`
	Reply      replyRule            `rule:"reply,required" doc:"The reply as a model server sends it."`
	Tools      *[]string            `rule:"tools" doc:"The names of the offered tools. If left out, every name counts as offered." eg:"[read, exec]"`
	Parameters []rulefile.Pair[any] `rule:"parameters" doc:"JSON Schemas of offered tools, by name." eg:"{read: {type: object, required: [path]}}"`
	Gives      []gives              `rule:"gives,required" doc:"The calls that leave, in order. [] means none." eg:"[{tool: read, args: {path: notes.md}}]"`
	By         *rulefile.Text       `rule:"by" doc:"The id of the strategy that finds the calls." eg:"harmony"`
	Shows      *rulefile.Text       `rule:"shows" doc:"The text that the user sees. If left out, it is not checked." eg:"Four."`
	Thinks     *rulefile.Text       `rule:"thinks" doc:"The reasoning. If left out, it is not checked." eg:"Easy."`
	Refused    *[]string            `rule:"refused" one:"not_offered ambiguous bad_name bad_json bad_schema unsure truncated" doc:"Why what looked like a call is none, in order; [] means that nothing did. If left out, it is not checked." eg:"[not_offered]"`
	Denied     *[]string            `rule:"denied" doc:"The ids of the rules of exec.yaml that deny calls. If left out, they are not checked." eg:"[whole-tree]"`
	Done       bool                 `rule:"done" doc:"true means that the turn ends here."`
}

// replyRule is a reply as a model server sends it.
type replyRule struct {
	Content   string        `rule:"content" doc:"The text of the reply." eg:"'[TOOL:read|path=notes.md]'"`
	Reasoning string        `rule:"reasoning" doc:"The reasoning of the reply."`
	Calls     []exampleCall `rule:"calls" doc:"The calls of the reply, as the server parsed them." eg:"[{name: read, arguments: '{\"path\":\"notes.md\"}'}]"`
	Finish    string        `rule:"finish" one:"stop length tool_calls content_filter" doc:"Why the reply ends. If left out, it is tool_calls with calls, and stop without."`
	Model     string        `rule:"model" doc:"The model id that the caller asked for. Conditions see it." eg:"gpt-oss"`
	Server    string        `rule:"server" doc:"The dialect of the server. Conditions see it." eg:"vllm"`
	User      string        `rule:"user" doc:"The last message of the user. Conditions see it."`
}

// replyTests decodes the folder tests. Names are unique, and separately so in the locked folder: the operator
// cannot disable one of its tests by using the name.
func (l *loader) replyTests() {
	var names, locked []rulefile.Text
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		in, isLocked := strings.CutPrefix(name, rulefile.PolicyFolder+"/")
		if !strings.HasPrefix(in, rulefile.TestFolder+"/") {
			continue
		}
		for _, t := range decodeFile[testFile](l, name).Tests {
			if isLocked {
				locked = append(locked, t.Name)
			} else {
				names = append(names, t.Name)
			}
			if t.Profile != nil && l.clean(strategiesFile) {
				l.checkOneOf(*t.Profile, "profile", slices.Sorted(maps.Keys(l.set.profiles)))
			}
			l.tests = append(l.tests, t)
		}
	}
	l.checkUnique("test", names)
	l.checkUnique("test", locked)
}

// testsRun reports whether everything that tests need is valid.
func (l *loader) testsRun() bool {
	needs := []string{strategiesFile, evidenceFile, aliasesFile, argumentsFile, limitsFile, execFilename,
		pathsFilename, urlsFilename,
		lockedName(execFilename), lockedName(pathsFilename), lockedName(urlsFilename)}
	for name := range l.files {
		if strings.HasPrefix(strings.TrimPrefix(name, rulefile.PolicyFolder+"/"), rulefile.TestFolder+"/") {
			needs = append(needs, name)
		}
	}
	return l.clean(needs...)
}

// try reads the reply of a test and returns what differs.
func (l *loader) try(t replyTest) (problems rulefile.Problems) {
	denied := []string{}
	profile := DefaultProfile
	if t.Profile != nil {
		profile = t.Profile.Value
	}
	facts := l.set.Facts(t.Reply.Model, t.Reply.Server, t.Reply.User)
	facts.Judge = l.set.Judge(policy.Subject{Model: t.Reply.Model, Interactive: true}, exampleAt,
		func(_ *tools.Call, d policy.Decision) bool {
			l.decided(d)
			if d.Effect == policy.Deny {
				denied = append(denied, cmp.Or(d.Rule, defaultRule))
			}
			return false // what the calls are is one question, whether they leave another
		})
	reader := l.set.Strategies(profile).Reader(l.offered(t), facts)
	delta := parse.Delta{Content: t.Reply.Content, Reasoning: t.Reply.Reasoning, Calls: deltas(t.Reply.Calls)}
	reader.Feed(delta)
	got, _ := reader.Close(t.Reply.finish())
	l.countReading(&got)

	wrong := func(at rulefile.Place, format string, args ...any) {
		problems = append(problems, at.Problem(codeTest, t.Name.Value+": "+fmt.Sprintf(format, args...),
			refusals(got)))
	}
	want, err := wantedCalls(t.Gives)
	if err != nil {
		wrong(t.Name.All(), "%v", err)
		return problems
	}
	if !sameCalls(got.Calls, want) {
		wrong(t.Name.All(), "the rules make %s of this, not %s", callsText(got.Calls), callsText(want))
	}
	for i := range got.Calls {
		if by := got.Calls[i].Strategy; t.By != nil && by != t.By.Value {
			wrong(t.By.All(), "%s is found by %s, not by %s", got.Calls[i].Name, by, t.By.Value)
		}
	}
	if t.Shows != nil && !sameText(got.Content, t.Shows.Value) {
		wrong(t.Shows.All(), "the user sees %q, not %q", got.Content, t.Shows.Value)
	}
	if t.Thinks != nil && !sameText(got.Reasoning, t.Thinks.Value) {
		wrong(t.Thinks.All(), "the reasoning is %q, not %q", got.Reasoning, t.Thinks.Value)
	}
	if codes := codesOf(got.Refused); t.Refused != nil && !slices.Equal(codes, *t.Refused) {
		wrong(t.At, "refused is [%s], not [%s]", strings.Join(codes, ", "), strings.Join(*t.Refused, ", "))
	}
	if t.Denied != nil && !slices.Equal(denied, *t.Denied) {
		wrong(t.At, "denied by [%s], not by [%s]", strings.Join(denied, ", "), strings.Join(*t.Denied, ", "))
	}
	if t.Done && !got.Done {
		wrong(t.At, "the turn does not end here")
	}
	return problems
}

// finish returns how a server ends the reply if the test does not say.
func (r *replyRule) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// offered returns the catalog of a test.
func (l *loader) offered(t replyTest) *tools.Catalog {
	if len(t.Parameters) == 0 {
		return l.catalog(t.Tools)
	}
	var list []tools.Tool
	if t.Tools != nil {
		list = mapSlice(*t.Tools, func(name string) tools.Tool { return tools.Tool{Name: name} })
	}
	for _, p := range t.Parameters {
		schema, err := json.Marshal(p.Value)
		if err != nil {
			continue // not a schema that JSON can hold; the call then has none
		}
		i := slices.IndexFunc(list, func(o tools.Tool) bool { return o.Name == p.Key.Value })
		if i < 0 {
			i, list = len(list), append(list, tools.Tool{Name: p.Key.Value})
		}
		list[i].Parameters = schema
	}
	return tools.NewCatalog(l.set.Tools, nil, list)
}

func codesOf(refused []tools.Refusal) []string {
	return mapSlice(refused, func(r tools.Refusal) string { return string(r.Code) })
}

func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
