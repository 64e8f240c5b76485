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
		Use:   "cost",
		Short: "Say what a million tokens cost, and the same tokens elsewhere",
		Long: `Say what a million tokens cost, and what the same tokens cost elsewhere.

Tokens are those that a server has counted since its start, or counts from now on (--over), or
that Prometheus knows of (--prometheus with --over). Prices are yours: this program knows
none. docs/cost.md has the formulas, and says where to find what goes into them.`,
		Example: `  gpt-oss-executor cost --per-hour 1.80 --currency EUR
  gpt-oss-executor cost --watts 450 --per-kwh 0.30 --hosted prices.yaml
  gpt-oss-executor cost --prometheus 127.0.0.1:9090 --over 720h --per-hour 1.80`,
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
