package setup

import (
	"fmt"
	"os"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

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
