package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// decisionFlags holds the flags of one decisions command.
type decisionFlags struct {
	dir    string
	json   bool
	since  time.Duration
	filter decisions.Filter
	env    Env
}

func decisionsCommand(env Env) *cobra.Command {
	l := decisionFlags{env: env}
	c := &cobra.Command{Use: "decisions"}
	c.PersistentFlags().StringVar(&l.dir, "decisions", "", "folder `DIR` of the log")
	c.AddCommand(l.listCommand(), l.showCommand(), l.verifyCommand(), l.headCommand(), l.replayCommand())
	return c
}

// command returns a subcommand that runs on the folder of a log.
func (l *decisionFlags) command(use string, args cobra.PositionalArgs,
	run func(dir string, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: args,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := l.folder()
			if err != nil {
				return err
			}
			return run(dir, args)
		},
	}
}

// folder returns the folder of the log, by flag or settings.
func (l *decisionFlags) folder() (string, error) {
	dir := l.dir
	if s := l.env.DefaultSettings(); dir == "" {
		if err := s.Override(l.env.Environ); err != nil {
			return "", err
		}
		dir = service.DecisionsIn(s)
	}
	if dir == "" {
		return "", errors.New("decisions: no folder; give --decisions DIR, or set " + config.Prefix +
			"DECISIONS")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("decisions: %s: there is no such folder", dir)
	}
	return dir, nil
}

// filters adds the flags that select decisions.
func (l *decisionFlags) filters(c *cobra.Command) {
	f := c.Flags()
	f.DurationVar(&l.since, "since", 0, "only the last `TIME`, such as 2h or 168h")
	f.StringVar(&l.filter.Effect, "effect", "", "only this `EFFECT`: allow, audit, ask or deny")
	f.StringVar(&l.filter.Rule, "rule", "",
		"only what this `RULE` decided, also in a dry run; default stands for no rule")
	f.StringVar(&l.filter.Tool, "tool", "", "only calls of this `TOOL`")
	f.StringVar(&l.filter.Session, "session", "", "only this `SESSION`")
	f.StringVar(&l.filter.Agent, "agent", "", "only calls of this `AGENT`")
	f.StringSliceVar(&l.filter.Words, "words", nil,
		"only what has all these `WORDS`, with commas between them, in any case")
	JSONFlag(c, &l.json, "a line each")
}

// chosen returns the filter that the flags describe.
func (l *decisionFlags) chosen() (decisions.Filter, error) {
	f := l.filter
	effects := []string{string(policy.Allow), string(policy.Audit), string(policy.Ask), string(policy.Deny)}
	if f.Effect != "" && !slices.Contains(effects, f.Effect) {
		return f, fmt.Errorf("--effect is one of %s, not %q", strings.Join(effects, ", "), f.Effect)
	}
	if l.since > 0 {
		f.Since = time.Now().Add(-l.since)
	}
	return f, nil
}
