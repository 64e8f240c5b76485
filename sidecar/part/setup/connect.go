package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// theGateway is the agent whose settings need code.
const theGateway = "openclaw"

// usualPlace is the value of --write, --check and --undo without a file: the agent's default config.
const usualPlace = "usual"

// gatewayFlags lists the flags for OpenClaw alone.
var gatewayFlags = []string{"check", "json", "local-service", "idle-stop", "api"}

// connectCommand returns the command connect, or its form for one agent.
func connectCommand(env cli.Env, agent string) *cobra.Command {
	n := Connector{Settings: env.DefaultSettings(), Environ: env.Environ, Out: env.Out, Err: env.Err,
		Colours: terminal.ColoursOf(env.Stdout(), env.Lookup)}
	var dir, server, write, check, undo string
	var asJSON bool
	c := &cobra.Command{Use: cmp.Or(agent, "connect AGENT"), Args: cli.Arguments(0, 2)}
	c.RunE = func(c *cobra.Command, args []string) error {
		name := agent
		if agent == "" && len(args) > 0 {
			name, args = args[0], args[1:]
		}
		if err := takeFile(c, args, &write, &check, &undo); err != nil {
			return cli.Misused(c, err)
		}
		switch {
		case n.Window < 1 || n.Tokens < 0 || n.Tokens == 0 && c.Flags().Changed("max-tokens"):
			return cli.Misused(c, errors.New("--context-window and --max-tokens take a number of tokens, 1 or more"))
		case !openclaw.KnownAPI(n.API):
			return cli.Misused(c, fmt.Errorf("--api takes chat or responses, not %q", n.API))
		case n.Executor && len(n.Named) > 0:
			return cli.Misused(c, errors.New("--executor has no effect with --models; leave one of them out"))
		case n.Idle < 0 || n.Idle > 0 && !n.Start:
			return cli.Misused(c, errors.New("--idle-stop takes a time, such as 30m, and goes with --local-service"))
		}
		n.Writes = write != ""
		gateway := name == theGateway
		if gateway && undo != "" {
			return n.Undo(pathOf(undo))
		}
		set, err := cli.LoadRules(dir, "", env)
		if err != nil {
			return err
		}
		var a Agent
		if !gateway {
			if a, err = agentOf(c, name, set); err != nil {
				return err
			}
			n.Agent = name
		}
		if undo != "" {
			return n.UndoAgent(a, pathOf(undo))
		}
		if file := cmp.Or(write, check); gateway && file != "" { // before a token is made in vain
			if _, err := ReadOpenClaw(n.config(pathOf(file))); err != nil {
				return err
			}
		}
		askWindow := !c.Flags().Changed("context-window")
		if err := learnSettings(c.Context(), &n, set, server, askWindow, env); err != nil {
			return err
		}
		switch {
		case !gateway && write != "":
			return n.WriteAgent(a, pathOf(write))
		case !gateway:
			return n.PrintAgent(a)
		case write != "":
			return n.Write(c.Context(), pathOf(write))
		case check == "":
			return n.Print()
		}
		works, err := n.Check(pathOf(check), asJSON)
		if err == nil && !works {
			err = cli.ErrReported
		}
		return err
	}
	f := c.Flags()
	f.StringVar(&write, "write", "",
		"merge the settings into `FILE`, the config of the agent; usual: where the agent looks for it")
	f.StringVar(&check, "check", "", "openclaw: say what in `FILE` will hurt, and how to mend it")
	f.StringVar(&undo, "undo", "", "put the newest backup of `FILE` back")
	for _, name := range []string{"write", "check", "undo"} {
		f.Lookup(name).NoOptDefVal = usualPlace
	}
	f.BoolVar(&n.Start, "local-service", false, "openclaw: let the gateway start, watch and stop the sidecar")
	f.DurationVar(&n.Idle, "idle-stop", 0,
		"with --local-service: `TIME` without a request after which it is stopped; 0: never")
	f.StringVar(&n.URL, "url", "", "base `URL` under which the agent reaches the sidecar (without it: by "+
		config.Prefix+"LISTEN, or else http://127.0.0.1:8001/v1)")
	f.StringVar(&n.Key, "key", "", "bearer `TOKEN`, if the sidecar has one (GPTOSS_EXECUTOR_TOKEN)")
	f.StringVar(&n.API, "api", "",
		"openclaw: the `API` that it speaks to the sidecar: responses, or chat (chat completions); without it: as in FILE, or else responses")
	f.StringSliceVar(&n.Named, "models", nil,
		"`IDS` of the models to be named, the default first (without it: all that answer in place of a model)")
	f.BoolVar(&n.Executor, "executor", false,
		"name the models that run tools of their own, too: for a serve with --workspace-tools or --gateway")
	f.StringVar(&server, "upstream", "", "base `URL` of the model server; if left out, it is that of serve")
	f.IntVar(&n.Window, "context-window", openclaw.LeastWindow,
		"context window of the model server, in `TOKENS`, in place of the one that it tells")
	f.IntVar(&n.Tokens, "max-tokens", 0,
		"the most `TOKENS` that a reply may have (without it: as in FILE, or else 8192)")
	cli.RulesFlag(c, env, &dir)
	cli.JSONFlag(c, &asJSON, "what --check finds, one thing a line")
	const named = " local-service idle-stop url key api models executor upstream context-window max-tokens rules"
	undoes := "undo: rules" // they name the agents
	if agent == theGateway {
		undoes = "undo:"
	}
	cli.Modes(c, "write:"+named, "check: json"+named, undoes, ":"+named)
	return c
}

