package eval

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/eval/fit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func readingCommand(env cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:     "reading",
		Short:   "Measure how sure the reader is, and fit the weights of its signs",
		Example: `  gpt-oss-executor reading fit --rules my-rules`,
		Args:    cobra.NoArgs,
	}
	c.AddCommand(fitCommand(env))
	return c
}

func fitCommand(env cli.Env) *cobra.Command {
	var dir, cases, svg string
	write := false
	job := fit.Job{Seed: fit.UsualSeed, Count: fit.UsualCount}
	c := &cobra.Command{
		Use:   "fit",
		Short: "Fit the weights of evidence.yaml to replies whose calls are known",
		Long: `Draw made-up replies whose calls are known, damage them, read them with the rules, and find
the weights under which the scores of evidence.yaml mean most: of the texts with the score
0.9, nine in ten are calls. It shows the weights, and how good they are on replies that were
not used. Nothing is written without --write. Thresholds are not fitted.

A weight is held to the one that a person has set by hand, and never changes its side. So a
sign that the replies do not show keeps its weight.

With --cases, labelled replies of yours count, too. A line of FILE is a record as
explain --jsonl takes it, with "expect" as compare takes it; "calls" must be there, [] for
none. Every second line is kept to judge by. With --count 0 no other replies count.`,
		Example: `  gpt-oss-executor reading fit
  gpt-oss-executor reading fit --rules my-rules --cases replies.jsonl --write`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if job.Count < 0 || job.Count == 0 && cases == "" {
				return cli.Misused(c, fmt.Errorf("--count %d: there is nothing to fit to; it is 1 or more, or 0 with --cases", job.Count))
			}
			if write && cli.RulesName(dir) != dir {
				return cli.Misused(c, errors.New("the built-in rules cannot be changed; name a folder: --rules DIR"))
			}
			src, err := cli.RulesIn(dir, "", env)
			if err != nil {
				return err
			}
			if _, err = cli.LoadFrom(src, env); err != nil {
				return err
			}
			if job.Files, err = src.Read(); err != nil {
				return err
			}
			if job.Cases, err = labelledCases(cases, env); err != nil {
				return fmt.Errorf("read %s: %w", cases, err)
			}
			return fitted(job, src, svg, write, env)
		},
	}
	cli.RulesFlag(c, env, &dir)
	c.Flags().Uint64Var(&job.Seed, "seed", job.Seed, "the first `SEED` of the replies")
	c.Flags().IntVar(&job.Count, "count", job.Count,
		"`HOW` many replies are fitted to; as many others are kept to judge by")
	c.Flags().StringVar(&cases, "cases", "", "labelled replies, one record a line of `FILE`")
	c.Flags().StringVar(&svg, "svg", "", "write the curve of each class to `FILE`, as a picture")
	c.Flags().BoolVar(&write, "write", false, "write the weights into evidence.yaml of the rules")
	return c
}

func labelledCases(file string, env cli.Env) ([]fit.Case, error) {
	if file == "" {
		return nil, nil
	}
	in, err := cli.OpenInput([]string{file}, env)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return fit.Cases(in)
}

// fitted shows what weights a job gives, and writes what is wanted.
func fitted(job fit.Job, src rulefile.Source, svg string, write bool, env cli.Env) error {
	r, err := fit.Run(job)
	if err != nil {
		return fmt.Errorf("fit: %w", err)
	}
	if svg != "" {
		if err := atomicfile.Write(svg, []byte(fit.SVG(r.Kept.All, &r.New)), 0o644); err != nil {
			return fmt.Errorf("write the picture: %w", err)
		}
	}
	if err := r.Write(env.Out); err != nil || !write {
		return err
	}
	text, err := fit.Written(r.Files, r.New)
	if err != nil {
		return err
	}
	if err := cli.Edit(src, fit.File, text); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "\nwrote the weights to %s\n", filepath.Join(src.Dir, fit.File))
	return nil
}
