package run

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

func (k *runsCLI) resumeCommand() *cobra.Command {
	flags := k.env.DefaultSettings()
	var config string
	c := &cobra.Command{
		Use: "resume ID", Args: cli.Arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := cli.SettingsOf(c, config, k.env)
			if err != nil {
				return err
			}
			k.state = s.State
			if _, err := k.open(); err != nil {
				return err
			}
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			return k.resume(ctx, s, args[0])
		},
	}
	c.Flags().StringVar(&config, "config", "", "config `FILE` in YAML, as for serve")
	cli.SettingFlags(c, &flags, false)
	cli.JSONFlag(c, &k.json, "one document, in place of the answer")
	return c
}

func (k *runsCLI) resume(ctx context.Context, s config.Settings, id string) error {
	log, err := cli.OpenLog(s, k.env.Stdout(), k.env.Err)
	if err != nil {
		return err
	}
	defer log.Close()
	metrics := telemetry.New()
	rules, err := cli.OpenRules(s, k.env, log, metrics)
	if err != nil {
		return err
	}
	out := &printSink{out: k.env.Out, progress: log.Err}
	if k.json {
		out.out = io.Discard
	}
	err = service.Do(ctx, service.Config{Parts: k.env.Services(), Settings: s, Rules: rules,
		Named:   cli.RulesName(s.Rules),
		Environ: k.env.Environ, Metrics: metrics, Log: log.Logger, Level: log.Level},
		func(ctx context.Context, c *service.Core) error {
			runs, ok := service.Offered[*Executor](c)
			if !ok {
				return errors.New("resume a run: there is no tool that it could call; set --workspace-tools or --gateway, as for the server that began it")
			}
			run, err := runs.Resume(ctx, c.Rules.Set(), id, "")
			if err != nil {
				return err
			}
			return run.Run(ctx, out)
		})
	if err != nil || !k.json {
		return err
	}
	j, err := k.open()
	if err != nil {
		return err
	}
	past, err := j.Load(id)
	if err != nil {
		return err
	}
	answer := ""
	if past.End != nil {
		answer = past.End.Text
	}
	return k.env.Printer(true).Document(struct {
		Summary
		Answer string `json:"answer"`
	}{past.Summary(), answer}, nil)
}

// printSink is a turn.Sink that prints the answer and the progress.
type printSink struct {
	out, progress io.Writer
	failed        error // first error of writing
}

func (p *printSink) Flows() bool                  { return true }
func (p *printSink) Begin(string)                 {}
func (p *printSink) Called(int) []string          { return nil }
func (p *printSink) Sent() bool                   { return false }
func (p *printSink) Say(text string)              { p.print(p.out, text+"\n") }
func (p *printSink) Finish() error                { return p.failed }
func (p *printSink) Fail(err *openai.Error) error { return err }

func (p *printSink) Take(piece *turn.Piece) {
	for _, part := range piece.Parts {
		for _, e := range part.Events {
			switch e.Kind {
			case parse.Text:
				p.print(p.out, e.Text+"\n")
			case parse.Thought:
				p.print(p.progress, e.Text)
			}
		}
	}
}

func (p *printSink) print(to io.Writer, text string) {
	for line := range strings.Lines(text) {
		line, whole := strings.CutSuffix(line, "\n")
		line = terminal.Printable(line)
		if whole {
			line += "\n"
		}
		if _, err := io.WriteString(to, line); err != nil && p.failed == nil {
			p.failed = err
		}
	}
}
