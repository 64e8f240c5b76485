package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/manual"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func evalCommand(env Env) *cobra.Command {
	var job eval.Job
	var variants []string
	var profile, policy string
	c := &cobra.Command{
		Use:   "eval",
		Short: "Read labelled or recorded replies with several rule folders",
		Long: `Read every reply of the corpora with every variant, by the code that serves, and say
which variant reads them better, and how sure that is. A variant is NAME=DIR, a folder of
rules, or NAME=builtin. Behind it may stand +OVERLAY.yaml, which sets what an arm of an
experiment sets; @EXPERIMENT/ARM, an arm of experiments.yaml there; and #PROFILE of its
strategies.

A line of a corpus is a record as explain --jsonl takes it, or one that capture wrote. With
"expect", as compare takes it, it can be right or wrong; it may also say "category".

Exit code: 0 no case that was right in the baseline is wrong now, 1 some are, or a line
could not be read, 2 wrong usage.`,
		Example: `  gpt-oss-executor eval --corpus a.jsonl --variant now=builtin --variant new=my
  gpt-oss-executor eval --corpus a.jsonl --variant r=my --html r.html --save r
  gpt-oss-executor eval --corpus a.jsonl --variant r=my --baseline r`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if len(job.Corpora) == 0 || len(variants) == 0 {
				return manual.Misused(c, errors.New("name at least one --corpus FILE and one --variant NAME=DIR"))
			}
			if job.Variants, err = eval.Specs(variants, profile); err != nil {
				return manual.Misused(c, err)
			}
			folders := []string{policy}
			for _, v := range job.Variants {
				folders = append(folders, v.Dir)
			}
			err = job.Run(eval.Room{In: env.In, Out: env.Out, Err: env.Err, World: env.world(folders...),
				Read: func(dir string) (rulefile.Source, rulefile.Files, error) { return readRules(dir, policy, env) }})
			if errors.Is(err, eval.ErrWorse) {
				return errSaid
			}
			return err
		},
	}
	f := c.Flags()
	f.StringArrayVar(&job.Corpora, "corpus", nil, "`FILE` of replies, a JSON object a line; - is standard input; may be given several times")
	f.StringArrayVar(&variants, "variant", nil, "`NAME=DIR` of rules; may be given several times")
	f.StringVar(&profile, "profile", "", "`PROFILE` of strategies.yaml, for variants that name none")
	f.StringVar(&job.Baseline, "baseline", "", "`FILE` that --save wrote: what was right there must be right")
	f.StringVar(&job.Files.JSON, "save", "", "write the report as JSON to `FILE`, for --baseline")
	f.StringVar(&job.Files.HTML, "html", "", "write a page to look at to `FILE`")
	f.StringVar(&job.Files.JUnit, "junit", "", "write JUnit XML to `FILE`")
	jsonFlag(c, &job.JSON, `{"variants": […], "pairs": […], "rows": […]}`)
	policyFlag(c, env, &policy)
	return c
}
