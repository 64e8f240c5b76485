package eval

import (
	"errors"
	"fmt"
)

// Spent is the cost of answers.
type Spent struct {
	Milliseconds float64 `json:"milliseconds"`
	First        float64 `json:"first_milliseconds,omitempty"` // until a part of it could be sent on
	Prompt       int     `json:"prompt_tokens,omitempty"`      // as the server counts
	Completion   int     `json:"completion_tokens,omitempty"`
}

func (s *Spent) add(o Spent) {
	s.Milliseconds += o.Milliseconds
	s.First += o.First
	s.Prompt += o.Prompt
	s.Completion += o.Completion
}

func (s *Spent) tokens() int { return s.Prompt + s.Completion }

// Bounds limits the cost of a run; 0: no limit.
type Bounds struct {
	Requests, Tokens int
	Cost             float64
	In, Out          float64 // price of a million tokens of prompt and completion
}

// Check returns a mistake in the bounds.
func (b *Bounds) Check() error {
	switch {
	case min(b.Requests, b.Tokens) < 0 || !(min(b.Cost, b.In, b.Out) >= 0):
		return errors.New("a bound and a price are 0 or more")
	case b.Cost > 0 && b.In+b.Out == 0:
		return errors.New("--max-cost needs prices: give --price-in and --price-out, for a million tokens each")
	}
	return nil
}

func (b *Bounds) cost(s Spent) float64 {
	return (b.In*float64(s.Prompt) + b.Out*float64(s.Completion)) / 1e6
}

// counts reports whether tokens must be counted.
func (b *Bounds) counts() bool { return b.Tokens > 0 || b.Cost > 0 }

// planned describes how many requests the questions need.
func (b *Bounds) planned(questions int) string {
	if b.Requests > 0 {
		return fmt.Sprintf("at most %d requests", b.Requests)
	}
	return fmt.Sprintf("%d requests, and what is asked again", questions)
}

// bounded reports whether there is a limit.
func (b *Bounds) bounded() bool { return b.Requests > 0 || b.counts() }

// reached reports whether a limit is reached.
func (b *Bounds) reached(requests int, s Spent) bool {
	return b.Requests > 0 && requests >= b.Requests || b.Tokens > 0 && s.tokens() >= b.Tokens || b.Cost > 0 &&
		b.cost(s) >= b.Cost
}

// sentence describes what was spent, and the limits.
func (b *Bounds) sentence(s Spent) string {
	text := fmt.Sprintf("%d tokens", s.tokens())
	if b.Tokens > 0 {
		text = fmt.Sprintf("%d of %d tokens", s.tokens(), b.Tokens)
	}
	switch cost := b.cost(s); {
	case b.Cost > 0:
		text += fmt.Sprintf(", cost %.4f of %g", cost, b.Cost)
	case b.In+b.Out > 0:
		text += fmt.Sprintf(", cost %.4f", cost)
	}
	return text
}
