package cli

import (
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// AdminFrom returns a client of the admin API at the address of the flag or of the environment, with the
// token of the environment. The client is nil if neither names an address.
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