// takeFile assigns a file argument to the flag that was given without a value.
func takeFile(c *cobra.Command, args []string, flags ...*string) error {
	var empty string // usually an unset variable
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" || f.NoOptDefVal == usualPlace && slices.Contains(args, "") {
			empty = f.Name
		}
	})
	flags = slices.DeleteFunc(flags, func(f *string) bool { return *f == "" })
	switch {
	case empty != "":
		return fmt.Errorf("--%s is empty; is a variable not set?", empty)
	case len(args) > 1 || len(args) == 1 && (len(flags) == 0 || *flags[0] != usualPlace):
		return fmt.Errorf("%q is one word too much", args[len(args)-1])
	case len(args) == 1:
		*flags[0] = args[0]
	}
	return nil
}

// agentOf returns an agent by name.
func agentOf(c *cobra.Command, name string, set *ruleset.Set) (a Agent, err error) {
	for _, flag := range gatewayFlags {
		if c.Flags().Changed(flag) {
			return a, cli.Misused(c, fmt.Errorf("--%s is for openclaw alone", flag))
		}
	}
	if c.Flags().Changed("upstream") && c.Flags().Changed("context-window") {
		return a, cli.Misused(c, errors.New("--upstream has no effect with --context-window; leave one of them out"))
	}
	known, is := set.Connect[name]
	switch names := append(set.Connect.Names(), theGateway); {
	case is:
		return Agent{Name: name, Here: set.AgentOf(name).Commands == ruleset.Here, Connection: known},
			nil
	case name == "":
		return a, cli.Misused(c, errors.New("which agent? one of: "+strings.Join(names, ", ")))
	default:
		return a, cli.Misused(c, fmt.Errorf("no agent %q is known; %s", name,
			rulefile.DidYouMean(name, names)))
	}
}

// pathOf returns the path in a flag; empty: the agent's default config.
func pathOf(flag string) string {
	if flag == usualPlace {
		return ""
	}
	return flag
}

// learnSettings completes what the flags leave open.
func learnSettings(ctx context.Context, n *Connector, set *ruleset.Set, server string, askWindow bool,
	env cli.Env) error {
	if err := n.Settings.Override(env.Environ); err != nil {
		return err
	}
	_, n.Upstream = env.Lookup(config.Prefix + "UPSTREAM")
	if server != "" {
		n.Settings.Upstream, n.Upstream = server, true
	}
	n.AskWindow = askWindow
	return n.Learn(ctx, set)
}
