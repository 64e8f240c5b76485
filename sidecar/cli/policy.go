package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func policyCommand(env Env) *cobra.Command {
	c := &cobra.Command{Use: "policy"}
	c.AddCommand(policyCheckCommand(env), policyExplainCommand(env), policyProfileCommand(env),
		policyProgramCommand(env))
	return c
}

// policyCheck holds the flags of policy check.
type policyCheck struct {
	dir, locked string
	lines, json bool
	command     string
	path, op    string
	url, method string
	tool, args  string
	cwd, home   string
	alone       bool // no person can answer
	confined    bool
	client      string
}

func policyCheckCommand(env Env) *cobra.Command {
	var a policyCheck
	c := &cobra.Command{
		Use:  "check [FILE]",
		Args: Arguments(0, 1),
		RunE: func(c *cobra.Command, files []string) error {
			set, err := LoadRules(a.dir, a.locked, env)
			if err != nil {
				return err
			}
			if a.lines {
				return a.checkLines(c, set, files, env)
			}
			if len(files) > 0 {
				return fmt.Errorf("%q is not a flag: a command goes with --command, a path with --path; a file of questions goes with --jsonl", files[0])
			}
			return a.checkOne(c, set, env)
		},
	}
	a.flags(c, env)
	Modes(c, "jsonl: op method cwd home alone client confined rules policy",
		"command: tool cwd home alone client confined json rules policy",
		"path: op tool cwd home alone client json rules policy",
		"url: method tool alone client json rules policy",
		"arguments: tool cwd home alone client confined json rules policy",
		"tool: command path url arguments op method cwd home alone client confined json rules policy",
		": json cwd home alone client rules policy")
	c.Flags().BoolVar(&a.lines, "jsonl", false,
		"read one question on each line, write one answer on each line")
	JSONFlag(c, &a.json, "one document with all facts")
	return c
}

// flags adds the flags that describe one call.
func (a *policyCheck) flags(c *cobra.Command, env Env) {
	f := c.Flags()
	f.StringVar(&a.command, "command", "", "a shell `LINE`")
	f.StringVar(&a.path, "path", "", "a `PATH`")
	f.StringVar(&a.op, "op", "read", "what happens to the path: `OP` read, write or delete")
	f.StringVar(&a.url, "url", "", "an address, a `URL`")
	f.StringVar(&a.method, "method", "GET", "HTTP `METHOD` for the address")
	f.StringVar(&a.tool, "tool", "", "the name of a `TOOL`")
	f.StringVar(&a.args, "arguments", "", "its arguments, an object in `JSON`")
	f.StringVar(&a.cwd, "cwd", "", "the working folder `DIR` (without it: that of paths.yaml)")
	f.StringVar(&a.home, "home", "", "the home folder `DIR` (without it: that of paths.yaml)")
	f.BoolVar(&a.alone, "alone", false, "no person can answer, so ask becomes deny")
	f.BoolVar(&a.confined, "confined", false, "the kernel confines the command when it runs")
	f.StringVar(&a.client, "client", "",
		"the agent that would run it, by its `NAME` in rules/agents (without it: openclaw)")
	PolicyFlag(c, env, &a.locked)
	RulesFlag(c, env, &a.dir)
}

func (a *policyCheck) world(env Env) guard.World { return env.World(a.locked, a.dir) }

// question builds the question of the flags.
func (a *policyCheck) question(c *cobra.Command) *guard.Question {
	interactive := !a.alone
	q := &guard.Question{Tool: a.tool, Op: paths.Op(a.op), Method: a.method, Cwd: a.cwd, Home: a.home,
		Interactive: &interactive, Confined: a.confined, Client: a.client}
	for flag, to := range map[string]**string{"command": &q.Command, "path": &q.Path, "url": &q.URL} {
		if c.Flags().Changed(flag) {
			value := c.Flags().Lookup(flag).Value.String()
			*to = &value
		}
	}
	if a.args != "" {
		q.Arguments = json.RawMessage(a.args)
	}
	return q
}

// Exit codes of policy check.
const (
	exitAsk  = 3
	exitDeny = 4
)

func (a *policyCheck) checkOne(c *cobra.Command, set *ruleset.Set, env Env) error {
	if !slices.ContainsFunc([]string{"command", "path", "url", "tool"}, c.Flags().Changed) {
		return errors.New("there is no question: give --command, --path, --url, or --tool with --arguments")
	}
	r, err := a.world(env).Answer(set, a.question(c))
	if err != nil {
		return err
	}
	switch err := env.Printer(a.json).Document(r, rulingRows(r)); {
	case err != nil:
		return err
	case r.Effect == policy.Ask:
		return Exit(exitAsk)
	case r.Effect == policy.Deny:
		return Exit(exitDeny)
	}
	return nil
}

// rulingRows describes a ruling: the effect, then its reasons on a line each.
func rulingRows(r *guard.Ruling) []Row {
	var out Rows
	effect := string(r.Effect)
	if r.Rule != "" {
		effect += "  rule " + r.Rule + ", " + r.Place
	}
	out.Say("%s", effect)
	if r.Message != "" {
		out.Say("%s", r.Message)
	}
	for _, f := range r.Audits {
		out.dryRun(0, f)
	}
	return out.List
}

// dryRun adds what a rule in a dry run would do.
func (r *Rows) dryRun(level int, f policy.Finding) {
	says := "would be denied"
	if f.Effect == policy.Ask {
		says = "would be asked about"
	}
	r.Add(level, Red, f.Place, "%s: %s (rule %s)", says, Clipped(f.Why), cmp.Or(f.Rule, "default"))
}

// checkLines answers each question on its own line; a bad one does not stop the rest.
func (a *policyCheck) checkLines(c *cobra.Command, set *ruleset.Set, files []string, env Env) error {
	world, stated := a.world(env), a.question(c)
	return answerLines(files, env, func(l jsontext.Line) (any, json.RawMessage, error) {
		q := *stated
		if err := jsontext.Error(json.Unmarshal(l.Text, &q)); err != nil {
			return nil, q.ID, err
		}
		r, err := world.Answer(set, &q)
		return r, q.ID, err
	})
}
