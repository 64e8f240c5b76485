package cli

import (
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// adminFrom is the client for what the flag admin says, or the environment; nil where
// neither does. The token comes from the environment.
func adminFrom(flag string, c *cobra.Command, env Env) (*admin.Client, error) {
	if !c.Flags().Changed("admin") {
		flag, _ = env.lookup(ruleset.SettingPrefix + "ADMIN")
	}
	if flag == "" {
		return nil, nil
	}
	token, _ := env.lookup(ruleset.SettingPrefix + "ADMIN_TOKEN")
	token, err := service.Secret(ruleset.SettingPrefix+"ADMIN_TOKEN", token)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(flag, token)
}
