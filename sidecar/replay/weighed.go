package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// WeighedText is a text that may be a call, and how the weights of its signs decided.
type WeighedText struct {
	Field     string          `json:"field"`
	At        int             `json:"at"`   // byte offset in the field
	Name      string          `json:"name"` // of the tool, as it is written
	Tool      string          `json:"tool"` // the tool that it would call; empty: none takes it
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Class     tools.Class     `json:"class"`
	Base      float64         `json:"base"`
	Signs     []WeighedSign   `json:"signs"`
	Sum       float64         `json:"sum"`
	Score     float64         `json:"score"`
	Run       float64         `json:"run"` // from this score on it runs
	Ask       float64         `json:"ask"` // from this score on the model is asked
	Decision  string          `json:"decision"`
	Says      string          `json:"says"` // the decision in words
}

// WeighedSign is a sign of a text, and its weight.
type WeighedSign struct {
	Sign   string  `json:"sign"`
	Weight float64 `json:"weight"`
}

func weighed(by parse.Weights, w parse.Weighed) WeighedText {
	out := WeighedText{
		Field: w.Field, At: w.At, Name: w.Name, Tool: w.Tool, Arguments: w.Arguments, Class: w.Class,
		Base: by.Base, Signs: []WeighedSign{},
		Sum: by.Sum(w.Signs), Score: w.Score, Run: by.Run.Of(w.Class), Ask: by.Ask.Of(w.Class),
		Decision: w.Decision.String(),
	}
	for _, s := range w.Signs.All() {
		out.Signs = append(out.Signs, WeighedSign{s.String(), by.Of[s]})
	}
	why := fmt.Sprintf("score %.2f, and a tool of class %s runs from %.2f on", w.Score, w.Class, out.Run)
	switch w.Decision {
	case parse.Run:
		out.Says = "enough for a call: " + why
	case parse.Ask:
		out.Says = fmt.Sprintf("not clear: %s; from %.2f on the model is asked", why, out.Ask)
	default:
		out.Says = "too little for a call: " + why
	}
	return out
}

// Sums is the addition that gave the score.
func (w *WeighedText) Sums() string {
	parts := []string{fmt.Sprintf("base %g", w.Base)}
	for _, s := range w.Signs {
		parts = append(parts, fmt.Sprintf("%s %+g", s.Sign, s.Weight))
	}
	return fmt.Sprintf("%s = %+.1f", strings.Join(parts, ", "), w.Sum)
}
