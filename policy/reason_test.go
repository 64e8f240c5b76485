package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// What a person has allowed never lets a call pass that is denied, or about which a rule asks that they have
// not seen. What holds is found here one rule at a time.
func TestGrantsAddNoReason(t *testing.T) {
	programs := strings.Fields("a b c d e f g h")
	rapid.Check(t, func(t *rapid.T) {
		effects := rapid.SampledFrom([]Effect{Allow, Audit, Ask, Ask, Deny})
		var p Policy
		p.Default = rapid.SampledFrom([]Effect{Allow, Ask}).Draw(t, "default")
		for i := range rapid.IntRange(1, 8).Draw(t, "rules") {
			of := rapid.SampledFrom(programs).Draw(t, "of")
			r := rule(fmt.Sprint("r", i), i, effects.Draw(t, "effect"), of)
			r.Shadow = r.Effect == Ask && rapid.Bool().Draw(t, "shadow")
			p.Commands = append(p.Commands, r)
		}
		calls := rapid.SliceOfN(rapid.SampledFrom(programs), 1, 4)
		seen, sent := calls.Draw(t, "seen"), calls.Draw(t, "sent")
		holds := func(names []string, e Effect) (out []string) {
			for _, name := range names {
				allowed := p.Default == Allow
				for _, r := range p.Commands {
					if yes, _ := r.Holds(&Env{Cmd: &shell.Command{Binary: name}}); !yes || r.Shadow {
						continue
					}
					if allowed = allowed || r.Effect == Allow; r.Effect == e {
						out = append(out, r.ID)
					}
				}
				if e == Ask && !allowed {
					out = append(out, "default for "+name)
				}
			}
			return out
		}
		before, now := p.Decide(factsOf(seen...), Moment{}), p.Decide(factsOf(sent...), Moment{})
		if now.Effect != Ask && len(now.Reasons) > 0 {
			t.Errorf("%s has reasons to ask: %v", now.Effect, now.Reasons)
		}
		if !Covered(now.Reasons, before.Reasons) {
			return
		}
		if deny := holds(sent, Deny); len(deny) > 0 {
			t.Errorf("%v is covered, and denied by %v", sent, deny)
		}
		for _, id := range holds(sent, Ask) {
			if !slices.Contains(holds(seen, Ask), id) {
				t.Errorf("%v is covered, and %s asks about it, which was no reason for %v", sent, id, seen)
			}
		}
	})
}

// Of two policies each must have been seen, and a call with too many reasons has none that a grant covers.
func TestReasonsOfTwoPolicies(t *testing.T) {
	list := func(from, to int) (out []Reason) {
		for i := from; i < to; i++ {
			out = append(out, Reason{Rule: fmt.Sprint(i)})
		}
		return out
	}
	for _, c := range []struct {
		name       string
		own, other []Reason
		want       int
	}{
		{"both", list(0, 2), list(2, 5), 5},
		{"the same", list(0, 2), list(0, 2), 2},
		{"too many in one", nil, list(0, 2), 0},
		{"too many in the other", list(0, 2), nil, 0},
		{"too many together", list(0, maxReasons), list(20, 21), 0},
	} {
		for _, d := range []Decision{
			Stricter(Decision{Effect: Ask, Reasons: c.own}, Decision{Effect: Ask, Reasons: c.other}),
			Stricter(Decision{Effect: Ask, Reasons: c.other},
				Decision{Effect: Ask, Rule: "x", Reasons: c.own}),
		} {
			if len(d.Reasons) != c.want {
				t.Errorf("%s: %v", c.name, d.Reasons)
			}
		}
	}
	var many []string
	for i := range maxReasons + 1 {
		many = append(many, fmt.Sprint("p", i))
	}
	unknown := factsOf(many...)
	if d := (&Policy{Default: Ask}).Decide(unknown, Moment{}); d.Effect != Ask || d.Reasons != nil {
		t.Errorf("%d reasons: %s %v", len(many), d.Effect, d.Reasons)
	}
	if Covered(nil, list(0, 2)) {
		t.Error("a call without reasons is covered")
	}
}

