package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

func checkCommand(env Env) *cobra.Command {
	strict, asJSON, github, format, policy := false, false, false, "text", ""
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Check rules, and show every problem with its place",
		Long: `Check the rules in DIR. It shows every problem with its place, and warns about rules that
load and do nothing.

` + whichRules + `

Exit code: 0 the rules are good, 1 they have problems (with --strict also warnings),
2 wrong usage.`,
		Example: `  gpt-oss-executor check my-rules
  gpt-oss-executor check my-rules --strict --github    # in a workflow
  gpt-oss-executor check builtin --json`,
		Args: cobra.MatchAll(Arguments(0, 1), notEmpty),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case asJSON:
				format = "json"
			case github:
				format = "github"
			case !slices.Contains(formats, format):
				return Misused(c, fmt.Errorf("--format is one of %s, not %q", strings.Join(formats, ", "),
					format))
			}
			if c.Flags().Changed("format") {
				fmt.Fprintln(env.Err, "--format is written --json or --github now")
			}
			dir, named := env.meant(args, policy)
			if err := env.unsure(c, dir, args); err != nil {
				return err
			}
			if format != "json" {
				env.announce(named)
			}
			v := Checked(dir, policy, strict, env)
			if err := v.write(format, env); err != nil {
				return err
			}
			if !v.OK {
				return ErrSaid
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as problems")
	PolicyFlag(c, env, &policy)
	JSONFlag(c, &asJSON, "one document")
	c.Flags().BoolVar(&github, "github", false, "write workflow commands, which GitHub shows at their lines")
	c.Flags().StringVar(&format, "format", format, "`FORMAT` text, json or github")
	c.Flags().Lookup("format").Hidden = true // the spelling of earlier versions
	Modes(c, "json: strict policy", "github: strict policy", "format: strict policy", ": strict policy")
	return c
}

// formats are how check says what it found.
var formats = []string{"text", "json", "github"}

// verdict is what check found in a folder. Its keys stay; further ones may come.
type verdict struct {
	Version  string            `json:"version"` // of the rules; empty where they cannot be read
	Folder   string            `json:"folder"`  // builtin: the rules of the program
	OK       bool              `json:"ok"`
	Counts   checkCounts       `json:"counts"`
	Problems rulefile.Problems `json:"problems"`
	Taken    []rulefile.Taken  `json:"taken_away,omitempty"` // from the files that others include

	took time.Duration
	Err  error `json:"-"` // the folder cannot be read
}

// checkCounts are how much was loaded, which is 0 where the rules do not load, and how much
// is wrong with it.
type checkCounts struct {
	ruleset.Counts
	Problems int `json:"problems"`
	Warnings int `json:"warnings"`
}

// whichRules says what commands with an argument DIR do without it.
const whichRules = `Without DIR these are the rules that serve would use: those in the folder that
GPTOSS_EXECUTOR_RULES names, or else the built-in ones. The first line says which. DIR can
be builtin, too.`

func Checked(dir, policy string, strict bool, env Env) verdict {
	began := time.Now()
	v := verdict{Folder: cmp.Or(dir, service.BuiltinRules)}
	src, files, err := ReadRules(dir, policy, env)
	if err != nil {
		v.Err, v.Problems = err, rulefile.Unreadable(dir, err)
	} else {
		set, problems := env.Loader().Load(files)
		v.Version, v.Problems = files.Version(), append(problems, src.Ignored()...).In(src)
		if set != nil {
			v.Counts.Counts, v.Taken = set.Counts, set.Taken
		}
	}
	v.count(strict)
	v.took = time.Since(began)
	return v
}

// count counts problems and warnings. With strict both make rules bad.
func (v *verdict) count(strict bool) {
	for i := range v.Problems {
		if v.Problems[i].Warning {
			v.Counts.Warnings++
		} else {
			v.Counts.Problems++
		}
	}
	v.OK = v.Counts.Problems == 0 && !(strict && v.Counts.Warnings > 0)
}
