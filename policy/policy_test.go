package policy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// running is a condition about the name of a program. A program named broken makes it fail.
func running(name string) func(*Env) (bool, error) {
	return func(e *Env) (bool, error) {
		if e.Cmd.Binary == "broken" {
			return false, errors.New("no")
		}
		return e.Cmd.Binary == name, nil
	}
}

// factsOf are the facts of a call that runs these programs.
func factsOf(names ...string) *Facts {
	f := &Facts{Call: Call{Tool: "exec", Subject: Subject{Interactive: true}},
		Script: &shell.Script{Parsed: true}}
	for _, n := range names {
		f.Script.Commands = append(f.Script.Commands, shell.Command{Binary: n})
	}
	return f
}

func rule(id string, order int, e Effect, name string) Rule[Env] {
	return Rule[Env]{ID: id, Place: "a:" + id, Effect: e, Why: id, Order: order, When: running(name)}
}

func TestDecide(t *testing.T) {
	ls, rm, ask, deny := rule("ls", 1, Allow, "ls"), rule("rm", 2, Allow, "rm"), rule("ask", 3, Ask,
		"rm"), rule("deny", 4, Deny, "rm")
	shadow, audit := deny, rule("audit", 5, Audit, "ls")
	shadow.Shadow = true
	later := rule("later", 6, Deny, "ls")
	all := Rule[Env]{ID: "all", Effect: Allow, Order: 9}
	for _, c := range []struct {
		name   string
		policy Policy
		facts  *Facts
		want   string // effect rule audits…
	}{
		{"the zero policy allows", Policy{}, factsOf("x"), "allow "},
		{"no rule, default ask", Policy{Default: Ask}, factsOf("x"), "ask "},
		{"every command needs a rule", Policy{Default: Ask, Commands: []Rule[Env]{ls}}, factsOf("ls", "x"), "ask "},
		{"all covered", Policy{Default: Deny, Commands: []Rule[Env]{ls, rm}}, factsOf("ls", "rm"), "allow ls"},
		{"nothing to run", Policy{Default: Deny}, factsOf(), "allow "},
		{"ask beats allow", Policy{Default: Ask, Commands: []Rule[Env]{rm, ask}}, factsOf("rm"), "ask ask"},
		{"deny beats ask", Policy{Default: Ask, Commands: []Rule[Env]{ask, deny, rm}}, factsOf("rm"), "deny deny"},
		{"the first of the file explains, whichever command it is about", Policy{Commands: []Rule[Env]{deny, later}}, factsOf("ls", "rm"), "deny deny"},
		{"a rule explains before the default", Policy{Default: Ask, Commands: []Rule[Env]{ask}}, factsOf("x", "rm"), "ask ask"},
		{"a broken denial denies", Policy{Commands: []Rule[Env]{deny}}, factsOf("broken"), "deny deny"},
		{"a broken question denies", Policy{Commands: []Rule[Env]{ask}}, factsOf("broken"), "deny ask"},
		{"a broken question denies behind another", Policy{Commands: []Rule[Env]{rule("first", 1, Ask, "x"), ask}}, factsOf("x", "broken"), "deny first"},
		{"a broken allow does not allow", Policy{Default: Ask, Commands: []Rule[Env]{ls}}, factsOf("broken"), "ask "},
		{"a shadow is noted", Policy{Default: Ask, Commands: []Rule[Env]{rm, shadow}}, factsOf("rm", "rm"), "audit rm deny:deny"},
		{"an audit beside a denial", Policy{Commands: []Rule[Env]{audit, deny}}, factsOf("ls", "rm"), "deny deny audit:deny"},
		{"nothing is enforced", Policy{Default: Ask, DryRun: true, Commands: []Rule[Env]{deny}}, factsOf("rm"), "audit  deny:deny"},
		{"without a condition", Policy{Default: Deny, Commands: []Rule[Env]{all}, Calls: []Rule[Env]{all}}, factsOf("x"), "allow all"},
		{"a rule about calls covers no command", Policy{Default: Deny, Calls: []Rule[Env]{all}}, factsOf("x"), "deny "},
		{"a call without a command", Policy{Default: Deny, Calls: []Rule[Env]{all}}, &Facts{}, "allow all"},
		{"a call without a command, uncovered", Policy{Default: Deny, Commands: []Rule[Env]{all}}, &Facts{Call: Call{Tool: "x"}}, "deny "},
	} {
		d := c.policy.Decide(c.facts, MomentOf(time.Now(), nil))
		got := string(d.Effect) + " " + d.Rule
		for _, f := range d.Audits {
			got += " " + f.Rule + ":" + string(f.Effect)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Paths and URLs, of tools and of commands, are covered by rules of their own.
func TestDecideOperands(t *testing.T) {
	any := Rule[Env]{Effect: Allow}
	p := Policy{
		Default: Ask, Calls: []Rule[Env]{any}, Commands: []Rule[Env]{any},
		Paths: []Rule[PathEnv]{{ID: "inside", Effect: Allow,
			When: func(e *PathEnv) (bool, error) { return e.Class == paths.Workspace, nil }},
			{ID: "secret", Effect: Deny, Order: 1, When: func(e *PathEnv) (bool, error) { return e.Class == paths.Secret && e.Program != "age", nil }}},
		URLs: []Rule[URLEnv]{{ID: "public", Effect: Allow,
			When: func(e *URLEnv) (bool, error) { return e.Class == urls.Public, nil }}},
	}
	command := func(name, class string, url ...urls.Use) *Facts {
		f := factsOf(name)
		f.Script.Commands[0].Reads = []paths.Use{{Op: "read", Path: "p", Class: class}}
		f.Script.Commands[0].URLs = url
		return f
	}
	for _, c := range []struct {
		facts *Facts
		want  string // effect rule operand
	}{
		{command("cat", paths.Workspace), "allow  cat"},
		{command("cat", paths.Outside), "ask  p"},
		{command("cat", paths.Secret), "deny secret p"},
		{command("age", paths.Secret), "ask  p"},
		{command("curl", paths.Workspace, urls.Use{URL: "u", Class: urls.Private}), "ask  u"},
		{command("curl", paths.Workspace, urls.Use{URL: "u", Class: urls.Public}), "allow  curl"},
		{&Facts{Call: Call{Tool: "read", Subject: Subject{Interactive: true}}, Paths: []paths.Use{{Path: "p", Class: paths.Secret}}}, "deny secret p"},
		{&Facts{Call: Call{Tool: "web_fetch", Subject: Subject{Interactive: true}}, URLs: []urls.Use{{URL: "u", Class: urls.Metadata}}}, "ask  u"},
	} {
		d := p.Decide(c.facts, MomentOf(time.Now(), nil))
		d.Operand = strings.TrimSpace(d.Operand)
		if got := string(d.Effect) + " " + d.Rule + " " + d.Operand; got != c.want &&
			!strings.HasPrefix(c.want, "allow") || !strings.HasPrefix(got, strings.Fields(c.want)[0]) {
			t.Errorf("%+v: %q, want %q", c.facts, got, c.want)
		}
	}
}

// Where nobody can answer, a question is a denial, and says so.
func TestNobodyAnswers(t *testing.T) {
	f := factsOf("x")
	f.Call.Interactive = false
	p := Policy{Default: Ask}
	if d := p.Decide(f, MomentOf(time.Now(), nil)); d.Effect != Deny ||
		!strings.Contains(d.Why, "no person is there") {
		t.Errorf("%+v", d)
	}
}

// What has more operands than conditions see is asked about, even where all is allowed.
func TestTooManyOperands(t *testing.T) {
	f := factsOf("ls")
	for range maxOperands + 1 {
		f.Script.Commands[0].Argv = append(f.Script.Commands[0].Argv, "a")
	}
	p := Policy{Commands: []Rule[Env]{{Effect: Allow,
		When: func(e *Env) (bool, error) { return len(e.Cmd.Argv) <= maxOperands, nil }}}}
	if d := p.Decide(f, MomentOf(time.Now(), nil)); d.Effect != Ask {
		t.Errorf("%+v", d)
	}
}

func TestStricter(t *testing.T) {
	allow, deny := Decision{Effect: Allow, Audits: []Finding{{Rule: "x"}}}, Decision{Effect: Deny, Rule: "no"}
	for _, got := range []Decision{Stricter(allow, deny), Stricter(deny, allow)} {
		if got.Effect != Deny || got.Rule != "no" || len(got.Audits) != 1 {
			t.Errorf("%+v", got)
		}
	}
	if got := Stricter(allow, Decision{Effect: Allow, Rule: "ls"}); got.Effect != Allow || got.Rule != "ls" ||
		len(got.Audits) != 1 {
		t.Errorf("%+v", got)
	}
	inner := &Facts{}
	if got := Stricter(Decision{Effect: Allow, Facts: inner},
		Decision{Effect: Allow, Facts: &Facts{}}); got.Facts != inner {
		t.Error("of two defaults, the second is told")
	}
	if got := Stricter(Decision{Effect: Ask, Rule: "a"}, allow); got.Effect != Ask {
		t.Errorf("%+v", got)
	}
}

func TestMessage(t *testing.T) {
	for want, d := range map[string]Decision{
		"No. (rule default)":                                    {Why: "No"},
		`No. It is about "rm". (rule r)`:                        {Why: "No.", Rule: "r", Operand: "rm"},
		"No. It is about bytes 2 to 4 of the command. (rule r)": {Why: "No", Rule: "r", Span: &Span{2, 4, "rm"}},
		`No. It is about "\x1b", in bytes 2 to 4 of the command. Instead: Do less. (rule r)`: {Why: "No",
			Rule: "r", Operand: "\x1b", Span: &Span{2, 4, "rm"}, Instead: "Do less"},
	} {
		if got := d.Message(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// The moment is as the caller says, and rates are those of the session.
func TestMoment(t *testing.T) {
	m := MomentOf(time.Date(2026, 1, 3, 23, 59, 0, 0, time.UTC), nil)
	if diff := cmp.Diff(Now{23, 59, "saturday"}, m.Now); diff != "" || m.Rate("calls", "1m") != 0 {
		t.Error(diff)
	}
	if got := MomentOf(time.Now(), counted{}).Rate("deletes", "2m"); got != 120 {
		t.Error(got)
	}
}

type counted struct{}

func (counted) Count(kind string, window time.Duration) int {
	if kind == "deletes" {
		return int(window.Seconds())
	}
	return 0
}
