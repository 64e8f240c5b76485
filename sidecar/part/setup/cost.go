package setup

import (
	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

func costCommand(env cli.Env) *cobra.Command {
	var q Question
	var asJSON bool
	c := &cobra.Command{
		Use:  "cost",
		Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			r, err := q.Report(ctx)
			if err != nil {
				return err
			}
			var out cli.Rows
			for _, line := range r.Lines() {
				out.Say("%s", line)
			}
			return env.Printer(asJSON).Document(r, out.List)
		},
	}
	here := env.DefaultSettings().Listen
	if set, ok := env.Lookup(config.Prefix + "LISTEN"); ok {
		here = set
	}
	f := c.Flags()
	f.StringVar(&q.Server, "at", here, "`ADDRESS` at which the server listens")
	f.StringVar(&q.Prometheus, "prometheus", "", "`URL` of a Prometheus that knows the servers")
	f.DurationVar(&q.Over, "over", 0,
		"count for so `LONG` from now on; with --prometheus, in the time until now")
	f.Float64Var(&q.Own.PerHour, "per-hour", 0, "`PRICE` of an hour of your machines")
	f.Float64Var(&q.Own.Watts, "watts", 0, "`WATTS` that they draw")
	f.Float64Var(&q.Own.PerKWh, "per-kwh", 0, "`PRICE` of a kilowatt-hour")
	f.Float64Var(&q.Own.Hours, "hours", 0, "`HOURS` that you paid for; without it, as many as were counted")
	f.Float64Var(&q.Own.Weight, "weight", 0, "how `MANY` prompt tokens are as dear as one completion token")
	f.StringVar(&q.Own.Currency, "currency", "", "`NAME` of the currency, for the report")
	f.StringVar(&q.Prices, "hosted", "",
		"`FILE` with prices of hosted models: deploy/prices.yaml, filled in by you")
	cli.JSONFlag(c, &asJSON, "one document")
	const priced = " over per-hour watts per-kwh hours weight currency hosted json"
	cli.Modes(c, "prometheus:"+priced, ": at"+priced)
	return c
}
