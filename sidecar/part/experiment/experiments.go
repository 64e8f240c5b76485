package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// experimenting holds the flags of one experiments command.
type experimenting struct {
	admin, rules, policy string
	states               []string
	stop                 bool
	why, by              string // of stop
	json                 bool
	env                  cli.Env
}

func experimentsCommand(env cli.Env) *cobra.Command {
	x := experimenting{env: env}
	c := &cobra.Command{
		Use:  "experiments",
		Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return x.show(c, "") },
	}
	f := c.PersistentFlags()
	f.StringVar(&x.admin, "admin", "", "`HOST:PORT` of the server's admin API (also "+config.Prefix+"ADMIN)")
	f.StringVar(&x.rules, "rules", "", "`DIR` of the rules, without --admin")
	f.StringArrayVar(&x.states, "state", nil,
		"state folder `DIR` of a server, without --admin; may be given several times")
	f.BoolVar(&x.json, "json", false, "write JSON: {\"experiments\": […]}")
	show := &cobra.Command{
		Use: "show NAME", Args: cli.Arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return x.show(c, args[0]) },
	}
	end := &cobra.Command{
		Use:  "stop NAME",
		Args: cli.Arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			x.stop = true
			return x.show(c, args[0])
		},
	}
	end.Flags().StringVar(&x.why, "why", "an operator has stopped it", "`TEXT` that tells others why")
	end.Flags().StringVar(&x.by, "by", "", "`NAME` of who does it, for the log (without it: $USER)")
	promote := &cobra.Command{
		Use:  "promote NAME ARM",
		Args: cli.Arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) error { return x.promote(c, args[0], args[1]) },
	}
	for _, shows := range []*cobra.Command{c, show} {
		cli.Modes(shows, "admin: json", ": rules state json")
	}
	cli.Modes(end, "admin: json by why", ": json by why rules state")
	cli.Modes(promote, "admin: rules", ": rules")
	c.AddCommand(show, end, promote)
	return c
}

// show prints all experiments, or one, which it first stops if stop is set.
func (x *experimenting) show(c *cobra.Command, name string) error {
	list, err := x.reports(c, name)
	if err != nil {
		return err
	}
	if name != "" {
		i := slices.IndexFunc(list, func(r Report) bool { return r.ID == name })
		if i < 0 {
			return unknown(name, list)
		}
		list = list[i : i+1]
	}
	if x.json {
		return x.env.Printer(true).Document(map[string]any{"experiments": list}, nil)
	}
	return writeReports(x.env.Out, list, name != "", time.Now())
}

// unknown returns the error of an unknown experiment.
func unknown(name string, list []Report) error {
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return fmt.Errorf("there is no experiment %s, and no other; is --rules or --admin missing?", name)
	}
	return fmt.Errorf("there is no experiment %s; %s", name, rulefile.DidYouMean(name, ids))
}

func (x *experimenting) reports(c *cobra.Command, name string) ([]Report, error) {
	client, err := cli.AdminFrom(x.admin, c, x.env)
	if err != nil {
		return nil, err
	}
	if client != nil {
		defer client.Close()
		if !x.stop {
			all, err := asked(c.Context(), client)
			return all.Experiments, err
		}
		user, _ := x.env.Lookup("USER")
		all, err := stopped(c.Context(), client, name, cmp.Or(x.by, user), x.why)
		return all.Experiments, err
	}
	if x.stop {
		return nil, errors.New("only a running server can stop an experiment: name its admin API with --admin, or write status: stopped in experiments.yaml")
	}
	set, err := cli.LoadRules(x.rules, x.policy, x.env)
	if err != nil {
		return nil, err
	}
	files, err := readFolders(x.states)
	if err != nil {
		return nil, err
	}
	return readReports(set, x.env.Err, files...)
}

