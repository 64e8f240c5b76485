package ruleset

import (
	"maps"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

const testHead = "version: 1\ntests:\n  - name: one\n    reply: {content: '[TOOL:read|path=a.txt]', reasoning: Hm.}\n    tools: [read]\n"

// TestReplyTests: each thing a test can say is compared, and its problem has the
// place of what does not hold.
func TestReplyTests(t *testing.T) {
	good := "    gives: [{tool: read, args: {path: a.txt}}]\n    by: markers\n    shows: ''\n    thinks: Hm.\n"
	for _, c := range []struct{ name, rest, want string }{
		{"good", good, ""},
		{"another call", strings.Replace(good, "a.txt", "b.txt", 1), "tests/t.yaml:3:11: one: the rules make read {\"path\":\"a.txt\"} of this, not read {\"path\":\"b.txt\"} [E-test]"},
		{"no call", "    gives: []\n", "3:11: one: the rules make read {\"path\":\"a.txt\"} of this, not no call"},
		{"another strategy", strings.Replace(good, "markers", "react", 1), "7:9: one: read is found by markers, not by react"},
		{"another text", strings.Replace(good, "shows: ''", "shows: Well.", 1), "8:12: one: the user sees \"\", not \"Well.\""},
		{"another thought", strings.Replace(good, "Hm.", "Ah.", 1), "9:13: one: the reasoning is \"Hm.\", not \"Ah.\""},
		{"a refusal that is none", good + "    refused: [truncated]\n", "3:5: one: refused is [], not [truncated]"},
		{"no refusal where one is", "    parameters: {read: {type: object, properties: {n: {type: integer}}, required: [n]}}\n    gives: []\n    refused: []\n", "3:5: one: refused is [bad_schema], not []"},
		{"no refusal", good + "    refused: []\n", ""},
		{"an end that is none", good + "    done: true\n", "3:5: one: the turn does not end here"},
		{"a profile that is none", good + "    profile: proze\n", "10:14: there is no profile proze [E-ref]\n    10 |     profile: proze\n       |              ^^^^^\n         did you mean prose?"},
		{"a code that is none", good + "    refused: [trunkated]\n", "an entry of refused cannot be trunkated"},
		{"the same name twice", good + "  - name: one\n    reply: {}\n    gives: []\n", "10:11: the test one stands here twice [E-dup]"},
		{"a schema that is violated", "    parameters: {read: {type: object, properties: {n: {type: integer}}, required: [n]}}\n    gives: []\n    refused: [bad_schema]\n", ""},
	} {
		files := maps.Clone(shipped(t))
		files["tests/t.yaml"] = testHead + c.rest
		set, problems := Full.Load(files)
		if c.want == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %v", c.name, problems)
			}
			continue
		}
		if set != nil || !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.name, problems, c.want)
		}
	}
}

// TestReport: the tests that are wanted run, one that fails is in the report and
// stops no other, and coverage says which rules nothing hits.
func TestReport(t *testing.T) {
	files := maps.Clone(shipped(t))
	files["tests/t.yaml"] = testHead + "    gives: []\n"
	files[aliasesFile] = testkit.Replace(t, files[aliasesFile], "\ntools:\n", "\ntools:\n  process: [jobs]\n", 1)
	r, problems := Full.Test(files,
		func(name string) bool { return name == "one" || strings.HasPrefix(name, "a leaked") })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(r.Tests) != 3 || r.Examples < 70 || r.Version != files.Version() {
		t.Fatalf("%+v", r)
	}
	for _, one := range r.Tests {
		if (one.Name == "one") != (len(one.Problems) == 1) || one.Line == 0 ||
			!strings.HasPrefix(one.File, "tests/") {
			t.Errorf("%+v", one)
		}
	}
	hits := map[string]Covered{}
	for _, c := range r.Covered {
		hits[c.File+" "+c.ID] = c
	}
	for rule, want := range map[string]struct{ examples, tests bool }{
		"strategies.yaml harmony":       {true, true},
		"strategies.yaml native":        {true, false},
		"aliases.yaml prefixes":         {true, true},
		"aliases.yaml tools.process":    {false, false},
		"arguments.yaml *exec.command":  {true, false},
		"servers.yaml vLLM until 2025":  {true, false},
		"arguments.yaml read.phrases":   {true, false},
		"strategies.yaml function_tags": {true, false},
	} {
		got, known := hits[rule]
		if !known || (got.Examples > 0) != want.examples || (got.Tests > 0) != want.tests {
			t.Errorf("%s: %+v, %v", rule, got, known)
		}
	}
	files["tests/t.yaml"] = "version: 1\ntests: none\n"
	if r, problems := Full.Test(files, func(string) bool { return true }); r != nil || len(problems) == 0 {
		t.Errorf("broken tests ran: %v", problems)
	}
}

// TestLongNumbers: an example compares whole numbers to the last digit.
func TestLongNumbers(t *testing.T) {
	files := shipped(t)
	files["tests/replies.yaml"] = `version: 1
tests:
  - name: a long number
    reply: {calls: [{name: read, arguments: '{"n": 12345678901234567890}'}]}
    gives: [{tool: read, args: {n: 12345678901234567891}}]
`
	if set, problems := Full.Load(files); set != nil || len(problems) != 1 {
		t.Error(problems)
	}
	files["tests/replies.yaml"] = testkit.Replace(t, files["tests/replies.yaml"], "891", "890", 1)
	if _, problems := Full.Load(files); len(problems) > 0 {
		t.Error(problems)
	}
}
