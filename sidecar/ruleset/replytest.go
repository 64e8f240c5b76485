package ruleset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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

// Recording is a reply and its reading by the rules.
type Recording struct {
	Name    string        // of the test
	Profile string        // empty: the default
	Reply   parse.Delta   // complete
	Finish  string        // by the server
	Tools   []tools.Tool  // offered; nil: unknown
	Denied  []string      // ids of rules of exec.yaml that deny a call
	Reading parse.Reading // including denied calls
}

// AppendTest appends a test for the current reading to a test file, with a head if the file is empty.
func AppendTest(file string, r Recording) (string, error) {
	item, err := rulefile.Item(r.test())
	if err != nil {
		return "", fmt.Errorf("write test %s: %w", r.Name, err)
	}
	if strings.TrimSpace(file) == "" {
		return "# yaml-language-server: $schema=../schemas/tests.schema.json\nversion: 1\n\ntests:\n" + item,
			nil
	}
	return strings.TrimRight(file, "\n") + "\n\n" + item, nil
}

// recordedTest is a replyTest in its written form.
type recordedTest struct {
	Name       string                      `json:"name"`
	Profile    string                      `json:"profile,omitempty"`
	Reply      recordedReply               `json:"reply"`
	Tools      []string                    `json:"tools,omitzero"`
	Parameters map[string]rulefile.RawJSON `json:"parameters,omitempty"`
	Gives      []recordedCall              `json:"gives"`
	By         string                      `json:"by,omitempty"`
	Shows      string                      `json:"shows"`
	Thinks     string                      `json:"thinks"`
	Refused    []string                    `json:"refused,omitempty"`
	Denied     []string                    `json:"denied,omitempty"`
	Done       bool                        `json:"done,omitempty"`
}

type recordedReply struct {
	Content   string        `json:"content,omitempty"`
	Reasoning string        `json:"reasoning,omitempty"`
	Calls     []exampleCall `json:"calls,omitempty"`
	Finish    string        `json:"finish,omitempty"`
}

type recordedCall struct {
	Tool string           `json:"tool"`
	Args rulefile.RawJSON `json:"args"`
}

// test returns the recording as an item of a test file.
func (r *Recording) test() recordedTest {
	t := recordedTest{
		Name: r.Name, Reply: r.reply(), Gives: []recordedCall{}, Denied: r.Denied,
		Shows: r.Reading.Content, Thinks: r.Reading.Reasoning, Refused: codesOf(r.Reading.Refused),
		Done: r.Reading.Done,
	}
	if r.Profile != DefaultProfile {
		t.Profile = r.Profile
	}
	if r.Tools != nil {
		t.Tools = mapSlice(r.Tools, func(t tools.Tool) string { return t.Name })
		t.Parameters = map[string]rulefile.RawJSON{}
	}
	for _, offered := range r.Tools {
		if len(offered.Parameters) > 0 {
			t.Parameters[offered.Name] = rulefile.RawJSON(offered.Parameters)
		}
	}
	by := map[string]bool{}
	for _, c := range r.Reading.Calls {
		t.Gives = append(t.Gives, recordedCall{c.Name, rulefile.RawJSON(c.Arguments)})
		t.By, by[c.Strategy] = c.Strategy, true
	}
	if len(by) > 1 {
		t.By = "" // a test names one strategy for all calls
	}
	return t
}

func (r *Recording) reply() recordedReply {
	reply := recordedReply{Content: r.Reply.Content, Reasoning: r.Reply.Reasoning,
		Calls: joinPieces(r.Reply.Calls)}
	if r.Finish != (&replyRule{Calls: reply.Calls}).finish() {
		reply.Finish = r.Finish
	}
	return reply
}

// joinPieces joins the pieces of calls.
func joinPieces(pieces []parse.CallDelta) (out []exampleCall) {
	at := map[int]int{}
	for _, p := range pieces {
		i, known := at[p.Index]
		if !known {
			i = len(out)
			at[p.Index] = i
			out = append(out, exampleCall{})
		}
		out[i].Name += p.Name
		out[i].Arguments += string(p.Arguments)
	}
	return out
}

// Report is the result of examples and tests of a set.
type Report struct {
	Version  string       `json:"version"`
	Examples int          `json:"examples"`
	Tests    []TestResult `json:"tests"`
	Covered  []Covered    `json:"rules"`
}

// TestResult is the result of one test. It passed if there are no problems.
type TestResult struct {
	Name     string            `json:"name"`
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Took     time.Duration     `json:"nanoseconds"`
	Problems rulefile.Problems `json:"problems,omitempty"`
}

// Covered is a rule with the number of examples and tests that hit it.
type Covered struct {
	Rule
	Examples int `json:"examples"`
	Tests    int `json:"tests"`
}

// Test compiles the files, tries all examples and runs the wanted tests. The report is nil if the files do
// not load; failed tests are only in the report.
func (r Loader) Test(f rulefile.Files, wanted func(name string) bool) (*Report, rulefile.Problems) {
	l, mine := r.examine(f)
	if l != mine {
		l.problems = append(l.problems, mine.problems...)
	}
	if l.problems.Fatal() {
		return nil, l.problems.Sorted()
	}
	out := &Report{Version: l.set.Version, Examples: l.set.Counts.Examples, Tests: []TestResult{}}
	l.inTests = true
	for _, t := range l.tests {
		if !wanted(t.Name.Value) {
			continue
		}
		began := time.Now()
		problems := l.try(t)
		out.Tests = append(out.Tests, TestResult{t.Name.Value, t.Name.At.File(), t.Name.At.Line(),
			time.Since(began), problems})
	}
	for _, rule := range l.set.Rules() {
		n := l.covered[rule.Place]
		out.Covered = append(out.Covered, Covered{rule, n[0], n[1]})
	}
	return out, l.problems.Sorted()
}

// countReading counts the rules that a reading hit.
func (l *loader) countReading(r *parse.Reading) {
	l.set.Hit(r, func(rule Rule) { l.countHit(rule.Place) })
}

// countHit counts a hit of the rule at a place, by an example or a test.
func (l *loader) countHit(place string) {
	n := l.covered[place]
	if l.inTests {
		n[1]++
	} else {
		n[0]++
	}
	l.covered[place] = n
}
