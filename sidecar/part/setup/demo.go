package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/demo"
)

func demoCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, without a server and a gateway",
		Long: `See it work, without a model server, a gateway or a key.

The demo starts the real server in front of a scripted model server, on free ports of
this machine. It asks for each reply twice, without the sidecar and with it, and checks
both. A run of executor mode works alone in a folder. Then the demo edits a rule file while
the server runs. All of it takes a few seconds. A
terminal shows colours, unless NO_COLOR is set.

Exit code: 0 everything came out as it should, 1 something did not.`,
		Example: `  gpt-oss-executor demo`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			return runDemo(ctx, env)
		},
	}
}

// runDemo gives the demo with a copy of the built-in rules, and removes it.
func runDemo(ctx context.Context, env cli.Env) (err error) {
	all, err := os.MkdirTemp("", "gpt-oss-executor-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(all)) }()
	dir, work := filepath.Join(all, "rules"), filepath.Join(all, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if _, err := cli.Rules(dir, env, false); err != nil {
		return err
	}
	ok, err := demo.Run(ctx, demo.Config{Dir: dir, Work: work, Out: env.Out,
		Colours: terminal.ColoursOf(env.Stdout(), env.Lookup),
		Serve: func(ctx context.Context, upstream string, log io.Writer) error {
			s := env.DefaultSettings()
			config.Of[confine.Settings](&s).Confine = confine.Off // no call of the demo is a command
			s.Workspace, config.Of[run.Settings](&s).WorkspaceTools = work, "on"
			s.Listen, s.Upstream, s.Rules, s.LogFormat = "127.0.0.1:0", upstream, dir, "json"
			quiet := env
			quiet.In, quiet.Out, quiet.Err = nil, nil, log
			return cli.Serve(ctx, s, quiet, nil)
		},
	})
	if err == nil && !ok {
		err = cli.ErrSaid
	}
	return err
}
