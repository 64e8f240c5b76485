package cli

import "github.com/spf13/cobra"

func demoCommand(Env) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "See it work, with no server and no gateway"}
}
