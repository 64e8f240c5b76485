package console

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

var _ Rules = (*live.Rules)(nil)

// inForce are the shipped rules, from a folder.
func inForce(t testing.TB) (*live.Rules, string) {
	t.Helper()
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	rules, err := live.Open(ruletest.Shared(ruletest.Loader()), ruletest.Source(t, dir), "",
		slog.New(slog.DiscardHandler), telemetry.New())
	ruletest.Must(t, err)
	return rules, dir
}

func changed(t testing.TB, rules *live.Rules, file, from, to string) *Draft {
	t.Helper()
	return &Draft{file, testkit.Replace(t, rules.Merged(nil)[file], from, to, 1)}
}

// A draft is checked as the command does it, and whatever comes of that, the rules in force and
// the folder stay as they are.
func TestCheck(t *testing.T) {
	rules, dir := inForce(t)
	set := rules.Set()
	for _, row := range []struct {
		name, file, from, to string
		loads, failing       bool
		problem              string // of the first that is no warning
	}{
		{"an alias", "aliases.yaml", "exec: [bash", "exec: [send_fax, bash", true, false, ""},
		{"nothing", "aliases.yaml", "exec: [bash", "exec: [bash", true, false, ""},
		{"no YAML", "aliases.yaml", "exec: [bash", "exec: [bash, [", false, false, "E-yaml"},
		{"a wrong key", "limits.yaml", "per_minute", "per_minit", false, false, "E-key"},
		{"an example that does not hold", "aliases.yaml", "{name: bash, tools: [exec, read], gives: exec}", "{name: bash, tools: [exec, read], gives: read}", false, false, "E-example"},
		{"a test that does not hold", "tests/replies.yaml", "shows: Four.", "shows: Five.", true, true, "E-test"},
		{"a rule that breaks an example and a test", "aliases.yaml", "  exec: [bash, ", "  exec: [", false, false, "E-example"},
	} {
		d := changed(t, rules, row.file, row.from, row.to)
		got, err := d.Check(rules)
		ruletest.Must(t, err)
		var first string
		for _, p := range got.Problems {
			if !p.Warning && first == "" {
				first = p.Code
				if p.Line == 0 || p.File == "" {
					t.Errorf("%s: the problem has no place: %+v", row.name, p)
				}
			}
		}
		if (got.Set != nil) != row.loads || got.Failing != row.failing || first != row.problem ||
			got.Changed != (row.from != row.to) {
			t.Errorf("%s: loads %v, failing %v, changed %v, %q: %v", row.name, got.Set != nil, got.Failing,
				got.Changed, first, got.Problems)
		}
	}
	if rules.Set() != set || rules.Report(false).Refused != nil {
		t.Error("a draft is in force, or is kept as refused")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "aliases.yaml")); err != nil ||
		string(text) != rules.Merged(nil)["aliases.yaml"] {
		t.Errorf("the folder has another file: %v", err)
	}
}

// Only a file of the folder can be drafted, whatever a name leads to.
func TestNoFile(t *testing.T) {
	rules, _ := inForce(t)
	for _, name := range []string{"", "nothing.yaml", "../aliases.yaml", "/etc/passwd",
		"tests/../aliases.yaml", "builtin/programs/vcs.yaml", "policy/exec.yaml", "aliases.yaml\x00"} {
		d := Draft{name, "version: 1\n"}
		if _, err := d.Check(rules); !errors.Is(err, errNoFile) {
			t.Errorf("%q: %v", name, err)
		}
		if _, _, err := d.Test(rules); !errors.Is(err, errNoFile) {
			t.Errorf("%q is tested: %v", name, err)
		}
	}
	d := Draft{"aliases.yaml", strings.Repeat("#", maxText+1)}
	if _, err := d.Check(rules); err == nil || !strings.Contains(err.Error(), "is the most") {
		t.Errorf("too long: %v", err)
	}
}

