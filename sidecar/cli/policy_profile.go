package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// profiles describes what happens to a call that no rule matches.
var profiles = map[string]string{
	"strict":     "what no rule allows is denied",
	"developer":  "what no rule allows needs a person",
	"permissive": "what no rule denies or asks about leaves",
	"audit-only": "everything leaves; the log says what developer would have done",
}

func policyProfileCommand(env Env) *cobra.Command {
	var dir, locked string
	var asJSON bool
	c := &cobra.Command{
		Use:       "profile [NAME]",
		ValidArgs: slices.Sorted(maps.Keys(profiles)),
		Args:      Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return setProfile(args[0], dir, env)
			}
			set, err := LoadRules(dir, locked, env)
			if err != nil {
				return err
			}
			r := reportProfile(set, env)
			return env.Printer(asJSON).Document(r, profileRows(r))
		},
	}
	JSONFlag(c, &asJSON, "one document")
	PolicyFlag(c, env, &locked)
	RulesFlag(c, env, &dir)
	return c
}

// Walls describes how this machine can confine commands.
type Walls struct {
	Holds []Hold
	Here  []string // agents whose commands serve confines
}

// Hold is one kind of confinement.
type Hold struct {
	Part    string `json:"part"`
	About   string `json:"about"`
	By      string `json:"by,omitempty"`      // the mechanism
	Missing string `json:"missing,omitempty"` // why it is not available
}

// Confiner is a part that confines commands.
type Confiner interface{ Walls(agents []string) Walls }

// walls returns what the part that confines reports; without it, nothing is enforced.
func (e Env) walls(agents []string) Walls {
	for _, p := range e.Parts {
		if c, ok := p.(Confiner); ok {
			return c.Walls(agents)
		}
	}
	return Walls{Holds: []Hold{{Part: "files", About: "files outside cannot be read, run or changed",
		Missing: "this program was built without what confines commands"}}}
}

// profileReport describes how strict a rule set is. Its JSON keys are stable; new ones may be added.
type profileReport struct {
	Version    string                `json:"rules_version"`
	Profile    string                `json:"profile"`
	Locked     string                `json:"locked_profile,omitempty"` // the stricter of both counts
	Confine    string                `json:"confine"`
	Holds      []Hold                `json:"holds"`
	Here       []string              `json:"agents_here,omitempty"` // agents whose commands serve confines
	Roots      paths.Roots           `json:"roots"`
	Rules      map[policy.Effect]int `json:"rules"` // number of rules per effect
	Expansions []ruleset.Expansion   `json:"expansions"`
}

func reportProfile(set *ruleset.Set, env Env) *profileReport {
	walls := env.walls(set.AgentNames())
	r := &profileReport{
		Version: set.Version, Profile: set.Profile(), Locked: set.LockedProfile(),
		Confine: set.Confine().String(), Holds: walls.Holds, Here: walls.Here,
		Roots: env.World().Roots(set),
		Rules: map[policy.Effect]int{}, Expansions: append([]ruleset.Expansion{}, set.Expansions()...),
	}
	for _, effect := range set.PolicyRules() {
		r.Rules[effect]++
	}
	return r
}

func profileRows(p *profileReport) []Row {
	var r Rows
	r.Say("profile %s: %s", p.Profile, profiles[p.Profile])
	if p.Locked != "" {
		r.Field("locked", p.Locked+": "+profiles[p.Locked]+"; the stricter of both holds", "")
	}
	if p.Profile == "permissive" {
		r.Field("unsure", "what rules are unsure about leaves, too, and the log says so", "")
	}
	r.Field("confine", confined(p), "")
	r.Field("works in", p.Roots.Workspace(), "")
	r.Field("home", p.Roots.Home, "")
	r.Field("may write", strings.Join(p.Roots.Write, " "), "")
	r.Field("may read", strings.Join(slices.Concat(p.Roots.Read, p.Roots.ReadFiles), " "), "")
	r.Field("may look", strings.Join(p.Roots.Look, " "), "")
	r.Field("never", strings.Join(p.Roots.Own, " "), "")
	var counts []string
	for _, effect := range slices.Sorted(maps.Keys(p.Rules)) {
		counts = append(counts, fmt.Sprintf("%d %s", p.Rules[effect], effect))
	}
	r.Field("rules", strings.Join(counts, ", "), "")
	for _, e := range p.Expansions {
		r.Field(string(e.Effect), fmt.Sprintf("%q is %s", e.Text, e.When), "")
	}
	return r.List
}