// What is allowed for good is named by its rule and by what it covers. A reason that covers one call alone is
// never among it.
func TestGrantedForGood(t *testing.T) {
	ask, deny := rule("ask", 1, Ask, "a"), rule("deny", 2, Deny, "b")
	ask.Facts = true
	p := Policy{Commands: []Rule[Env]{ask, rule("words", 3, Ask, "c"), deny}, Granted: []Reason{
		{Rule: "ask", Covers: "exec: a with any arguments, in "}, {Rule: "words"}, {Rule: "deny"}}}
	for name, want := range map[string]string{"a": "allow granted", "a a": "allow granted", "c": "ask words",
		"a c": "ask ask", "a b": "deny deny", "b": "deny deny"} {
		d := p.Decide(factsOf(strings.Fields(name)...), Moment{})
		if got := string(d.Effect) + " " + d.Rule; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What a reason covers is said in the terms of the policy, and where its words count, it is this call alone.
func TestCovers(t *testing.T) {
	own := paths.Use{Op: "read", Path: "x.py", Resolved: "/w/x.py", Class: paths.Workspace}
	py := shell.Command{Binary: "python3", Known: true, Inline: true, Flags: []string{"-c"}}
	script := shell.Command{Binary: "bash", Known: true, CodeFile: "x.py", Reads: []paths.Use{own},
		Argv: []string{"bash", "x.py", "--all"}, Tags: []string{"workspace-code"}}
	change := func(c shell.Command, f func(*shell.Command)) *Env {
		f(&c)
		return &Env{Call: Call{Tool: "exec"}, Cmd: &c}
	}
	plain := func(*shell.Command) {}
	in := Scene{Tool: "exec", Program: "cat"}
	page := urls.Use{Scheme: "https", Host: "a.example", Port: 443, Method: "POST", Class: urls.Public}
	for name, c := range map[string]struct {
		env  any
		want string
	}{
		"code":                {change(py, plain), "exec: python3 -c with any code, in /w"},
		"script":              {change(script, plain), "exec: bash with any code of its folders, in /w"},
		"script, option":      {change(script, func(c *shell.Command) { c.Argv = []string{"bash", "-x", "x.py"} }), "exec: bash -x with any code of its folders, in /w"},
		"script, a tag":       {change(script, func(c *shell.Command) { c.Tags = []string{"remote"} }), ""},
		"unknown":             {change(shell.Command{Binary: "csvlook"}, plain), "exec: csvlook with any arguments, in /w"},
		"known":               {change(shell.Command{Binary: "git", Known: true}, plain), ""},
		"a tag":               {change(py, func(c *shell.Command) { c.Tags = []string{"publish"} }), ""},
		"a variable":          {change(py, func(c *shell.Command) { c.Env = []string{"PYTHONPATH"} }), ""},
		"a wrapper":           {change(py, func(c *shell.Command) { c.Wrappers = []string{"sudo"} }), ""},
		"another's output":    {change(py, func(c *shell.Command) { c.Stdin.From = []string{"curl"} }), ""},
		"a program of a path": {change(py, func(c *shell.Command) { c.Path = "./python3" }), ""},
		"an odd option":       {change(py, func(c *shell.Command) { c.Flags = []string{"-c with any code"} }), ""},
		"foreign code":        {change(script, func(c *shell.Command) { c.CodeFile = "/opt/x" }), ""},
		"in the background":   {change(script, func(c *shell.Command) { c.Background = true }), ""},
		"a file":              {&PathEnv{paths.Use{Op: "read", Resolved: "/etc/x"}, in}, `exec: cat reads "/etc/x"`},
		"what is written":     {&PathEnv{paths.Use{Op: "write", Resolved: "/etc/x"}, in}, ""},
		"a pattern":           {&PathEnv{paths.Use{Op: "read", Resolved: "/etc/*", Glob: true}, in}, ""},
		"an odd name":         {&PathEnv{paths.Use{Op: "read", Resolved: "/x", Marks: []string{"m"}}, in}, ""},
		"an unknown file":     {&PathEnv{paths.Use{Op: "read", Dynamic: true}, in}, ""},
		"a host":              {&URLEnv{page, in}, "exec: cat sends POST to https://a.example:443"},
		"an inner host":       {&URLEnv{urls.Use{Host: "a", Class: urls.Private}, in}, ""},
	} {
		if got := (&Facts{Workspace: "/w"}).covers(c.env, true); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (&Facts{}).covers(change(py, plain), false); got != "" {
		t.Errorf("a rule that reads the words: %q", got)
	}
}
