package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

func doctorCommand(env cli.Env) *cobra.Command {
	flags := env.DefaultSettings()
	var file, path, url, at string
	var fix, asJSON, health, ready bool
	c := &cobra.Command{
		Use:     "doctor",
		Aliases: []string{"health", "probe"}, // names until December 2027
		Args:    cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			started := env
			if text, err := os.ReadFile(path); err == nil { // mistakes in the file are found below
				started.Environ = append(openclaw.Started(text, env.Lookup), env.Environ...)
			}
			s, err := cli.SettingsOf(c, file, started)
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			s.Listen = cmp.Or(at, s.Listen)
			if health || ready || c.CalledAs() == "health" {
				return checkHealth(ctx, &http.Client{Timeout: 5 * time.Second}, s.Listen, ready)
			}
			p := Patient{Settings: s, Config: path, URL: url, Environ: env.Environ, Progress: env.Err}
			v := cli.Check(s.Rules, s.Policy, false, env)
			p.Rules = RulesFound{Folder: v.Folder, Problems: v.Problems, Err: v.Err}
			if !v.OK {
				s.Rules, s.Policy = "", ""
			}
			if p.Set, err = cli.LoadRules(s.Rules, s.Policy,
				cli.Env{Err: io.Discard, Defaults: env.Defaults, Parts: env.Parts}); err != nil {
				return err
			}
			p.World = service.World(s, s.Rules, s.Policy)
			r := p.Examine(ctx)
			if fix {
				for _, did := range p.Mend(ctx, r) {
					fmt.Fprintln(env.Err, "doctor:", did)
				}
				r = p.Examine(ctx)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("doctor: %w", context.Cause(ctx))
			}
			if err := env.Printer(asJSON).Document(r, doctorRows(r)); err != nil {
				return err
			}
			if r.Fails() {
				return cli.ErrReported
			}
			return nil
		},
	}
	for _, f := range flags.All() {
		if slices.Contains([]string{"upstream", "server", "gateway", "workspace", "state", "decisions",
			"listen"}, f.Flag()) {
			c.Flags().StringVar(f.Text, f.Flag(), *f.Text, "as of serve: `"+f.Is+"`")
		}
	}
	c.Flags().StringVar(&path, "config", "", "look at `FILE`, the openclaw.json of the gateway")
	c.Flags().StringVar(&file, "settings", "", "read the settings from `FILE`, the config file of serve")
	c.Flags().StringVar(&url, "url", "",
		"base `URL` under which the gateway reaches the sidecar (without it: by --listen)")
	c.Flags().BoolVar(&health, "health", false, "ask only whether a server lives")
	c.Flags().BoolVar(&ready, "ready", false, "ask only whether a server would serve a request")
	c.Flags().StringVar(&at, "at", "", "`ADDRESS` at which the server listens, as health had it")
	c.Flag("at").Hidden = true
	c.Flags().BoolVar(&fix, "fix", false, "mend what is ours, and look again")
	cli.RulesFlag(c, env, &flags.Rules)
	cli.PolicyFlag(c, env, &flags.Policy)
	cli.JSONFlag(c, &asJSON, "one document")
	cli.Modes(c, "ready: at health listen settings", "health: at listen ready settings", ": at config decisions fix gateway json listen policy rules server settings state upstream url workspace")
	return c
}

func doctorRows(r *Diagnosis) []cli.Row {
	var out cli.Rows
	for _, check := range r.Checks {
		in := map[openclaw.Status]cli.Ink{openclaw.Fail: cli.Red, openclaw.Warn: cli.Bold}[check.Status]
		out.Add(0, in, "", "%-4s %s: %s", check.Status, check.Name, check.Found)
		if check.Fix != "" {
			out.Add(2, cli.Plain, "", " fix: %s", check.Fix)
		}
	}
	return out.List
}
