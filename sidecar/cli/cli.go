// Package cli is the command line: it reads flags, files and the environment,
// and calls the rooms that do the work. It decides nothing about replies.
package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
)

// Env is the world around a run.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // NAME=value
	Defaults fs.FS    // the built-in rules/, prompts/ and schemas/
}

// errSaid is an error whose text is on Err already.
var errSaid = errors.New("said")

// exit is an answer that is told by an exit code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run runs one command. It returns the exit code: 0 fine, 1 failed, 2 misused; policy check
// has others.
func Run(args []string, env Env) int {
	misused := false
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
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetArgs(args)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		misused = true
		return fmt.Errorf("%w\nTry: %s --help", err, c.CommandPath())
	})
	root.AddCommand(serveCommand(env), explainCommand(env), policyCommand(env), compareCommand(env), checkCommand(env), fmtCommand(env), testCommand(env), initCommand(env),
		applyCommand(env), approvalsCommand(env), decisionsCommand(env), schemasCommand(env), varsCommand(env), openclawCommand(env), demoCommand(env), versionCommand(env))
	helpful(root, &misused)
	if err := root.Execute(); err != nil {
		var code exit
		if errors.As(err, &code) {
			return int(code)
		}
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(env.Err, "gpt-oss-executor:", err)
		}
		if misused {
			return 2
		}
		return 1
	}
	return 0
}

// helpful says of wrong arguments where to read on, for a command and all below it.
func helpful(c *cobra.Command, misused *bool) {
	for _, sub := range c.Commands() {
		helpful(sub, misused)
	}
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err != nil {
			*misused = true
			err = fmt.Errorf("%w\nTry: %s --help", err, c.CommandPath())
		}
		return err
	}
}

func rulesFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "rules", "", "folder of rule files (default: the built-in rules)")
}
