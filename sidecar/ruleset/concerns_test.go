package ruleset

import (
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
)

// A rule that names programs or tags holds for no command without one of them.
func TestRulesConcern(t *testing.T) {
	t.Parallel()
	set, held, named := loaded(t), 0, 0
	has := func(r *policy.Rule[policy.Env], c *shell.Command) bool {
		return r.Programs == nil && r.Tags == nil || slices.Contains(r.Programs, c.Binary) ||
			slices.ContainsFunc(r.Tags, func(tag string) bool { return slices.Contains(c.Tags, tag) })
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
					t.Errorf("%s holds for %q, without %q and %q", r.ID, c.Command, r.Programs, r.Tags)
				}
			}
		}
	}
	if named == 0 || named == held {
		t.Errorf("%d of %d rules that hold name programs or tags", named, held)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]map[string][]string{
		`'send' in cmd.tags`:                           {"cmd.tags": {"send"}},
		`cmd.binary == 'git' and cmd.sub == 'push'`:    {"cmd.binary": {"git"}},
		`cmd.binary in two or 'x' in cmd.tags`:         {"cmd.binary": {"a"}, "cmd.tags": {"x"}},
		`'x' in cmd.tags or cmd.binary != 'a'`:         nil,
		`cmd.binary not in ['a']`:                      nil,
		`not ('x' in cmd.tags)`:                        nil,
		`('x' in cmd.tags or cmd.sub == 'y') and true`: {"cmd.tags": {"x"}, "cmd.sub": {"y"}},
		`'x' in cmd.tags ? true : true`:                nil,
	} {
		if got := cond.Needs(source, cond.Lists{"two": {"a"}}); len(got) != len(want) ||
			!slices.Equal(got["cmd.tags"], want["cmd.tags"]) || !slices.Equal(got["cmd.binary"], want["cmd.binary"]) {
			t.Errorf("%s needs %q, not %q", source, got, want)
		}
	}
}
