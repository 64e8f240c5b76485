package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
)

func probeCommand(env cli.Env) *cobra.Command {
	flags := env.DefaultSettings()
	var model string
	var asJSON bool
	c := &cobra.Command{
		Use:   "probe",
		Short: "Say whether the model server calls tools and follows a schema",
		Long: `Say whether the model server calls tools, and whether it makes a model follow a JSON Schema:
many servers ignore one without a word. The last line is the style in which a model is told of
its tools (strategies.yaml): native means that the server calls them. Two requests are sent to
each server of the model.`,
		Example: "  gpt-oss-executor probe --upstream http://127.0.0.1:8000/v1",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := cli.SettingsOf(c, "", env)
			if err != nil {
				return err
			}
			set, err := cli.LoadRules(s.Rules, s.Policy, env)
			if err != nil {
				return err
			}
			m, known := set.Model(model)
			if model != "" && !known {
				return cli.Misused(c, fmt.Errorf("models.yaml has no model %s", model))
			} else if !known {
				m = set.Models[0]
			}
			found, err := ProbeAll(c.Context(), s, set, m)
			if err != nil {
				return err
			}
			var r cli.Rows
			for i := range found {
				for _, f := range found[i].Fields() {
					r.Field(f.Name, f.Value, "")
				}
			}
			if len(found) == 1 {
				return env.Paper(asJSON).Whole(found[0], r.List)
			}
			return env.Paper(asJSON).Whole(found, r.List)
		},
	}
	c.Flags().StringVar(&flags.Upstream, "upstream", flags.Upstream, "base `URL` of the model server")
	c.Flags().StringVar(&model, "model", "", "`ID` of a model that callers see; the default one if left out")
	cli.RulesFlag(c, env, &flags.Rules)
	cli.JSONFlag(c, &asJSON, "an object, or a list for several servers")
	return c
}
