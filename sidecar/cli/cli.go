// Package cli is the command line: it reads flags, files and the environment,
// and calls the rooms that do the work. It also writes the log of a server. It decides nothing about replies.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Env is the world around a run.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // NAME=value
	Defaults fs.FS    // the built-in rules/, prompts/ and schemas/
	Parts    []Part   // of the program, in the order in which they open
}

// Part is a part of the program: what it adds to the command line and to a server.
type Part interface {
	service.Part
	Commands(Env) []*cobra.Command
}

// Reader is a part that reads something of the rule files.
type Reader interface{ Rules() []ruleset.Section }

// Loader compiles rules, with what the parts read of them.
func (e Env) Loader() (l ruleset.Loader) {
	for _, p := range e.Parts {
		if r, ok := p.(Reader); ok {
			l.Sections = append(l.Sections, r.Rules()...)
		}
	}
	return l
}

// Stdout is Out as it was given: for what asks whether it is a terminal, or hands it on.
func (e Env) Stdout() io.Writer { return Under(e.Out) }

// Exit is an answer that is told by an exit code.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// ErrSaid is an error whose text is on Err already.
const ErrSaid = Exit(1)

// Run runs one command. It returns the exit code: 0 fine, 1 failed, 2 misused; policy check
// has others.
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
	errs := NewQueue(env.Err, func(int) {}) // a server must end, also where nothing reads why
	fmt.Fprintln(errs, "gpt-oss-executor:", err)
	_ = errs.Close()
	if errors.As(err, new(Misuse)) {
		return 2
	}
	return 1
}

// rootCommand is the program with all its commands.
func rootCommand(env Env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "gpt-oss-executor",
		Short: "Repair the tool calls of gpt-oss on their way to OpenClaw",
		Long: `gpt-oss-executor stands between an OpenClaw gateway and a gpt-oss server (vLLM, Ollama,
llama.cpp, SGLang, LM Studio …) and repairs tool calls on the way.`,
		Example: `  gpt-oss-executor demo        # see it work, without a server and a gateway
  gpt-oss-executor serve --upstream http://127.0.0.1:8000/v1
  gpt-oss-executor openclaw    # print the settings for openclaw.json`,
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
	root.SetHelpCommand(HelpCommand())
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), Page(c)) })
	root.Flags().BoolVar(&version, "version", false, "do what the command version does")
	root.AddCommand(serveCommand(env), explainCommand(env), policyCommand(env),
		rulesCommand(env), checkCommand(env), fmtCommand(env), testCommand(env), initCommand(env),
		applyCommand(env), approvalsCommand(env), decisionsCommand(env), schemasCommand(env),
		varsCommand(env), versionCommand(env), CompletionCommand(), ManCommand())
	for _, p := range env.Parts {
		root.AddCommand(p.Commands(env)...)
	}
	root.InitDefaultHelpCmd()
	Helpful(root)
	return root
}

// UntilStopped is the context of a command that has something to end or to undo before it goes.
func UntilStopped(c *cobra.Command) (context.Context, context.CancelFunc) {
	return Until(c.Context())
}

// JSONFlag is the flag of everything that a program can read. How says of what it writes
// how it is written.
func JSONFlag(c *cobra.Command, to *bool, how string) {
	c.Flags().BoolVar(to, "json", false, "write JSON: "+how)
}