// confined describes whether the kernel confines commands, as far as this machine can tell.
func confined(p *profileReport) string {
	var missing []string
	for _, g := range p.Holds {
		if g.Missing != "" {
			missing = append(missing, g.Part)
		}
	}
	switch {
	case p.Confine == ruleset.Never.String():
		return "never"
	case len(missing) == 0 && p.Here != nil:
		return p.Confine + "; this machine can, and serve does for " + strings.Join(p.Here, ", ")
	case len(missing) == 0:
		return p.Confine + "; this machine can, once openclaw was run here, or if serve runs with --confine here"
	}
	return p.Confine + "; this machine lacks " + strings.Join(missing, ", ") + " (confine --probe says why)"
}

var (
	profileLine = regexp.MustCompile(`(?m)^profile:[ \t]*[^\s#]*`)
	versionLine = regexp.MustCompile(`(?m)^version:.*`)
)

// setProfile writes a profile into exec.yaml if the rules still load with it.
func setProfile(name, dir string, env Env) error {
	if _, ok := profiles[name]; !ok {
		return fmt.Errorf("there is no profile %q; there are %s", name,
			strings.Join(slices.Sorted(maps.Keys(profiles)), ", "))
	}
	if dir == "" || dir == service.BuiltinRules {
		return fmt.Errorf("the built-in rules cannot be changed; make a folder with gpt-oss-executor init DIR, and name it with --rules")
	}
	src, err := RuleSource(dir, "", env)
	if err != nil {
		return err
	}
	files, err := rulefile.ReadDir(dir)
	if err != nil {
		return err
	}
	file, line := profiledIn(files), "profile: "+name
	if !files.Has(file) {
		files[file] = rulefile.MissingFile(file)
	}
	changed := profileLine.ReplaceAllString(files[file], line)
	if !profileLine.MatchString(files[file]) {
		changed = versionLine.ReplaceAllString(files[file], "$0\n"+line)
	}
	if !profileLine.MatchString(changed) {
		return fmt.Errorf("%s has no line with its version, behind which the profile could stand; write this into it: %s", src.OnDisk(file), line)
	}
	if err := Edit(src, env, file, changed); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s: %s\n", src.OnDisk(file), line)
	return nil
}

// profiledIn returns the file whose profile counts: exec.yaml, or an extra file that overrides it.
func profiledIn(files rulefile.Files) string {
	const file = "exec.yaml"
	for name, text := range files {
		if rulefile.ExtraOf(name) == file && profileLine.MatchString(text) {
			return name
		}
	}
	return file
}

func policyProgramCommand(env Env) *cobra.Command {
	var dir, policy string
	c := &cobra.Command{
		Use:  "program [NAME [SUBCOMMAND]]",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return env.Printer(false).Document(nil, wordRows())
			}
			set, err := LoadRules(dir, policy, env)
			if err != nil {
				return err
			}
			if len(args) == 1 && strings.Contains(args[0], " ") {
				facts, understood := set.Programs.Example(args[0])
				if !understood {
					facts = "not understood: " + facts
				}
				return env.Printer(false).Document(nil, []Row{{Text: facts}})
			}
			lines := set.Programs.Describe(args[0], args[1:]...)
			if lines == nil {
				return fmt.Errorf("no row describes %s; rules/README.md says how to teach a program",
					strings.Join(args, " "))
			}
			var rows []Row
			for _, l := range lines {
				rows = append(rows, Row{Text: l[0] + ": " + l[1]})
			}
			return env.Printer(false).Document(nil, rows)
		},
	}
	PolicyFlag(c, env, &policy)
	RulesFlag(c, env, &dir)
	return c
}

// wordRows lists the words of program rows with their meaning.
func wordRows() (rows []Row) {
	for _, list := range [][2]string{{"kinds", "Kinds of values and operands:"}, {"effects", "Effects:"},
		{"marks", "Words among the effects:"}, {"prints", "Kinds of output:"}} {
		rows = append(rows, Row{Text: list[1]})
		words := program.Words(list[0])
		for _, word := range slices.Sorted(maps.Keys(words)) {
			rows = append(rows, Row{Text: fmt.Sprintf("  %-18s %s", word, words[word])})
		}
	}
	return rows
}
