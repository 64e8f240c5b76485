package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func checkCommand(env Env) *cobra.Command {
	strict, format, policy := false, "text", ""
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Check rules, and show every problem with its place",
		Long: `Check the rules in DIR, or the built-in ones. It shows every problem with its place,
and warns about rules that load and do nothing.

  gpt-oss-executor check rules
  gpt-oss-executor check rules --strict --format github   in a workflow

Exit code: 0 the rules are good, 1 they have problems (with --strict also warnings),
2 wrong usage.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return misused(c, fmt.Errorf("--format is one of %s, not %q", strings.Join(formats, ", "), format))
			}
			v := verdict{began: time.Now(), strict: strict, policy: policy}
			if len(args) == 1 {
				v.dir = args[0]
			}
			v.check(env)
			if err := v.write(format, env); err != nil {
				return err
			}
			if !v.ok() {
				return errSaid
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as problems")
	policyFlag(c, &policy)
	c.Flags().StringVar(&format, "format", format, "text, json (one document) or github (workflow commands)")
	return c
}

// formats are how check says what it found.
var formats = []string{"text", "json", "github"}

// verdict is what check found in a folder.
type verdict struct {
	dir      string
	policy   string // locked folder
	strict   bool
	began    time.Time
	version  string
	counts   ruleset.Counts
	problems rulefile.Problems
	err      error // the folder cannot be read
}

func (v *verdict) check(env Env) {
	src, err := rulesIn(v.dir, v.policy, env)
	if err != nil {
		v.err = err
		return
	}
	files, err := src.Read()
	if err != nil {
		v.err = err
		v.problems = rulefile.Unreadable(v.dir, err)
		return
	}
	v.version = files.Version()
	set, problems := ruleset.Load(files)
	v.problems = problems.In(src)
	if set != nil {
		v.counts = set.Counts
	}
}

func (v *verdict) ok() bool { return !v.problems.Fatal() && !(v.strict && len(v.problems) > 0) }

// tally counts problems and warnings.
func (v *verdict) tally() (problems, warnings int) {
	for i := range v.problems {
		if v.problems[i].Warning {
			warnings++
		} else {
			problems++
		}
	}
	return problems, warnings
}
