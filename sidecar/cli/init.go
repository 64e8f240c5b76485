package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func initCommand(env Env) *cobra.Command {
	var full, layered bool
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a folder of rules to edit",
		Long: `Write the five rule files that people edit most into DIR. Each includes the built-in file,
and you write only what differs: an example stands in it as a comment. What DIR lacks
comes with the program, and a new version brings its changes. DIR must not hold any of
the files yet. Then start the server with it.

With --full it writes copies of all built-in rules and prompts, which then stay as they are.`,
		Example: `  gpt-oss-executor init my-rules
  gpt-oss-executor serve --rules my-rules --upstream http://127.0.0.1:8000/v1`,
		Args: Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := WriteRules(args[0], env, full)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d files to %s\nStart with them: gpt-oss-executor serve --rules %s\n",
				n, args[0], args[0])
			return nil
		},
	}
	c.Flags().BoolVar(&full, "full", false, "copies of all built-in rules and prompts")
	c.Flags().BoolVar(&layered, "layered", false, "what init does without --full; for scripts of earlier versions")
	_ = c.Flags().MarkHidden("layered") // it cannot fail: the flag exists
	return c
}

func schemasCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schemas DIR",
		Short: "Write the JSON Schemas with which editors check rules",
		Long: `Write the JSON Schemas of all rule files, and of the config file of serve, into
DIR/schemas. Older ones are replaced. init writes them, too; run this after an update
of the program.

An editor with the YAML language server (in VS Code: the extension YAML by Red Hat)
completes keys, shows what they mean and underlines mistakes. It does so in each file
that begins with a line such as

  # yaml-language-server: $schema=schemas/strategies.schema.json`,
		Example: `  gpt-oss-executor schemas my-rules`,
		Args:    Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := WriteSchemas(args[0], env.Defaults)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "wrote %d schemas to %s\n", n, filepath.Join(args[0], "schemas"))
			return nil
		},
	}
}
