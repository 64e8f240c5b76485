package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// runsCLI is the command runs.
type runsCLI struct {
	state string
	json  bool
	env   cli.Env
}

func newRunsCommand(env cli.Env) *cobra.Command {
	k := runsCLI{env: env}
	c := &cobra.Command{Use: "runs"}
	state, _ := env.Lookup(config.Prefix + "STATE")
	c.PersistentFlags().StringVar(&k.state, "state", state, "state folder `DIR` of the server")
	c.AddCommand(k.listCommand(), k.showCommand(), k.resumeCommand(), k.replayCommand())
	return c
}

// open opens the journal in the state folder.
func (k *runsCLI) open() (*Journal, error) {
	if k.state == "" {
		return nil, errors.New("runs: no folder; give --state DIR, or set " + config.Prefix + "STATE")
	}
	dir := filepath.Join(k.state, Folder)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("runs: %s: there is no such folder: no run was kept here", dir)
	}
	return OpenJournal(JournalConfig{Dir: dir, Now: time.Now})
}

func (k *runsCLI) listCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Args: cli.Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return k.list() },
	}
	cli.JSONFlag(c, &k.json, "a line each")
	return c
}

func (k *runsCLI) list() error {
	j, err := k.open()
	if err != nil {
		return err
	}
	p, n, damaged := k.env.Printer(k.json), 0, 0
	err = j.List(func(s Summary, broken error) bool {
		if broken != nil {
			damaged++
			fmt.Fprintln(k.env.Err, broken)
			return true
		}
		n++
		p.Item(s, summaryRows(&s))
		return p.Err == nil
	})
	if err == nil && n == 0 && !k.json {
		p.Rows([]cli.Row{{Text: "no run was kept in " + filepath.Join(k.state, Folder)}})
	}
	if err = errors.Join(err, p.Flush()); err == nil && damaged > 0 {
		err = fmt.Errorf("%s cannot be read", terminal.Count(damaged, "run"))
	}
	return err
}

func summaryRows(s *Summary) []cli.Row {
	var r cli.Rows
	doubt := ""
	if s.Doubt > 0 {
		doubt = "  (" + terminal.Count(s.Doubt, "call") + " in doubt)"
	}
	r.Add(0, statusInk(s.Status), "", "%s  %-10s  %2d turns  %3d calls  %s  %6.1fs  %s%s", s.ID, s.Status,
		s.Turns, s.Calls,
		s.Started.Local().Format(time.DateTime), s.Seconds, s.Model, doubt)
	return r.List
}

func statusInk(status string) cli.Ink {
	switch status {
	case Answered:
		return cli.Green
	case Failed:
		return cli.Red
	}
	return cli.Plain
}

func (k *runsCLI) subcommand(use string, do func(*Past) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " ID", Args: cli.Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			j, err := k.open()
			if err != nil {
				return err
			}
			p, err := j.Load(args[0])
			if errors.Is(err, ErrUnknownRun) {
				return fmt.Errorf("runs: %s: %w; list them with: gpt-oss-executor runs list", args[0], err)
			} else if err != nil {
				return err
			}
			return do(p)
		},
	}
}

func (k *runsCLI) showCommand() *cobra.Command {
	c := k.subcommand("show", k.show)
	cli.JSONFlag(c, &k.json, "a record on each line")
	return c
}

func (k *runsCLI) show(past *Past) error {
	p := k.env.Printer(k.json)
	s := past.Summary()
	p.Item(JournalRecord{Time: past.Started, Begin: &past.BeginRecord}, summaryRows(&s))
	for i := range past.Records {
		p.Item(past.Records[i], recordRows(&past.Records[i]))
	}
	if past.Torn > 0 && !k.json {
		p.Rows([]cli.Row{{Text: fmt.Sprintf("%d bytes at the end are no record: a crash has left them",
			past.Torn)}})
	}
	return p.Flush()
}

