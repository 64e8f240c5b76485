package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/manual"
	"github.com/jgavinray/gpt-oss-executor/sidecar/neighbour"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openclaw"
)

func openclawCommand(env Env) *cobra.Command {
	n := neighbour.Neighbour{Settings: defaultSettings(), Environ: env.Environ, Out: env.Out, Err: env.Err, Colours: terminal.ColoursOf(env.stdout(), env.lookup)}
	var dir, server, write, check, undo string
	var asJSON bool
	c := &cobra.Command{
		Use:   "openclaw",
		Short: "Print, write or check the settings of a gateway, in openclaw.json",
		Long: `Print the settings for openclaw.json. Or write them into it, say what in it will hurt, or
put it back. Writing shows what changes, with secrets masked, and keeps the old file beside the
new one. Comments stay, and all other settings; what is stricter than ours stays, too.

The context window is the one that your model server was started with, not what the model could
do. The server is asked for it, unless --context-window gives it.

Run it on the gateway's machine, as its user. If the gateway reaches the sidecar at 127.0.0.1
and the kernel can confine commands, that is noted: serve confines them from its next start
on, if it runs here as this user. confine --probe says what this machine enforces.`,
		Example: `  gpt-oss-executor openclaw --write ~/.openclaw/openclaw.json --local-service
  gpt-oss-executor openclaw --check ~/.openclaw/openclaw.json
  gpt-oss-executor openclaw --url http://gpu.lan:8001/v1 --key "$TOKEN"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var empty string // mostly a variable that nobody has set
			c.Flags().Visit(func(f *pflag.Flag) {
				if f.Value.String() == "" {
					empty = f.Name
				}
			})
			switch {
			case empty != "":
				return manual.Misused(c, fmt.Errorf("--%s is empty; is a variable not set?", empty))
			case n.Window < 1 || n.Tokens < 0 || n.Tokens == 0 && c.Flags().Changed("max-tokens"):
				return manual.Misused(c, errors.New("--context-window and --max-tokens take a number of tokens, 1 or more"))
			case !openclaw.KnownAPI(n.API):
				return manual.Misused(c, fmt.Errorf("--api takes chat or responses, not %q", n.API))
			case n.Idle < 0 || n.Idle > 0 && !n.Start:
				return manual.Misused(c, errors.New("--idle-stop takes a time, such as 30m, and goes with --local-service"))
			case undo != "":
				return n.Undo(undo)
			}
			if err := learn(c.Context(), &n, dir, server, !c.Flags().Changed("context-window"), env); err != nil {
				return err
			}
			if write != "" {
				return n.Write(c.Context(), write)
			}
			if check == "" {
				return n.Print()
			}
			works, err := n.Check(check, asJSON)
			if err == nil && !works {
				err = errSaid
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&write, "write", "", "merge the settings into `FILE`, the openclaw.json of the gateway")
	f.StringVar(&check, "check", "", "say what in `FILE` will hurt, and how to mend it")
	f.StringVar(&undo, "undo", "", "put the newest backup of `FILE` back")
	f.BoolVar(&n.Start, "local-service", false, "let the gateway start, watch and stop the sidecar")
	f.DurationVar(&n.Idle, "idle-stop", 0, "with --local-service: `TIME` without a request after which it is stopped; 0: never")
	f.StringVar(&n.URL, "url", "", "base `URL` under which OpenClaw reaches the sidecar (without it: by "+config.Prefix+"LISTEN, or else http://127.0.0.1:8001/v1)")
	f.StringVar(&n.Key, "key", "", "bearer `TOKEN`, if the sidecar has one (GPTOSS_EXECUTOR_TOKEN)")
	f.StringVar(&n.API, "api", "", "the `API` that OpenClaw speaks to the sidecar: responses, or chat (chat completions); without it: as in FILE, or else responses")
	f.StringSliceVar(&n.Named, "models", nil, "`IDS` of the models to be named, the default first (without it: all that answer in place of a model)")
	f.BoolVar(&n.Executor, "executor", false, "name the models that run tools of their own, too: for a serve with --workspace-tools or --gateway")
	f.StringVar(&server, "upstream", "", "base `URL` of the model server; if left out, it is that of serve")
	f.IntVar(&n.Window, "context-window", 131072, "context window of the model server, in `TOKENS`, in place of the one that it tells")
	f.IntVar(&n.Tokens, "max-tokens", 0, "the most `TOKENS` that a reply may have (without it: as in FILE, or else 8192)")
	rulesFlag(c, env, &dir)
	jsonFlag(c, &asJSON, "what --check finds, one thing a line")
	const named = " local-service idle-stop url key api models executor upstream context-window max-tokens rules"
	manual.Modes(c, "write:"+named, "check: json"+named, "undo:", ":"+named)
	return c
}

// learn finds out what the flags leave open.
func learn(ctx context.Context, n *neighbour.Neighbour, dir, server string, askWindow bool, env Env) error {
	set, err := loadRules(dir, "", env)
	if err != nil {
		return err
	}
	if err := n.Settings.Override(env.Environ); err != nil {
		return err
	}
	_, n.Told = env.lookup(config.Prefix + "UPSTREAM")
	if server != "" {
		n.Settings.Upstream, n.Told = server, true
	}
	n.AskWindow = askWindow
	return n.Learn(ctx, set)
}
