package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/eval"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/manual"
)

// evaluating is what eval was asked for.
type evaluating struct {
	corpora, variants             []string
	profile, policy               string
	baseline, html, junit, saveTo string
	json                          bool
	live                          eval.Live
	env                           Env
}

func evalCommand(env Env) *cobra.Command {
	x := evaluating{env: env}
	c := &cobra.Command{
		Use:   "eval",
		Short: "Read labelled or recorded replies with several rule folders",
		Long: `Read every reply of the corpora with every variant, by the code that serves, and say
which variant reads them better, and how sure that is. A variant is NAME=DIR, a folder of
rules; NAME=builtin, the built-in ones; or NAME=DIR#PROFILE, a profile of its strategies.

A line of a corpus is a record as explain --jsonl takes it, or one that capture wrote. With
"expect", as compare takes it, it can be right or wrong; it may also say "category".

With --live the corpora say what to ask ("user" or "messages", and "tools"): each case is asked
of a model server several times, through the serving code of each variant.

Exit code: 0 no case that was right in the baseline is wrong now, 1 some are, or a line
could not be read, 2 wrong usage.`,
		Example: `  gpt-oss-executor eval --corpus a.jsonl --variant now=builtin --variant new=my
  gpt-oss-executor eval --corpus a.jsonl --variant r=my --save b --baseline a
  gpt-oss-executor eval --corpus a.jsonl --variant r=my --live URL --times 5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(x.corpora) == 0 || len(x.variants) == 0 {
				return manual.Misused(c, errors.New("name at least one --corpus FILE and one --variant NAME=DIR"))
			}
			variants, world, err := x.load(c)
			if err != nil {
				return err
			}
			ctx, stop := untilStopped(c)
			defer stop()
			return x.run(ctx, variants, world)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&x.corpora, "corpus", nil, "`FILE` of replies, a JSON object a line; - is standard input; may be given several times")
	f.StringArrayVar(&x.variants, "variant", nil, "`NAME=DIR` of rules; may be given several times")
	f.StringVar(&x.profile, "profile", "", "`PROFILE` of strategies.yaml, for variants that name none")
	f.StringVar(&x.baseline, "baseline", "", "`FILE` that --save wrote: what was right there must be right")
	f.StringVar(&x.saveTo, "save", "", "write the report as JSON to `FILE`, for --baseline")
	f.StringVar(&x.html, "html", "", "write a page to look at to `FILE`")
	f.StringVar(&x.junit, "junit", "", "write JUnit XML to `FILE`")
	f.StringVar(&x.live.URL, "live", "", "ask the model server at `URL` anew")
	f.IntVar(&x.live.Times, "times", 3, "with --live: the `NUMBER` of times that a case is asked, at each temperature")
	f.Float64SliceVar(&x.live.Temperatures, "temperature", nil, "with --live: the `TEMPERATURES` to ask at (without it: the one of the rules)")
	f.IntVar(&x.live.Most, "max-requests", 0, "with --live: stop behind this `NUMBER` of requests")
	f.StringVar(&x.live.Answers, "answers", "", "with --live: keep what was answered in `FILE`, and do not ask for it again")
	f.DurationVar(&x.live.Wait, "timeout", 2*time.Minute, "with --live: the `TIME` for one answer")
	jsonFlag(c, &x.json, `{"variants": […], "pairs": […], "rows": […]}`)
	policyFlag(c, env, &x.policy)
	return c
}

// load loads the rules of the variants.
func (x *evaluating) load(c *cobra.Command) (variants []eval.Variant, world guard.World, err error) {
	var folders []string
	names := map[string]bool{}
	for _, v := range x.variants {
		name, dir, ok := strings.Cut(v, "=")
		if !ok || name == "" || dir == "" || names[name] {
			return nil, world, manual.Misused(c, fmt.Errorf("--variant %s: write NAME=DIR, each name once", v))
		}
		names[name] = true
		dir, profile, named := strings.Cut(dir, "#")
		if !named {
			profile = x.profile
		}
		set, err := loadProfile(dir, x.policy, profile, x.env)
		if err != nil {
			return nil, world, err
		}
		variants, folders = append(variants, eval.Variant{Name: name, Set: set, Profile: profile}), append(folders, dir)
	}
	return variants, x.env.world(append(folders, x.policy)...), nil
}

func (x *evaluating) run(ctx context.Context, variants []eval.Variant, world guard.World) error {
	report, broken := eval.NewReport(variants), 0
	x.live.Key, _ = x.env.lookup(config.Prefix + "UPSTREAM_KEY")
	x.live.Rewrites = bool(terminal.ColoursOf(x.env.Err, x.env.lookup))
	for _, name := range x.corpora {
		in, err := openInput([]string{name}, x.env)
		if err != nil {
			return err
		}
		read := func() (int, error) { return report.Read(name, in, variants, world, x.env.Err) }
		if x.live.Tell = x.env.Err; x.live.URL != "" {
			read = func() (int, error) { return x.live.Read(name, in) }
		}
		n, err := read()
		broken += n
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	if err := x.live.Run(ctx, report, variants, world); err != nil {
		return err
	}
	report.Finish()
	if report.Cases == 0 {
		return errors.New("eval: there is no reply to read")
	}
	if err := report.Save(eval.Files{HTML: x.html, JUnit: x.junit, JSON: x.saveTo}); err != nil {
		return err
	}
	said := error(nil)
	if x.json {
		said = x.env.paper(true).whole(report, nil)
	} else {
		said = report.Write(x.env.Out)
	}
	switch worse, err := report.Against(x.baseline); {
	case said != nil || err != nil:
		return errors.Join(said, err)
	case broken > 0:
		return fmt.Errorf("%d lines could not be read", broken)
	case len(worse) > 0:
		fmt.Fprintln(x.env.Err, strings.Join(worse, "\n"))
		return errSaid
	}
	return nil
}
