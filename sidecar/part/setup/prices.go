package setup

import (
	"cmp"
	"fmt"
	"slices"
)

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
