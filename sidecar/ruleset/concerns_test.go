package ruleset

import (
	"maps"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
)

// A rule that names programs or tags holds for no command without one of them.
func TestRulesConcern(t *testing.T) {
	set, held, named := loaded(t), 0, 0
	has := func(r *policy.Rule[policy.Env], c *shell.Command) bool {
		return r.Programs == nil && r.Tags == nil || r.Programs[c.Binary] ||
			slices.ContainsFunc(c.Tags, func(tag string) bool { return r.Tags[tag] })
	}
	for _, c := range testkit.Corpus[commandCase](t, "exec") {
		d := set.CheckCommand(c.Command, somebody, corpusAt)
		for env := range d.Facts.CommandEnvs(policy.MomentOf(corpusAt.Now, nil)) {
			for _, r := range set.own.policy.Commands {
				if holds, _ := r.Holds(env); !holds {
					continue
				}
				if held++; r.Programs != nil || r.Tags != nil {
					named++
				}
				if !has(&r, env.Cmd) {
					t.Errorf("%s holds for %q, without %v and %v", r.ID, c.Command, r.Programs, r.Tags)
				}
			}
		}
	}
	if named == 0 || named == held {
		t.Errorf("%d of %d rules that hold name programs or tags", named, held)
	}
}

func TestNeeds(t *testing.T) {
	set := func(words ...string) map[string]bool {
		out := map[string]bool{}
		for _, w := range words {
			out[w] = true
		}
		return out
	}
	for source, want := range map[string]map[string]map[string]bool{
		`'send' in cmd.tags`:                           {"cmd.tags": set("send")},
		`cmd.binary == 'git' and cmd.sub == 'push'`:    {"cmd.binary": set("git")},
		`cmd.binary in two or 'x' in cmd.tags`:         {"cmd.binary": set("a", "b"), "cmd.tags": set("x")},
		`'x' in cmd.tags or 'y' in cmd.tags`:           {"cmd.tags": set("x", "y")},
		`('x' in cmd.tags or cmd.sub == 'y') and true`: {"cmd.tags": set("x"), "cmd.sub": set("y")},
		`'x' in cmd.tags or cmd.binary != 'a'`:         nil,
		`cmd.binary not in ['a']`:                      nil,
		`not ('x' in cmd.tags)`:                        nil,
		`'x' in cmd.tags ? true : true`:                nil,
		`cmd.binary in [cmd.sub]`:                      nil,
	} {
		if got := cond.Needs(source, cond.Lists{"two": {"a", "b"}}); !maps.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%s needs %v, not %v", source, got, want)
		}
	}
}
