package cli

import (
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// adminFrom is the client for what the flag admin says, or the environment; nil where
// neither does. The token comes from the environment.
func AdminFrom(flag string, c *cobra.Command, env Env) (*admin.Client, error) {
	if !c.Flags().Changed("admin") {
		flag, _ = env.Lookup(config.Prefix + "ADMIN")
	}
	if flag == "" {
		return nil, nil
	}
	token, _ := env.Lookup(config.Prefix + "ADMIN_TOKEN")
	token, err := config.Secret(config.Prefix+"ADMIN_TOKEN", token)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(flag, token)
}