func recordRows(rec *JournalRecord) []cli.Row {
	var r cli.Rows
	at := rec.Time.Local().Format(time.TimeOnly)
	switch {
	case rec.Turn != nil:
		r.Add(0, cli.Bold, "", "%s  turn %d  %d + %d tokens", at, rec.Turn.N, rec.Turn.Prompt,
			rec.Turn.Answer)
		for _, c := range rec.Turn.Calls {
			r.Add(1, cli.Plain, "", "calls %s %s", c.Tool, cli.Clipped(c.Arguments))
		}
		if rec.Turn.Content != "" {
			r.Add(1, cli.Plain, "", "says %s", cli.Clipped(rec.Turn.Content))
		}
	case rec.Call != nil:
		r.Add(1, cli.Plain, "", "%s  runs %s", at, rec.Call.Does)
	case rec.Result != nil:
		how, in := "ok", cli.Green
		switch {
		case rec.Result.Refused:
			how, in = "refused", cli.Red
		case rec.Result.Doubt:
			how, in = "in doubt", cli.Red
		case rec.Result.Failed:
			how, in = "failed", cli.Red
		}
		r.Add(1, in, "", "%s  %s in %d ms: %s", at, how, rec.Result.Took, cli.Clipped(rec.Result.Text))
	case rec.Resume != nil:
		r.Add(0, cli.Bold, "", "%s  another process goes on with it%s; %s in doubt", at,
			resumedBy(rec.Resume.By),
			terminal.Count(len(rec.Resume.Doubt), "call"))
	case rec.End != nil:
		r.Add(0, statusInk(rec.End.Status), "", "%s  %s: %s", at, rec.End.Status, cli.Clipped(rec.End.Text))
	}
	return r.List
}

// resumedBy names the person who resumed a run, if there is one.
func resumedBy(by string) string {
	if by == "" {
		return ""
	}
	return ", as " + cli.Clipped(by) + " wanted"
}

func (k *runsCLI) replayCommand() *cobra.Command {
	var rules, locked string
	c := k.subcommand("replay",
		func(p *Past) error {
			set, err := cli.LoadRules(rules, locked, k.env)
			if err != nil {
				return err
			}
			return k.replay(p, set, k.env.World(rules, locked, k.state))
		})
	cli.RulesFlag(c, k.env, &rules)
	cli.PolicyFlag(c, k.env, &locked)
	cli.JSONFlag(c, &k.json, "a line each")
	return c
}

type replayedCall struct {
	ID     string        `json:"id"`
	Tool   string        `json:"tool"`
	Ran    bool          `json:"ran"`
	Effect policy.Effect `json:"effect"`
	Rule   string        `json:"rule,omitempty"`
	Why    string        `json:"why,omitempty"`
	args   string
}

func (k *runsCLI) replay(past *Past, set *ruleset.Set, in guard.World) error {
	ran := map[string]bool{}
	for _, rec := range past.Records {
		if rec.Call != nil {
			ran[rec.Call.ID] = true
		}
	}
	who := policy.Subject{Model: past.Model, Agent: past.Agent, Session: past.Session, Channel: past.Channel,
		Interactive: true}
	p, differs := k.env.Printer(k.json), 0
	for _, rec := range past.Records {
		if rec.Turn == nil {
			continue
		}
		for _, c := range rec.Turn.Calls {
			d := in.Decide(set, tools.Call{Name: c.Tool, Arguments: []byte(c.Arguments), Strategy: "native",
				Confidence: 1}, who, guard.Moment{Now: rec.Time})
			a := replayedCall{ID: c.ID, Tool: c.Tool, Ran: ran[c.ID], Effect: d.Effect, Rule: d.Rule,
				Why: d.Why, args: c.Arguments}
			if a.Ran != (d.Effect == policy.Allow || d.Effect == policy.Audit) {
				differs++
			}
			p.Item(a, replayRows(&a))
		}
	}
	err := p.Flush()
	if err == nil && differs > 0 {
		err = cli.ErrReported
	}
	return err
}

func replayRows(a *replayedCall) []cli.Row {
	was := "refused"
	if a.Ran {
		was = "ran"
	}
	var r cli.Rows
	r.Add(0, cli.EffectInk(a.Effect), "", "%-7s → %-5s  %-10s  %s  %s", was, a.Effect, a.Tool,
		cli.MainArgument([]byte(a.args)), a.Rule)
	return r.List
}

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
