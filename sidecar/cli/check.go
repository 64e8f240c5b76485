package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

func checkCommand(env Env) *cobra.Command {
	strict, asJSON, github, format, policy := false, false, false, "text", ""
	c := &cobra.Command{
		Use:  "check [DIR]",
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
			dir, named := env.rulesFolder(args, policy)
			if err := env.refuseAmbiguous(c, dir, args); err != nil {
				return err
			}
			if format != "json" {
				env.announce(named)
			}
			v := Check(dir, policy, strict, env)
			if err := v.write(format, env); err != nil {
				return err
			}
			if !v.OK {
				return ErrReported
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "warnings count as problems")
	PolicyFlag(c, env, &policy)
	JSONFlag(c, &asJSON, "one document")
	c.Flags().BoolVar(&github, "github", false, "write workflow commands, which GitHub shows at their lines")
	c.Flags().StringVar(&format, "format", format, "`FORMAT` text, json or github")
	c.Flags().Lookup("format").Hidden = true // for scripts of earlier versions
	Modes(c, "json: strict policy", "github: strict policy", "format: strict policy", ": strict policy")
	return c
}

// formats are the values of --format.
var formats = []string{"text", "json", "github"}

// verdict is the result of check. Its JSON keys are stable; new ones may be added.
type verdict struct {
	Version  string            `json:"version"` // of the rules; empty: they cannot be read
	Folder   string            `json:"folder"`  // "builtin": the built-in rules
	OK       bool              `json:"ok"`
	Counts   checkCounts       `json:"counts"`
	Problems rulefile.Problems `json:"problems"`
	Taken    []rulefile.Taken  `json:"taken_away,omitempty"` // removed from included files

	took time.Duration
	Err  error `json:"-"` // why the folder cannot be read
}

// checkCounts counts what was loaded (0 where the rules do not load), problems and warnings.
type checkCounts struct {
	ruleset.Counts
	Problems int `json:"problems"`
	Warnings int `json:"warnings"`
}

// whichRules documents commands with an optional argument DIR.
const whichRules = `Without DIR these are the rules that serve would use: those in the folder that
GPTOSS_EXECUTOR_RULES names, or else the built-in ones. The first line says which. DIR can
be builtin, too.`

func Check(dir, policy string, strict bool, env Env) verdict {
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

// count counts problems and warnings. With strict, warnings make the rules bad too.
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

func (v *verdict) write(as string, env Env) error {
	switch as {
	case "json":
		v.Problems = append(rulefile.Problems{}, v.Problems...) // an empty list instead of null
		return env.Printer(true).Document(v, nil)
	case "github":
		for i := range v.Problems {
			fmt.Fprintln(env.Out, v.Problems[i].WorkflowCommand())
		}
		v.summary(env.Out, env.Out)
		return nil
	}
	if v.Err != nil {
		return v.Err
	}
	if len(v.Problems) > 0 {
		fmt.Fprintln(env.Err, v.Problems.Error())
	}
	v.summary(env.Out, env.Err)
	return nil
}

// summary prints the last line, with the number of problems.
func (v *verdict) summary(good, bad io.Writer) {
	n := v.Counts
	var parts []string
	if n.Problems > 0 {
		parts = append(parts, terminal.Count(n.Problems, "problem"))
	}
	if n.Warnings > 0 {
		parts = append(parts, terminal.Count(n.Warnings, "warning"))
	}
	if len(parts) > 0 {
		fmt.Fprintln(bad, strings.Join(parts, ", "))
	}
	for _, t := range v.Taken {
		fmt.Fprintln(good, t)
	}
	if v.OK {
		fmt.Fprintf(good, "rules %s: %d files, %d conditions, %d patterns, %d examples, %d tests: ok (%d ms)\n",
			v.Version, n.Files, n.Conditions, n.Patterns, n.Examples, n.Tests, v.took.Milliseconds())
	}
}

func fmtCommand(env Env) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:  "fmt [DIR|FILE…]",
		Args: notEmpty,
		RunE: func(c *cobra.Command, args []string) error {
			dir, named := env.rulesFolder(args, "")
			if RulesName(dir) != dir {
				return Misused(c, errors.New("the built-in rules cannot be changed; name a folder or files, such as: "+c.CommandPath()+" ."))
			}
			if len(args) == 0 {
				args = []string{dir}
				env.announce(named)
			}
			names, err := rulefile.RuleFiles(args)
			if err != nil {
				return err
			}
			failed, changed := false, false
			for _, name := range names {
				did, err := FormatFile(name, !check)
				if err != nil {
					failed = true
					fmt.Fprintln(env.Err, err)
				}
				if did {
					changed = true
					fmt.Fprintln(env.Out, name)
				}
			}
			if failed || check && changed {
				return ErrReported
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only list the files that are not formatted")
	return c
}

// FormatFile formats a file. It writes the result only if write is set.
func FormatFile(name string, write bool) (changed bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("read rules: %w", err)
	}
	out, problem := ruleset.Format(filepath.ToSlash(name), string(text))
	switch {
	case problem != nil:
		return false, rulefile.Problems{*problem}
	case out == string(text):
		return false, nil
	case !write:
		return true, nil
	}
	if err := atomicfile.Replace(name, []byte(out)); err != nil {
		return false, fmt.Errorf("write rules: %w", err)
	}
	return true, nil
}

func varsCommand(env Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:  "vars [FILE]",
		Args: Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			v := env.Loader().Vars()
			if len(args) == 1 {
				if err := keepFile(&v, args[0]); err != nil {
					return err
				}
			}
			if asJSON {
				return env.Printer(true).Document(v, nil)
			}
			return printVars(env.Out, v)
		},
	}
	JSONFlag(c, &asJSON, "one document, for editors")
	return c
}

// keepFile keeps the conditions of one file, given by its name or path.
func keepFile(v *ruleset.Vocabulary, file string) error {
	name := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".yaml"
	var files []string
	for _, c := range v.Conditions {
		files = append(files, c.File)
	}
	v.Conditions = slices.DeleteFunc(v.Conditions, func(c ruleset.Condition) bool { return c.File != name })
	if len(v.Conditions) == 0 {
		return fmt.Errorf("%s holds no conditions; these files do: %s", name,
			strings.Join(slices.Compact(files), ", "))
	}
	return nil
}

func printVars(out io.Writer, v ruleset.Vocabulary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range v.Conditions {
		fmt.Fprintf(w, "%s %s sees\n", c.File, c.Key)
		for _, x := range c.Variables {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", x.Name, x.Type, x.About)
		}
		fmt.Fprintln(w)
	}
	for _, part := range []struct {
		title string
		words []cond.Word
	}{{"functions, as strategies.yaml may use them", v.Functions}, {"operators", v.Operators}} {
		fmt.Fprintln(w, part.title)
		for _, x := range part.words {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", x.Name, x.About, x.Example)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "limits")
	for _, l := range v.Limits {
		fmt.Fprintln(w, "  "+l)
	}
	return w.Flush()
}
