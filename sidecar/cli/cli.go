// Package cli is the command line: it reads flags, files and the environment,
// and calls the rooms that do the work. It decides nothing about replies.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Env is the world around a run.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // NAME=value
	Defaults fs.FS    // the built-in rules/, prompts/ and schemas/
}

// exit is an answer that is told by an exit code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// errSaid is an error whose text is on Err already.
const errSaid = exit(1)

// misuse is an error in how a command was called.
type misuse struct{ error }

// misused says where to read how a command is called.
func misused(c *cobra.Command, err error) error {
	return misuse{fmt.Errorf("%w\nTry: %s --help", err, c.CommandPath())}
}

// Run runs one command. It returns the exit code: 0 fine, 1 failed, 2 misused; policy check
// has others.
func Run(args []string, env Env) int {
	root := &cobra.Command{
		Use:   "gpt-oss-executor",
		Short: "Repair the tool calls of gpt-oss on their way to OpenClaw",
		Long: `gpt-oss-executor stands between an OpenClaw gateway and a gpt-oss server
(vLLM, Ollama, llama.cpp, SGLang, LM Studio …) and repairs tool calls on the way.

  gpt-oss-executor demo                                        see it work, without a server and a gateway
  gpt-oss-executor serve --upstream http://127.0.0.1:8000/v1   run the server
  gpt-oss-executor openclaw                                    print the settings for openclaw.json`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetArgs(args)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(misused)
	root.AddCommand(serveCommand(env), explainCommand(env), policyCommand(env), compareCommand(env), checkCommand(env), fmtCommand(env), testCommand(env), initCommand(env),
		applyCommand(env), approvalsCommand(env), decisionsCommand(env), schemasCommand(env), varsCommand(env), openclawCommand(env), demoCommand(env), versionCommand(env))
	helpful(root)
	err := root.Execute()
	var code exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(env.Err, "gpt-oss-executor:", err)
	if errors.As(err, new(misuse)) {
		return 2
	}
	return 1
}

// untilStopped is the context of a command that has something to end or to undo before it
// goes, at SIGTERM or Ctrl-C.
func untilStopped(c *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
}

// helpful says of wrong arguments where to read on, for a command and all below it. A
// command that does nothing by itself shows its help.
func helpful(c *cobra.Command) {
	if c.HasSubCommands() {
		c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	for _, sub := range c.Commands() {
		helpful(sub)
	}
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return misused(c, err)
		}
		return nil
	}
}

func rulesFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "rules", "", "folder of rule files (default: the built-in rules)")
}
