package noise

import "slices"

// Mix is the frequency of each damage in the replies of one kind of model, independent of each other.
type Mix struct {
	ID, About string
	rates     map[string]float64 // by operator, 0 to 1
}

// Mixes are the models with known frequencies.
func Mixes() []Mix {
	return []Mix{
		{"gpt-5", "larger models with the same wire format behind a server that reads it: the header leaks into the text, without its tokens", map[string]float64{
			"strip-all": 0.8, "args.debris": 0.35, "head-debris": 0.1,
			"head-after-sentence": 0.3, "head-signs": 0.25,
			"wrap-parallel": 0.15, "head-no-type": 0.15, "head-recipient-in-role": 0.15,
			"order-invented-result": 0.1, "order-echo": 0.05,
			"close-none": 0.2, "half-both": 0.1, "half-twice": 0.1, "cut-length": 0.02,
		}},
	}
}

// mixed chooses operators by the rates of a mix.
func (d *draft) mixed(id string, all []Operator) (chosen []Operator) {
	i := slices.IndexFunc(Mixes(), func(m Mix) bool { return m.ID == id })
	rates := Mixes()[i].rates
	for _, op := range all {
		if d.Float64() < rates[op.ID] {
			chosen = append(chosen, op)
		}
	}
	return chosen
}