// The tests of the folder run with the draft in it.
func TestTest(t *testing.T) {
	rules, _ := inForce(t)
	good, problems, err := changed(t, rules, "aliases.yaml", "exec: [bash",
		"exec: [send_fax, bash").Test(rules)
	if err != nil || good == nil || len(good.Tests) < 5 || problems.Fatal() || draftFailure(good) != 0 {
		t.Errorf("%v %v", problems, err)
	}
	bad, _, err := changed(t, rules, "tests/replies.yaml", "shows: Four.", "shows: Five.").Test(rules)
	if err != nil || draftFailure(bad) != 1 {
		t.Errorf("%d tests fail, %v", draftFailure(bad), err)
	}
	if none, problems, err := changed(t, rules, "limits.yaml", "per_minute",
		"per_minit").Test(rules); none != nil || !problems.Fatal() || err != nil {
		t.Errorf("it does not load, and gives %v, %v", none, err)
	}
}

func draftFailure(r *ruleset.Report) (n int) {
	for i := range r.Tests {
		if len(r.Tests[i].Problems) > 0 {
			n++
		}
	}
	return n
}

// read reads a text by two rule sets, with the three tools offered.
func read(t testing.TB, set *ruleset.Set, given Given) *replay.Shown {
	t.Helper()
	rec, err := given.Record()
	ruletest.Must(t, err)
	rec.Tools = Three()
	s, err := replay.Show(set, guard.World{}, "", rec, 1<<20)
	ruletest.Must(t, err)
	return s
}

// What changes between two readings is told, and nothing else.
func TestDifferences(t *testing.T) {
	rules, _ := inForce(t)
	fax := Given{Text: `<|channel|>commentary to=functions.send_fax <|message|>{"path":"a.md"}<|call|>`}
	before := read(t, rules.Set(), fax)
	if names := Unnamed(before); len(names) != 1 || names[0] != "send_fax" {
		t.Fatalf("unnamed are %q", names)
	}
	text, line := Alias(rules.Merged(nil)[aliasFile], "read", "send_fax")
	if got := strings.Split(text, "\n")[line-1]; !strings.HasPrefix(got, "  read: [send_fax, read_file, ") {
		t.Errorf("line %d is %q", line, got)
	}
	d := Draft{aliasFile, text}
	checked, err := d.Check(rules)
	ruletest.Must(t, err)
	after := read(t, checked.Set, fax)
	var said []string
	for _, diff := range differences(before, after) {
		said = append(said, diff.What+": "+diff.Before+" → "+diff.After)
	}
	got := strings.Join(said, "\n")
	for _, want := range []string{"calls: 0 → 1", `call 1: nothing → read {"path":"a.md"}`,
		`refused: not_offered: send_fax: no tool "send_fax" is offered`, "finish_reason: stop → tool_calls"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %s:\n%s", want, got)
		}
	}
	if same := differences(after, read(t, checked.Set, fax)); len(same) > 0 {
		t.Errorf("of the same: %v", same)
	}
	if len(Unnamed(after)) > 0 {
		t.Error("the name still means nothing")
	}
}

// A question about the policy is that of policy explain.
func TestQuestion(t *testing.T) {
	rules, _ := inForce(t)
	for _, row := range []struct{ kind, text, tool, effect string }{
		{command, "ls", "exec", "allow"}, {command, "rm -rf /\n", "exec", "deny"}, {Path, "/etc/shadow", "read", "deny"}, {URL, "http://169.254.169.254/", "web_fetch", "deny"},
	} {
		tool, args, ok := Question(row.kind, row.text)
		if !ok || tool != row.tool {
			t.Fatalf("%s: %s", row.kind, tool)
		}
		e, err := guard.World{}.Explain(rules.Set(), "", tool, args, false)
		ruletest.Must(t, err)
		if got := ruling(string(e.Decision.Effect), ""); !strings.HasPrefix(got, row.effect) {
			t.Errorf("%s %s: %s", row.kind, row.text, got)
		}
		if len(RulingDifferences(e, e)) > 0 {
			t.Error("the same answer differs")
		}
	}
	if _, _, ok := Question("reply", "x"); ok {
		t.Error("a reply is a question")
	}
}

// Lines that differ stand between some that do not.
func TestDiff(t *testing.T) {
	var got strings.Builder
	for _, l := range Diff("a\nb\n\nc", "a\nB\n\nc\n") {
		got.WriteString(l.Sign + l.Text + "\n")
	}
	if want := "@@ -1,4 +1,4 @@\n a\n-b\n+B\n \n c\n"; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
	if d := Diff("a", "a\n"); len(d) > 0 {
		t.Errorf("%v", d)
	}
}
