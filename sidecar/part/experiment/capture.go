package experiment

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// captured holds the flags of one capture command.
type captured struct {
	state, as, to, rules, policy string
	since                        time.Duration
	filter                       captureFilter
	json                         bool
	env                          cli.Env
}

func captureCommand(env cli.Env) *cobra.Command {
	x := captured{env: env}
	c := &cobra.Command{
		Use: "capture",
	}
	state, _ := env.Lookup(config.Prefix + "STATE")
	c.PersistentFlags().StringVar(&x.state, "state", state, "state folder `DIR` of the server")
	list := &cobra.Command{
		Use: "list", Args: cli.Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return x.list() },
	}
	cli.JSONFlag(list, &x.json, "a record on each line, as eval reads them")
	list.Flags().DurationVar(&x.since, "since", 0, "only the last `TIME`, such as 2h or 168h")
	list.Flags().StringVar(&x.filter.Arm, "arm", "", "only this `EXPERIMENT`, or EXPERIMENT/ARM")
	list.Flags().StringSliceVar(&x.filter.Is, "is", nil, "only what is all of these `WORDS`: "+
		strings.Join(captureMarks(), ", "))
	list.Flags().StringVar(&x.filter.Where, "where", "",
		"only what this `CONDITION` holds for, as capture.when of experiments.yaml has it")
	show := &cobra.Command{
		Use: "show ID", Args: cli.Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return x.show(args[0]) },
	}
	cli.JSONFlag(show, &x.json, "the record")
	promote := &cobra.Command{
		Use:  "promote ID...",
		Args: cli.Arguments(1, math.MaxInt),
		RunE: func(_ *cobra.Command, args []string) error { return x.promote(args) },
	}
	promote.Flags().StringVar(&x.as, "as", "test", "`WHAT` it becomes: test or corpus")
	promote.Flags().StringVar(&x.to, "to", "", "`FILE` of the corpus; it is written to its end")
	cli.RulesFlag(promote, env, &x.rules)
	cli.PolicyFlag(promote, env, &x.policy)
	cli.Modes(promote, "as=corpus: to state", ": as state rules policy to")
	c.AddCommand(list, show, promote)
	return c
}

// folder returns the folder of the segments.
func (x *captured) folder() (string, error) {
	if x.state == "" {
		return "", errors.New("capture: no folder; give --state DIR, or set " + config.Prefix + "STATE")
	}
	dir := filepath.Join(x.state, captureFolder)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("capture: %s: there is no such folder: no reply was recorded here", dir)
	}
	return dir, nil
}

func (x *captured) list() error {
	if x.since > 0 {
		x.filter.Since = time.Now().Add(-x.since)
	}
	dir, err := x.folder()
	takes, wrong := x.filter.Compile()
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	p, all, shown := x.env.Printer(x.json), 0, 0
	damaged, err := ReadCaptures(dir, x.filter.Since, func(r *CaptureRecord) bool {
		yes, err := takes(r)
		if all++; yes {
			shown++
			p.Item(r, []cli.Row{{Text: r.Line()}})
		}
		wrong = err
		return p.Err == nil && err == nil
	})
	if err == nil && shown == 0 && !x.json {
		p.Rows([]cli.Row{{Text: fmt.Sprintf("no reply matches, of %d in %s", all, terminal.Printable(dir))}})
	}
	if damaged > 0 {
		fmt.Fprintf(x.env.Err, "%s skipped, since no record stands there\n", terminal.Count(damaged, "line"))
	}
	return errors.Join(err, wrong, p.Flush())
}

func (x *captured) show(id string) error {
	list, err := x.find(id)
	if err != nil {
		return err
	}
	var out cli.Rows
	for _, f := range list[0].Fields() {
		out.Field(f.Name, cli.Clipped(f.Value), "")
	}
	return x.env.Printer(x.json).Document(list[0], out.List)
}

// find returns the records with these ids.
func (x *captured) find(ids ...string) (list []*CaptureRecord, err error) {
	dir, err := x.folder()
	for i := 0; i < len(ids) && err == nil; i++ {
		var r *CaptureRecord
		r, err = findCapture(dir, ids[i])
		list = append(list, r)
	}
	return list, err
}

func (x *captured) promote(ids []string) error {
	switch {
	case x.as != "test" && x.as != "corpus":
		return fmt.Errorf("--as is test or corpus, not %q", x.as)
	case (x.as == "corpus") != (x.to != ""):
		return errors.New("--as corpus wants --to FILE, and --as test takes --rules DIR in its place")
	}
	list, err := x.find(ids...)
	if err != nil {
		return err
	}
	if x.as == "corpus" {
		n, err := appendCases(x.to, list)
		if err != nil {
			return err
		}
		fmt.Fprintf(x.env.Out, "wrote %d to %s, where %d stood already; look at expect: it says what was read, right or wrong\n", n, x.to, len(list)-n)
		return nil
	}
	src, err := cli.RuleSource(x.rules, x.policy, x.env)
	if err != nil {
		return err
	}
	set, err := cli.LoadFrom(src, x.env)
	if err != nil {
		return err
	}
	var tests []ruleset.Recording
	for _, r := range list {
		t, err := r.Test(set, x.env.World(src.Dir, src.Policy))
		if err != nil {
			return err
		}
		tests = append(tests, t)
	}
	return cli.AddTests(src, x.env, tests...)
}
