package noise

import (
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Got is what a parser read from a case.
type Got struct {
	Calls     []GotCall
	Content   string
	Reasoning string
	Refused   int // calls refused with a reason, or asked for again
	Finish    string
}

// GotCall is a call that was read, with arguments as JSON.
type GotCall struct {
	Name string
	Args json.RawMessage
}

// Verdict is the comparison of a result with the truth.
type Verdict struct {
	Owed, Recovered, Missed, AskedAgain int // of the calls that must be read
	WrongName, WrongValue               int
	False                               map[Class]int
	Leak, Lost, Extra                   bool
}

// Good reports whether nothing is wrong and every owed call was read.
func (v Verdict) Good() bool {
	return v.Recovered == v.Owed && v.WrongName == 0 && v.WrongValue == 0 && len(v.False) == 0 && !v.Leak &&
		!v.Lost && !v.Extra
}

// Judge compares a result with the truth of its case. Calls are matched first with equal ones, then by
// name, then by equal arguments; the rest are false.
func Judge(c Case, got Got) Verdict {
	v := Verdict{False: map[Class]int{}}
	used, done := make([]bool, len(got.Calls)), make([]bool, len(c.Truth))
	match := func(ok func(Call, GotCall) bool, then func(Call)) {
		for i, want := range c.Truth {
			for j := range got.Calls {
				if !done[i] && !used[j] && ok(want, got.Calls[j]) {
					done[i], used[j] = true, true
					then(want)
				}
			}
		}
	}
	right := 0
	match(func(w Call, g GotCall) bool { return w.Name == g.Name && tools.SameJSON(w.Args, g.Args) },
		func(w Call) {
			switch w.Standing {
			case Must:
				right++
			case Never:
				v.False[w.Class]++
			}
		})
	wrong := func(n *int) func(Call) {
		return func(w Call) {
			*n++
			if w.Standing == Never {
				v.False[w.Class]++
			}
		}
	}
	match(func(w Call, g GotCall) bool { return w.Name == g.Name }, wrong(&v.WrongValue))
	match(func(w Call, g GotCall) bool { return tools.SameJSON(w.Args, g.Args) }, wrong(&v.WrongName))
	for j, g := range got.Calls {
		if !used[j] {
			v.False[class(c, g.Name)]++
		}
	}
	v.Recovered = right
	refused := got.Refused
	for i, w := range c.Truth {
		if w.Standing == Must {
			v.Owed++
			if !done[i] && refused > 0 {
				refused--
				v.AskedAgain++
			} else if !done[i] {
				v.Missed++
			}
		}
	}
	v.text(c, got)
	return v
}

func (v *Verdict) text(c Case, got Got) {
	for _, s := range c.Visible {
		v.Lost = v.Lost || !strings.Contains(got.Content, s)
	}
	for _, s := range c.Hidden {
		v.Extra = v.Extra || strings.Contains(got.Content, s)
	}
	if c.Negative == "" {
		for _, s := range []string{"<|start", "<|channel", "<|constrain", "<|message", "<|call", "<|end|",
			"<|return", "to=functions", "assistantcommentary", "assistantanalysis"} {
			v.Leak = v.Leak || strings.Contains(strings.ToLower(got.Content), s)
		}
	}
}

func class(c Case, name string) Class {
	for _, t := range c.Tools {
		if t.Name == name {
			return t.Class
		}
	}
	return Executes
}
