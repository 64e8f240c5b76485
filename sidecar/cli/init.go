package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func initCommand(env Env) *cobra.Command {
	var full, layered bool
	c := &cobra.Command{
		Use:  "init DIR",
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
		Use:  "schemas DIR",
		Args: Arguments(1, 1),
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