// promote publishes the files in which the arm is the rule.
func (x *experimenting) promote(c *cobra.Command, name, arm string) error {
	a := cli.NewRollout(x.env)
	a.Target, a.Policy, a.By = x.rules, x.policy, live.ByPromote
	var err error
	if a.Admin, err = cli.AdminFrom(x.admin, c, x.env); err != nil {
		return err
	}
	if a.Admin != nil {
		defer a.Admin.Close()
		now, err := a.Admin.Rules(c.Context())
		if err != nil {
			return err
		}
		if err := a.FindTarget(now); err != nil {
			return err
		}
	}
	if a.Target == "" {
		return errors.New("which rules? Name the server with --admin, or the folder of its rules with --rules")
	}
	builtin, err := rulefile.Builtin(x.env.Defaults)
	if err != nil {
		return err
	}
	files, err := x.env.Loader().Source(a.Target, x.policy, builtin).Read()
	if err != nil {
		return err
	}
	own, err := promotion(name, arm)(x.env.Loader(), files)
	if err != nil {
		return err
	}
	if a.From, err = os.MkdirTemp("", "promote-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(a.From) }()
	if _, err := live.ReplaceFiles(a.From, own, ""); err != nil {
		return err
	}
	ctx, stop := cli.UntilStopped(c)
	defer stop()
	if err := a.Run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(x.env.Out, "%s of %s is now the rule for all; to take it back: gpt-oss-executor apply --undo\n",
		arm, name)
	return nil
}

// asked returns the reports of a server.
func asked(ctx context.Context, c *admin.Client) (all Experiments, err error) {
	return all, c.Ask(ctx, http.MethodGet, "/experiments", nil, &all)
}

// stopped ends an experiment in the name of by, and returns the reports of the server.
func stopped(ctx context.Context, c *admin.Client, id, by, why string) (all Experiments, err error) {
	body, err := json.Marshal(map[string]string{"why": why, "by": by})
	if err != nil {
		return all, err
	}
	return all, c.Ask(ctx, http.MethodPost, "/experiments/"+url.PathEscape(id)+"/stop", body, &all)
}

// promotion returns the files of a folder in which an arm is the rule and the experiment is stopped. The
// settings of the arm go to extra/FILE.EXPERIMENT.yaml, or to an extra file that already sets them. The
// error names what is missing, or is Problems.
func promotion(id, arm string) live.Promotion {
	return func(loader ruleset.Loader, files rulefile.Files) (rulefile.Files, error) {
		texts, err := loader.Over(files, func(s *ruleset.Set) (*ruleset.Overlay, error) {
			_, found, err := Of(s).Find(id, arm)
			if err != nil {
				return nil, err
			}
			return &found.Overlay, nil
		})
		if err != nil {
			return nil, err
		}
		texts[rulesName] = fmt.Sprintf("version: 1\nexperiments:\n  - id: %s\n    status: stopped\n", id)
		out := files.Own()
		for name, text := range texts {
			if err := promote(out, name, text, id, arm); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// promote adds the settings of an arm for one file to the files of a folder. Two extra files cannot set
// different values, so an extra file with another value is changed.
func promote(own rulefile.Files, name, text, id, arm string) (err error) {
	for _, extra := range slices.Sorted(maps.Keys(own)) {
		if text == "" || rulefile.ExtraOf(extra) != name {
			continue
		}
		if own[extra], text, err = rulefile.Amend(own[extra], text); err != nil {
			return fmt.Errorf("read %s: %w", extra, err)
		}
	}
	if text == "" {
		return nil
	}
	stem := rulefile.ExtraFolder + "/" + strings.TrimSuffix(name, ".yaml") + "." + id
	file := stem + ".yaml"
	for n := 2; own.Has(file); n++ { // earlier promotions stay
		file = fmt.Sprintf("%s-%d.yaml", stem, n)
	}
	own[file] = fmt.Sprintf("# The arm %s of the experiment %s.\n%s", arm, id, text)
	return nil
}
