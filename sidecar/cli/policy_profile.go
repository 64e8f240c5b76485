package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// profiles say what happens to a call that no rule is about.
var profiles = map[string]string{
	"strict":     "what no rule allows is denied",
	"developer":  "what no rule allows needs a person",
	"permissive": "what no rule denies or asks about leaves",
	"audit-only": "everything leaves; the log says what developer would have done",
}

func policyProfileCommand(env Env) *cobra.Command {
	var dir, locked string
	c := &cobra.Command{
		Use:   "profile [strict|developer|permissive|audit-only]",
		Short: "Show or change how strict the policy is",
		Long: `Show or change how strict the policy is. Without a name it shows what is in force: the
profile, the folders of the agent, the number of rules, and the conditions that
blocked_commands and allowed_commands stand for. With a name it writes that profile into
exec.yaml of --rules. A running server takes it at once.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return setProfile(args[0], dir, env)
			}
			set, err := loadRules(dir, locked, env)
			if err != nil {
				return err
			}
			return env.paper(false).whole(nil, profileRows(set))
		},
	}
	policyFlag(c, &locked)
	rulesFlag(c, &dir)
	return c
}

// profileRows say how strict a set is.
func profileRows(set *ruleset.Set) []row {
	var r rows
	r.say("profile %s: %s", set.Profile(), profiles[set.Profile()])
	if name := set.LockedProfile(); name != "" {
		r.field("locked", name+": "+profiles[name]+"; the stricter of both holds", "")
	}
	roots := set.Roots(ruleset.World{})
	r.field("works in", roots.Cwd, "")
	r.field("home", roots.Home, "")
	r.field("may write", strings.Join(roots.Write, " "), "")
	r.field("may read", strings.Join(slices.Concat(roots.Read, roots.ReadFiles), " "), "")
	r.field("may look", strings.Join(roots.Look, " "), "")
	r.field("never", strings.Join(roots.Own, " "), "")
	counts := map[string]int{}
	for _, rule := range set.PolicyRules() {
		counts[string(rule)]++
	}
	var said []string
	for _, effect := range slices.Sorted(maps.Keys(counts)) {
		said = append(said, fmt.Sprintf("%d %s", counts[effect], effect))
	}
	r.field("rules", strings.Join(said, ", "), "")
	for _, e := range set.Expansions() {
		r.field(string(e.Effect), fmt.Sprintf("%q is %s", e.Text, e.When), "")
	}
	return r.list
}

var profileLine = regexp.MustCompile(`(?m)^profile:[ \t]*[^\s#]*`)

// setProfile writes a profile into exec.yaml, if the rules then still load.
func setProfile(name, dir string, env Env) error {
	if _, ok := profiles[name]; !ok {
		return fmt.Errorf("there is no profile %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(profiles)), ", "))
	}
	if dir == "" || dir == builtinRules {
		return fmt.Errorf("the built-in rules cannot be changed; make a folder with gpt-oss-executor init --layered DIR, and name it with --rules")
	}
	file := filepath.Join(dir, "exec.yaml")
	doc, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read rules: %w", err)
	}
	line := []byte("profile: " + name)
	changed := profileLine.ReplaceAll(doc, line)
	if !profileLine.Match(doc) {
		changed = bytes.Replace(doc, []byte("version: 1\n"), append([]byte("version: 1\n"), append(line, '\n')...), 1)
	}
	src, err := rulesIn(dir, "", env)
	if err != nil {
		return err
	}
	if err := edit(src, "exec.yaml", string(changed)); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s: %s\n", file, line)
	return nil
}
