package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/jsonlines"
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
	env                           Env
	broken                        int
}

func evalCommand(env Env) *cobra.Command {
	x := evaluating{env: env}
	c := &cobra.Command{
		Use:   "eval",
		Short: "Read labelled or recorded replies with several variants of the rules",
		Long: `Read every reply of the corpora with every variant, by the code that serves, and say
which variant reads them better, and how sure that is. A variant is NAME=DIR, a folder of
rules; NAME=builtin, the built-in ones; or NAME=DIR#PROFILE, a profile of its strategies.

A line of a corpus is a record as explain --jsonl takes it, or one that capture wrote. With
"expect", as compare takes it, it can be right or wrong; it may also say "category".

Exit code: 0 no case that was right in the baseline is wrong now, 1 some are, or a line
could not be read, 2 wrong usage.`,
		Example: `  gpt-oss-executor eval --corpus replies.jsonl --variant now=builtin --variant new=my-rules
  gpt-oss-executor eval --corpus a.jsonl --variant r=my-rules --html r.html --save r.json
  gpt-oss-executor eval --corpus a.jsonl --variant r=my-rules --baseline r.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(x.corpora) == 0 || len(x.variants) == 0 {
				return manual.Misused(c, errors.New("name at least one --corpus FILE and one --variant NAME=DIR"))
			}
			variants, world, err := x.load(c)
			if err != nil {
				return err
			}
			return x.run(variants, world)
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

// evaluated is one line, read.
type evaluated struct {
	row  eval.Row
	sums []*eval.Sum
	err  error
}

func (x *evaluating) run(variants []eval.Variant, world guard.World) error {
	report := eval.NewReport(variants)
	for _, name := range x.corpora {
		if err := x.corpus(name, variants, world, report); err != nil {
			return err
		}
	}
	report.Finish()
	if report.Cases == 0 {
		return errors.New("eval: there is no reply to read")
	}
	p := x.env.paper(true)
	for _, to := range []struct {
		file  string
		write func(io.Writer) error
	}{{x.html, report.HTML}, {x.junit, report.JUnit}, {x.saveTo, func(w io.Writer) error { return (Env{Out: w, Environ: x.env.Environ}).paper(true).whole(report, nil) }}} {
		if to.file == "" {
			continue
		}
		var out strings.Builder
		if err := to.write(&out); err != nil {
			return fmt.Errorf("write %s: %w", to.file, err)
		}
		if err := atomicfile.Write(to.file, []byte(out.String()), 0o644); err != nil {
			return err
		}
	}
	if x.json {
		if err := p.whole(report, nil); err != nil {
			return err
		}
	} else if err := report.Write(x.env.Out); err != nil {
		return err
	}
	return x.verdict(report)
}

// corpus reads the replies of one file.
func (x *evaluating) corpus(name string, variants []eval.Variant, world guard.World, report *eval.Report) error {
	in, err := openInput([]string{name}, x.env)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := jsonlines.Reader{In: in}
	jsonlines.InOrder(lines.All(), func(l jsonlines.Line) (e evaluated) {
		c, err := eval.Parse(l.Text, fmt.Sprintf("%s:%d", name, l.N))
		if err != nil {
			return evaluated{err: err}
		}
		e.row, e.sums, e.err = eval.Run(&c, variants, world)
		return e
	}, func(e evaluated) {
		if e.err != nil {
			x.broken++
			fmt.Fprintln(x.env.Err, e.err)
			return
		}
		report.Add(e.row, e.sums)
	})
	return lines.Err
}

// verdict is the error that the exit code stands for.
func (x *evaluating) verdict(report *eval.Report) error {
	if x.broken > 0 {
		return fmt.Errorf("%d lines could not be read", x.broken)
	}
	if x.baseline == "" {
		return nil
	}
	doc, err := os.ReadFile(x.baseline)
	if err != nil {
		return err
	}
	before, err := eval.Baseline(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", x.baseline, err)
	}
	worse := report.Regressions(before)
	for _, line := range worse {
		fmt.Fprintln(x.env.Err, "was right, is wrong: "+line)
	}
	if len(worse) > 0 {
		return errSaid
	}
	return nil
}
