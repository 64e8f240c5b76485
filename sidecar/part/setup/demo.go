package setup

import (
	"bufio"
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
)

func demoCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:  "demo",
		Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			return demoOfCopy(ctx, env)
		},
	}
}

// demoOfCopy runs the demo on a temporary copy of the built-in rules.
func demoOfCopy(ctx context.Context, env cli.Env) (err error) {
	all, err := os.MkdirTemp("", "gpt-oss-executor-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(all)) }()
	dir, work := filepath.Join(all, "rules"), filepath.Join(all, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if _, err := cli.WriteRules(dir, env, true); err != nil {
		return err
	}
	var look stay // a person at a terminal may look at the console
	if terminal.Is(env.In) && terminal.Is(env.Stdout()) {
		look = func(ctx context.Context, console string) { waitForViewer(ctx, console, env) }
	}
	ok, err := runDemo(ctx, demoConfig{Dir: dir, Work: work, Out: env.Out, Stay: look,
		Colours: terminal.ColoursOf(env.Stdout(), env.Lookup),
		Serve: func(ctx context.Context, upstream string, log io.Writer) error {
			s := env.DefaultSettings()
			config.Of[confine.Settings](&s).Confine = confine.Off // the demo runs no command
			s.Workspace, config.Of[run.Settings](&s).WorkspaceTools = work, "on"
			s.Listen, s.Upstream, s.Rules, s.LogFormat = "127.0.0.1:0", upstream, dir, "json"
			if look != nil {
				s.Admin = "127.0.0.1:0"
			}
			quiet := env
			quiet.In, quiet.Out, quiet.Err = nil, nil, log
			return cli.Serve(ctx, s, quiet, nil)
		},
	})
	if err == nil && !ok {
		err = cli.ErrReported
	}
	return err
}

// waitForViewer prints the address of the console, and waits for a key.
func waitForViewer(ctx context.Context, console string, env cli.Env) {
	fmt.Fprintf(env.Out, "\nThese turns are in the console: %s\nPress Enter when you have seen it. ", console)
	pressed := make(chan struct{})
	go func() { // it ends with the program if no key is pressed
		_, _ = bufio.NewReader(env.In).ReadByte()
		close(pressed)
	}()
	select {
	case <-pressed:
	case <-ctx.Done():
	}
}
