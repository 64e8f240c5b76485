package setup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
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

// Tokens counts those of one model. Reasoning is part of Completion.
type Tokens struct {
	Model      string  `json:"model"`
	Prompt     float64 `json:"prompt"`
	Completion float64 `json:"completion"`
	Reasoning  float64 `json:"reasoning"`
}

// Usage is what was counted, over which time, and its source.
type Usage struct {
	Models []Tokens `json:"models"`
	Hours  float64  `json:"hours"` // 0: unknown
	From   string   `json:"from"`
}

// Own describes the user's machines. 0 means unknown.
type Own struct {
	PerHour  float64 // price per hour of all machines
	Watts    float64 // power of all machines
	PerKWh   float64 // price of a kilowatt-hour
	Hours    float64 // paid hours; 0: those of the usage
	Weight   float64 // prompt tokens that cost as much as one completion token
	Currency string
}

// Amount is a number with its derivation.
type Amount struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Way   string  `json:"way"`
}

// Compared is the cost of the same tokens elsewhere.
type Compared struct {
	Amount
	Source string  `json:"source"` // source of the price
	Times  float64 `json:"times"`  // multiple of the own cost; 0: unknown
}

// Report is the result.
type Report struct {
	Usage
	Currency string     `json:"currency"`
	Parts    []Amount   `json:"parts"`  // of one's own cost
	Total    *Amount    `json:"total"`  // nil: the price per hour is unknown
	Per      []Amount   `json:"per"`    // million tokens
	Hosted   []Compared `json:"hosted"` // the same tokens there
}

const million = 1e6

// Of computes the report. prices may be nil.
func Of(u Usage, own Own, prices *Prices) (*Report, error) {
	if err := own.check(); err != nil {
		return nil, err
	}
	slices.SortFunc(u.Models, func(a, b Tokens) int { return cmp.Compare(a.Model, b.Model) })
	all := u.All()
	if all.Prompt+all.Completion == 0 {
		return nil, fmt.Errorf("%s: no tokens were counted. Nothing was asked, or the model server does not say how many there were", u.From)
	}
	r := &Report{Usage: u, Currency: own.Currency, Parts: []Amount{}, Per: []Amount{}, Hosted: []Compared{}}
	if prices != nil {
		if own.Currency != "" && own.Currency != prices.Currency {
			return nil, fmt.Errorf("prices are in %s, and --currency says %s: give both in one currency",
				prices.Currency, own.Currency)
		}
		r.Currency = prices.Currency
	}
	if err := r.own(own, all); err != nil {
		return nil, err
	}
	if prices != nil {
		r.hosted(all, prices.Models)
	}
	return r, nil
}

// All returns the sum over all models.
func (u Usage) All() (all Tokens) {
	for _, t := range u.Models {
		all.Prompt += t.Prompt
		all.Completion += t.Completion
		all.Reasoning += t.Reasoning
	}
	return all
}

func (o Own) check() error {
	for name, n := range map[string]float64{"per-hour": o.PerHour, "watts": o.Watts, "per-kwh": o.PerKWh,
		"hours": o.Hours, "weight": o.Weight} {
		if !(n >= 0 && n <= 1e12) {
			return fmt.Errorf("--%s %g: it must be a number from 0 on", name, n)
		}
	}
	switch {
	case (o.Watts > 0) != (o.PerKWh > 0):
		return fmt.Errorf("electricity needs both --watts and --per-kwh")
	case o.Hours+o.Weight > 0 && o.PerHour+o.Watts == 0:
		return fmt.Errorf("--hours and --weight have an effect only with --per-hour or --watts")
	}
	return nil
}

// own adds the cost of the user's machines, if known.
func (r *Report) own(o Own, all Tokens) error {
	if o.PerHour == 0 && o.Watts == 0 {
		return nil
	}
	hours, way := o.Hours, fmt.Sprintf("%s h (--hours)", exactNumber(o.Hours))
	if hours == 0 {
		hours, way = r.Hours, fmt.Sprintf("%s h (counted for so long)", roundedNumber(r.Hours))
	}
	if hours == 0 {
		return fmt.Errorf("%s: it is not known for how long that was counted. Say how many hours you paid for with --hours", r.From)
	}
	if o.PerHour > 0 {
		r.Parts = append(r.Parts, Amount{"machines", hours * o.PerHour,
			fmt.Sprintf("%s × %s an hour (--per-hour)", way, exactNumber(o.PerHour))})
	}
	if o.Watts > 0 {
		r.Parts = append(r.Parts, Amount{"electricity", hours * o.Watts / 1000 * o.PerKWh,
			fmt.Sprintf("%s × %s W (--watts) × %s a kWh (--per-kwh)", way, exactNumber(o.Watts), exactNumber(o.PerKWh))})
	}
	r.Total = &Amount{Name: "all of it", Way: "the sum"}
	for _, p := range r.Parts {
		r.Total.Value += p.Value
	}
	r.perMillion(o.Weight, all)
	return nil
}

