// Package cli is the command line: it reads flags, files and the environment, and calls the packages that
// do the work. It also writes the log of a server. It decides nothing about replies.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Env is what the caller of Run provides: streams, environment, built-in files and parts.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // NAME=value
	Defaults fs.FS    // built-in rules/, prompts/ and schemas/
	Parts    []Part   // in the order in which they open
}

// Part adds commands to the command line, and services to a server.
type Part interface {
	service.Part
	Commands(Env) []*cobra.Command
}

// Reader is a part with sections in the rule files.
type Reader interface{ Rules() []ruleset.Section }

// Loader returns a loader of rules that knows the sections of all parts.
func (e Env) Loader() (l ruleset.Loader) {
	for _, p := range e.Parts {
		if r, ok := p.(Reader); ok {
			l.Sections = append(l.Sections, r.Rules()...)
		}
	}
	return l
}

// Stdout is Out without the Writer that Run puts around it: to ask whether it is a terminal, or to hand it
// to a process.
func (e Env) Stdout() io.Writer { return Unwrap(e.Out) }

// Exit is an error that ends the program with this code and without a message.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ErrReported is an error whose message is already on Err.
const ErrReported = Exit(1)

// Run runs one command and returns its exit code: 0 success, 1 failure, 2 wrong usage; policy check has
// more.
func Run(args []string, env Env) int {
	out := &Writer{To: env.Out}
	env.Out = out
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetFlagErrorFunc(WrongFlag(args))
	err := cmp.Or(root.Execute(), out.Err)
	var code Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	errs := NewQueue(env.Err, func(int) {}) // the process must end even if nothing reads the error
	fmt.Fprintln(errs, "gpt-oss-executor:", err)
	_ = errs.Close()
	if errors.As(err, new(Misuse)) {
		return 2
	}
	return 1
}

// rootCommand builds the command tree.
func rootCommand(env Env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use: "gpt-oss-executor",
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				_, policy := env.ruleSettings()
				return printVersion(env, policy)
			}
			return c.Help()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), Page(c)) })
	root.Flags().BoolVar(&version, "version", false, "do what the command version does")
	root.AddCommand(serveCommand(env), explainCommand(env), policyCommand(env),
		rulesCommand(env), checkCommand(env), fmtCommand(env), testCommand(env), initCommand(env),
		applyCommand(env), approvalsCommand(env), decisionsCommand(env), schemasCommand(env),
		varsCommand(env), versionCommand(env), CompletionCommand(), ManCommand())
	help := HelpCommand()
	root.AddCommand(help)
	Describe(strings.ReplaceAll(helpText, "{which rules}", whichRules), root)
	for _, p := range env.Parts {
		root.AddCommand(p.Commands(env)...)
	}
	root.SetHelpCommand(help)
	SetUpHelp(root)
	return root
}

// UntilStopped returns a context that ends at a signal, for commands that must clean up first.
func UntilStopped(c *cobra.Command) (context.Context, context.CancelFunc) {
	return Until(c.Context())
}

// JSONFlag adds the flag --json. how describes the layout of the JSON.
func JSONFlag(c *cobra.Command, to *bool, how string) {
	c.Flags().BoolVar(to, "json", false, "write JSON: "+how)
}
