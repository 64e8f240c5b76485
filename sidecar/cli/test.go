package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// testFlags holds the flags of test.
type testFlags struct {
	run      string // regular expression of names
	verbose  bool
	coverage bool
	json     bool
	watch    bool
	record   string // reply to write a test for; "-" is standard input
	name     string // name of that test
}

func testCommand(env Env) *cobra.Command {
	var f testFlags
	var policy string
	c := &cobra.Command{
		Use:  "test [DIR]",
		Args: cobra.MatchAll(Arguments(0, 1), notEmpty),
		RunE: func(c *cobra.Command, args []string) error {
			dir, named := env.rulesFolder(args, policy)
			if err := env.refuseAmbiguous(c, dir, args); err != nil {
				return err
			}
			if !f.json {
				env.announce(named)
			}
			src, err := RuleSource(dir, policy, env)
			if err != nil {
				return err
			}
			if f.record != "" {
				return record(src, f, env)
			}
			wanted, err := regexp.Compile(f.run)
			if err != nil {
				return fmt.Errorf("--run: %w", err)
			}
			if f.watch {
				return watchTests(c, src, f, wanted, env)
			}
			files, err := src.Read()
			if err != nil {
				return err
			}
			return runTests(src, files, f, wanted, env)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.run, "run", "", "only tests whose name matches the `REGEXP`")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "also show tests that pass, and how long each took")
	fl.BoolVar(&f.coverage, "coverage", false, "show how many examples and tests hit each rule")
	JSONFlag(c, &f.json, "one document")
	fl.BoolVar(&f.watch, "watch", false, "run again after each edit, until interrupted")
	fl.StringVar(&f.record, "record", "", "write a test for the reply in `FILE` (- is standard input)")
	fl.StringVar(&f.name, "name", "", "`NAME` of the recorded test (without it: the name of the file)")
	PolicyFlag(c, env, &policy)
	Modes(c, "record: name policy", "watch: run verbose coverage json policy",
		": run verbose coverage json policy")
	return c
}

// runTests runs the tests once, and returns an error if one fails.
func runTests(src rulefile.Source, files rulefile.Files, f testFlags, wanted *regexp.Regexp, env Env) error {
	began := time.Now()
	report, problems := env.Loader().Test(files, wanted.MatchString)
	if len(problems) > 0 {
		fmt.Fprintln(env.Err, problems.In(src).Error())
	}
	if report == nil {
		return ErrReported
	}
	for i := range report.Tests {
		report.Tests[i].File = src.OnDisk(report.Tests[i].File)
		report.Tests[i].Problems = report.Tests[i].Problems.In(src)
	}
	if f.json {
		if err := env.Printer(true).Document(report, nil); err != nil {
			return err
		}
	} else {
		showTests(env.Out, report, f, time.Since(began))
	}
	for _, t := range report.Tests {
		if len(t.Problems) > 0 {
			return ErrReported
		}
	}
	if len(report.Tests) == 0 && f.run != "" {
		return fmt.Errorf("no test has a name that matches %q", f.run)
	}
	return nil
}

func showTests(out io.Writer, r *ruleset.Report, f testFlags, took time.Duration) {
	failed := 0
	for _, t := range r.Tests {
		switch {
		case len(t.Problems) > 0:
			failed++
			fmt.Fprintf(out, "FAIL  %s  %s:%d\n%s\n", t.Name, t.File, t.Line, t.Problems.Error())
		case f.verbose:
			fmt.Fprintf(out, "ok    %s  %s:%d  (%s)\n", t.Name, t.File, t.Line,
				t.Took.Round(10*time.Microsecond))
		}
	}
	if f.coverage {
		showCoverage(out, r)
	}
	verdict := "ok"
	if failed > 0 {
		verdict = fmt.Sprintf("%d failed", failed)
	}
	fmt.Fprintf(out, "rules %s: %d tests, %d examples: %s (%d ms)\n", r.Version, len(r.Tests), r.Examples,
		verdict, took.Milliseconds())
}

// showCoverage lists every rule with its hits, and counts the rules without any.
func showCoverage(out io.Writer, r *ruleset.Report) {
	never := 0
	fmt.Fprintf(out, "%-8s %-8s rule\n", "examples", "tests")
	for _, c := range r.Covered {
		mark := ""
		if c.Examples+c.Tests == 0 {
			never++
			mark = "  never"
		}
		fmt.Fprintf(out, "%8d %8d %s  %s%s\n", c.Examples, c.Tests, c.ID, c.Place, mark)
	}
	fmt.Fprintf(out, "%d of %d rules are hit by an example or a test\n", len(r.Covered)-never, len(r.Covered))
}

// watchTests runs the tests again after each change.
func watchTests(c *cobra.Command, src rulefile.Source, f testFlags, wanted *regexp.Regexp, env Env) error {
	if len(src.Folders()) == 0 {
		return errors.New("--watch needs a folder: the built-in rules never change")
	}
	ctx, stop := UntilStopped(c)
	defer stop()
	rulefile.Watch(ctx, src, "", func(files rulefile.Files, err error) bool {
		fmt.Fprintf(env.Out, "--- %s\n", time.Now().Format(time.TimeOnly))
		if err == nil {
			err = runTests(src, files, f, wanted, env)
		}
		if err != nil && !errors.Is(err, ErrReported) {
			fmt.Fprintln(env.Err, err)
		}
		return true
	})
	return nil
}

// record writes a test for a reply into the folder, or prints it for the built-in rules.
func record(src rulefile.Source, f testFlags, env Env) error {
	set, err := LoadFrom(src, env)
	if err != nil {
		return err
	}
	rec, err := readReply([]string{f.record}, env)
	if err != nil {
		return err
	}
	if f.name == "" {
		f.name = strings.TrimSuffix(filepath.Base(f.record), filepath.Ext(f.record))
	}
	reading, err := replay.RecordTest(set, env.World(src.Dir, src.Policy), ruleset.DefaultProfile, f.name,
		rec)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return AddTests(src, env, reading)
}

// AddTests writes tests into the folder, or prints them for the built-in rules.
func AddTests(src rulefile.Source, env Env, readings ...ruleset.Recording) error {
	const name = "tests/recorded.yaml"
	path := filepath.Join(src.Dir, filepath.FromSlash(name))
	text := ""
	if src.Dir != "" {
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("record: %w", err)
		}
		text = string(before)
	}
	for _, r := range readings {
		var err error
		if text, err = ruleset.AppendTest(text, r); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	if src.Dir == "" {
		_, err := io.WriteString(env.Out, text)
		return err
	}
	if err := Edit(src, env, name, text); err != nil {
		return err
	}
	for _, r := range readings {
		fmt.Fprintf(env.Out, "wrote the test %q to %s; check it: it expects that the reply is read as it is read today\n", r.Name, path)
	}
	return nil
}