// perMillion divides the cost among tokens. One machine serves both kinds at once, so that the cost of each
// kind needs their ratio from the user.
func (r *Report) perMillion(weight float64, all Tokens) {
	total := r.Total.Value
	r.Per = append(r.Per, Amount{"any tokens", total / (all.Prompt + all.Completion) * million,
		fmt.Sprintf("all of it / %s tokens", tokenWords(all.Prompt+all.Completion))})
	if weight == 0 {
		return
	}
	prompt := total / (all.Prompt + weight*all.Completion) * million
	r.Per = append(r.Per,
		Amount{"prompt tokens", prompt, fmt.Sprintf("all of it / (%s prompt + %s × %s completion tokens)",
			tokenWords(all.Prompt), exactNumber(weight), tokenWords(all.Completion))},
		Amount{"completion tokens", weight * prompt,
			fmt.Sprintf("%s times that (--weight)", exactNumber(weight))})
}

// hosted adds the cost of the same tokens elsewhere.
func (r *Report) hosted(all Tokens, models []Price) {
	for _, p := range models {
		c := Compared{Source: p.Source,
			Amount: Amount{p.Name, all.Prompt/million*p.Prompt + all.Completion/million*p.Completion,
				fmt.Sprintf("%s million prompt × %s + %s million completion × %s", roundedNumber(all.Prompt/million),
					exactNumber(p.Prompt), roundedNumber(all.Completion/million), exactNumber(p.Completion))}}
		if r.Total != nil && r.Total.Value > 0 {
			c.Times = c.Value / r.Total.Value
		}
		r.Hosted = append(r.Hosted, c)
	}
}

// Prices is a file that the user fills in, initially deploy/prices.yaml.
type Prices struct {
	Currency string  `rule:"currency,required"`
	Models   []Price `rule:"models,required"`
}

// Price is the price of a hosted model per million tokens, with its source.
type Price struct {
	Name       string  `rule:"name,required"`
	Prompt     float64 `rule:"prompt,required" min:"0"`
	Completion float64 `rule:"completion,required" min:"0"`
	Source     string  `rule:"source,required"`
}

// ReadPrices reads such a file. A missing number is an error with its place.
func ReadPrices(name string) (*Prices, error) {
	doc, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	var p Prices
	if problems := rulefile.Single(name, string(doc)).Decode(&p, false); len(problems) > 0 {
		return nil, problems
	}
	if p.Currency == "" {
		return nil, fmt.Errorf("read prices: %s: currency is empty", name)
	}
	for _, m := range p.Models {
		if m.Name == "" || m.Source == "" {
			return nil, fmt.Errorf("read prices: %s: each model needs its name, and as source where and when you have read its price", name)
		}
	}
	return &p, nil
}

// Question holds the flags of cost.
type Question struct {
	Server     string        // address or URL of a server, unless Prometheus is set
	Prometheus string        // URL; empty: ask the server
	Over       time.Duration // 0: since the start of the server
	Prices     string        // file; empty: none
	Own        Own
}

// Report reads the usage and computes the report.
func (q *Question) Report(ctx context.Context) (*Report, error) {
	var prices *Prices
	var err error
	if q.Prices != "" {
		if prices, err = ReadPrices(q.Prices); err != nil {
			return nil, err
		}
	}
	client := &http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var usage Usage
	if q.Prometheus != "" {
		usage, err = FromPrometheus(ctx, client, q.Prometheus, q.Over)
	} else {
		usage, err = FromServer(ctx, client, q.Server, q.Over, time.Now)
	}
	if err != nil {
		return nil, err
	}
	return Of(usage, q.Own, prices)
}

// Lines formats a report for people.
func (r *Report) Lines() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("tokens, %s", r.From)
	for _, t := range r.Models {
		say("  %-18s %14s prompt  %14s completion, %s of it reasoning", t.Model, tokenWords(t.Prompt),
			tokenWords(t.Completion), tokenWords(t.Reasoning))
	}
	if r.Total == nil {
		say("cost: not known. Say what an hour of your machines costs with --per-hour, or --watts and --per-kwh")
	} else {
		say("cost%s", r.in())
		for _, p := range r.Parts {
			say("  %-18s %14s  %s", p.Name, money(p.Value), p.Way)
		}
		say("  %-18s %14s  %s", r.Total.Name, money(r.Total.Value), r.Total.Way)
		say("for a million%s", r.in())
		for _, p := range r.Per {
			say("  %-18s %14s  %s", p.Name, money(p.Value), p.Way)
		}
		if len(r.Per) == 1 {
			say("  to tell prompt from completion, say with --weight how many prompt tokens are as dear as one completion token")
		}
	}
	if len(r.Hosted) > 0 {
		say("the same tokens elsewhere%s", r.in())
	}
	for _, h := range r.Hosted {
		ratio := ""
		if h.Times > 0 {
			ratio = fmt.Sprintf(", %s times your own", roundedNumber(h.Times))
		}
		say("  %-18s %14s  %s%s", h.Name, money(h.Value), h.Way, ratio)
		say("  %-18s %14s  price from %s", "", "", h.Source)
	}
	if len(r.Hosted) > 0 {
		say("  another model counts the same text in other tokens, and needs more or fewer of them for the same work")
	}
	return out
}

// in returns the currency with a blank, if there is one.
func (r *Report) in() string {
	if r.Currency == "" {
		return ""
	}
	return ", in " + r.Currency
}

// tokenWords formats a number of tokens, with groups of thousands.
func tokenWords(n float64) string {
	s := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// money formats an amount: with cents, and below 1 with four significant digits.
func money(n float64) string {
	if n != 0 && n < 1 {
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

// exactNumber formats a number of the user with all its digits.
func exactNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// roundedNumber formats a computed number with four significant digits.
func roundedNumber(n float64) string {
	if n >= 1000 {
		return strconv.FormatFloat(math.Round(n), 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}
