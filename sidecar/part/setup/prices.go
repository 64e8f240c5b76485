package setup

import (
	"cmp"
	"fmt"
	"slices"
)

// Tokens are those of one model. Reasoning is a part of Completion.
type Tokens struct {
	Model      string  `json:"model"`
	Prompt     float64 `json:"prompt"`
	Completion float64 `json:"completion"`
	Reasoning  float64 `json:"reasoning"`
}

// Usage is what was counted, for how long, and where that is from.
type Usage struct {
	Models []Tokens `json:"models"`
	Hours  float64  `json:"hours"` // 0: it is not known
	From   string   `json:"from"`
}

// Own is what the user says of their own machines. 0 means that they did not.
type Own struct {
	PerHour  float64 // price of an hour of all of them
	Watts    float64 // that all of them draw
	PerKWh   float64 // price of a kilowatt-hour
	Hours    float64 // that were paid; 0: those of the usage
	Weight   float64 // how many prompt tokens are as dear as one completion token
	Currency string
}

// Amount is a number with the way to it.
type Amount struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Way   string  `json:"way"`
}

// Compared is what the same tokens cost elsewhere.
type Compared struct {
	Amount
	Source string  `json:"source"` // where the user has the price from
	Times  float64 `json:"times"`  // of one's own cost; 0: that is not known
}

// Report is what comes of all that.
type Report struct {
	Usage
	Currency string     `json:"currency"`
	Parts    []Amount   `json:"parts"`  // of one's own cost
	Total    *Amount    `json:"total"`  // nil: the user has not said what an hour costs
	Per      []Amount   `json:"per"`    // million tokens
	Hosted   []Compared `json:"hosted"` // the same tokens there
}

const million = 1e6

// Of does the sums. Prices may be nil.
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

// All are the tokens of all models.
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

// own adds what one's own machines cost, if that was said.
func (r *Report) own(o Own, all Tokens) error {
	if o.PerHour == 0 && o.Watts == 0 {
		return nil
	}
	hours, way := o.Hours, fmt.Sprintf("%s h (--hours)", given(o.Hours))
	if hours == 0 {
		hours, way = r.Hours, fmt.Sprintf("%s h (counted for so long)", rough(r.Hours))
	}
	if hours == 0 {
		return fmt.Errorf("%s: it is not known for how long that was counted. Say how many hours you paid for with --hours", r.From)
	}
	if o.PerHour > 0 {
		r.Parts = append(r.Parts, Amount{"machines", hours * o.PerHour,
			fmt.Sprintf("%s × %s an hour (--per-hour)", way, given(o.PerHour))})
	}
	if o.Watts > 0 {
		r.Parts = append(r.Parts, Amount{"electricity", hours * o.Watts / 1000 * o.PerKWh,
			fmt.Sprintf("%s × %s W (--watts) × %s a kWh (--per-kwh)", way, given(o.Watts), given(o.PerKWh))})
	}
	r.Total = &Amount{Name: "all of it", Way: "the sum"}
	for _, p := range r.Parts {
		r.Total.Value += p.Value
	}
	r.perMillion(o.Weight, all)
	return nil
}

// perMillion shares the cost among tokens. One machine serves both kinds at once, so what each kind costs
// is known only to who says how dear they are beside each other.
func (r *Report) perMillion(weight float64, all Tokens) {
	total := r.Total.Value
	r.Per = append(r.Per, Amount{"any tokens", total / (all.Prompt + all.Completion) * million,
		fmt.Sprintf("all of it / %s tokens", whole(all.Prompt+all.Completion))})
	if weight == 0 {
		return
	}
	prompt := total / (all.Prompt + weight*all.Completion) * million
	r.Per = append(r.Per,
		Amount{"prompt tokens", prompt, fmt.Sprintf("all of it / (%s prompt + %s × %s completion tokens)",
			whole(all.Prompt), given(weight), whole(all.Completion))},
		Amount{"completion tokens", weight * prompt, fmt.Sprintf("%s times that (--weight)", given(weight))})
}

// hosted adds what the same tokens cost elsewhere.
func (r *Report) hosted(all Tokens, models []Price) {
	for _, p := range models {
		c := Compared{Source: p.Source,
			Amount: Amount{p.Name, all.Prompt/million*p.Prompt + all.Completion/million*p.Completion,
				fmt.Sprintf("%s million prompt × %s + %s million completion × %s", rough(all.Prompt/million),
					given(p.Prompt), rough(all.Completion/million), given(p.Completion))}}
		if r.Total != nil && r.Total.Value > 0 {
			c.Times = c.Value / r.Total.Value
		}
		r.Hosted = append(r.Hosted, c)
	}
}
