// Package fit finds the weights of signs from texts of which it is known whether they are
// calls, and says how far the scores that these weights give can be believed. The texts come
// from made-up replies (internal/noise) or from labelled ones of an operator. The same input
// gives the same weights.
package fit

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Kind is what weights can tell texts by, and the class of the tool that they would call.
type Kind struct {
	Signs parse.Set
	Class tools.Class
}

// Count is how many texts of a kind are calls that the model meant, and how many are none.
type Count struct{ Calls, Texts int }

func (c Count) all() int { return c.Calls + c.Texts }

// Samples are labelled texts, by kind.
type Samples map[Kind]Count

// label counts what was weighed in a reply. A text is a call if the model meant one with just
// these arguments. What no tool takes is left out, and what is asked about whatever its score: no
// weight makes it run.
func (s Samples) label(weighed []parse.Weighed, meant func(tool string, args json.RawMessage) bool) {
	for _, w := range weighed {
		if w.Tool == "" || w.Signs.Doubtful(w.Class) {
			continue
		}
		n := Count{Texts: 1}
		if meant(w.Tool, w.Arguments) {
			n = Count{Calls: 1}
		}
		s.add(Kind{w.Signs, w.Class}, n)
	}
}

func (s Samples) add(k Kind, n Count) {
	s[k] = Count{s[k].Calls + n.Calls, s[k].Texts + n.Texts}
}

// join adds other samples.
func (s Samples) join(o Samples) {
	for k, n := range o {
		s.add(k, n)
	}
}

// Without are the samples that are not among others.
func (s Samples) Without(others Samples) Samples {
	out := Samples{}
	for k, n := range s {
		if left := (Count{n.Calls - others[k].Calls, n.Texts - others[k].Texts}); left != (Count{}) {
			out[k] = left
		}
	}
	return out
}

// Total counts all texts of a class; "" is every class.
func (s Samples) Total(class tools.Class) (out Count) {
	for k, n := range s {
		if class == "" || k.Class == class {
			out.Calls += n.Calls
			out.Texts += n.Texts
		}
	}
	return out
}

// With counts the texts that have a sign.
func (s Samples) With(sign parse.Sign) (out Count) {
	for k, n := range s {
		if k.Signs.Has(sign) {
			out.Calls += n.Calls
			out.Texts += n.Texts
		}
	}
	return out
}

// kinds are the kinds in a fixed order: sums of fractions depend on it.
func (s Samples) kinds() []Kind {
	return slices.SortedFunc(maps.Keys(s), func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Signs, b.Signs), cmp.Compare(a.Class, b.Class))
	})
}
