package programs

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Example is a command of hit, miss or gives.
type Example struct {
	Command rulefile.Text
	judge   func(facts string, understood bool) (wrong string)
}

// Wrong returns why the example fails; empty: it passes.
func (e Example) Wrong(t *program.Table) string {
	return e.judge(t.Example(e.Command.Value))
}

func (r Row) examples() (out []Example) {
	for _, t := range r.Hit {
		out = append(out, Example{t, func(facts string, understood bool) string {
			if understood {
				return ""
			}
			return "this is not understood: " + facts
		}})
	}
	for _, t := range r.Miss {
		out = append(out, Example{t, func(_ string, understood bool) string {
			if !understood {
				return ""
			}
			return "this is understood, but should not be"
		}})
	}
	for _, g := range r.Gives {
		out = append(out, Example{g.Key, func(facts string, _ bool) string {
			if sameList(facts, g.Value.Value) {
				return ""
			}
			return "this gives " + facts
		}})
	}
	return out
}

// sameList reports whether two lists separated by commas are equal in any order.
func sameList(a, b string) bool {
	sorted := func(s string) []string {
		list := strings.Split(s, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(sorted(a), sorted(b))
}
