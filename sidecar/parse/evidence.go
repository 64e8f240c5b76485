package parse

import (
	"math"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Sign is something that speaks for a call, or against it.
type Sign uint8

// The signs. The first ones say how the call is written.
const (
	Header        Sign = iota // words of a header, whose control tokens are gone
	EvidenceName              // the name of a tool, and its arguments behind it
	Object                    // a JSON object that names a tool
	EvidenceBlock             // between the literals of a strategy
	EvidenceLines             // lines of a strategy
	Tokens                    // behind a header with control tokens, of which there is doubt
	Bent                      // the name is not written as it is offered
	Mended                    // the arguments had to be mended
	Fits                      // the arguments are what the tool's schema wants, as they stand
	Only                      // no other tool takes such arguments
	Word                      // a strange word stands between its parts
	Signs                     // strange signs do
	Open                      // it may stand in a sentence
	Quoted                    // a sentence goes on around it
	Told                      // text beside it speaks about it
	Beside                    // text stands in front that does not say that a call is made
	Behind                    // text stands behind
	Finish                    // the reply ends with it, and the server says that it ends in a call
	Topic                     // the user writes about calls
	Count                     // how many there are
)

var names = [Count]string{
	Header: "header", EvidenceName: "name", Object: "object", EvidenceBlock: "block", EvidenceLines: "lines",
	Tokens: "tokens", Bent: "bent", Mended: "mended",
	Fits: "fits", Only: "only", Word: "word", Signs: "signs", Open: "open", Quoted: "quoted", Told: "told",
	Beside: "beside", Behind: "behind", Finish: "finish", Topic: "topic",
}

// Names are the names of all signs.
func EvidenceNames() []string { return names[:] }

// String is the name of the sign.
func (s Sign) String() string { return names[s] }

// Set is a set of signs.
type Set uint32

// With is the set with more signs.
func (s Set) With(more ...Sign) Set {
	for _, m := range more {
		s |= 1 << m
	}
	return s
}

// Has says that a sign is in the set.
func (s Set) Has(sign Sign) bool { return s&(1<<sign) != 0 }

// Doubtful says that the model is asked whatever the score: the tool writes or executes, and text
// stands in front that does not say that a call is made, or behind, or the user writes about calls;
// or a sentence may go on into the call of a tool that reads.
func (s Set) Doubtful(class tools.Class) bool {
	if class == tools.Read {
		return s.Has(Beside) && s.Has(Open)
	}
	return s.Has(Beside) || s.Has(Behind) || s.Has(Topic)
}

// All are the signs in the set.
func (s Set) All() (out []Sign) {
	for sign := range Count {
		if s.Has(sign) {
			out = append(out, sign)
		}
	}
	return out
}

// Weights say how much each sign counts, in logits, and how sure one must be.
type Weights struct {
	Base float64
	Of   [Count]float64
	Run  Thresholds // from this on a call runs
	Ask  Thresholds // from this on the model is asked again; below, it is text
}

// Thresholds are scores, 0 to 1, by what a tool does.
type Thresholds struct{ Read, Write, Exec float64 }

// Of is the threshold of a class; of one that is not known, the highest.
func (t Thresholds) Of(class tools.Class) float64 {
	switch class {
	case tools.Read:
		return t.Read
	case tools.Write:
		return t.Write
	case tools.Exec:
		return t.Exec
	}
	return max(t.Read, t.Write, t.Exec)
}

// Named finds a sign by its name.
func Named(name string) (s Sign, ok bool) {
	i := slices.Index(names[:], name)
	return Sign(max(i, 0)), i >= 0
}

// Sum is what the base and the signs of a text weigh, in logits.
func (w *Weights) Sum(of Set) float64 {
	sum := w.Base
	for s := range Count {
		if of.Has(s) {
			sum += w.Of[s]
		}
	}
	return sum
}

// Score is the probability, 0 to 1, that a text with these signs is a call.
func (w *Weights) Score(of Set) float64 { return 1 / (1 + math.Exp(-w.Sum(of))) }

// Decision is what becomes of a text.
type Decision uint8

// The decisions.
const (
	Leave Decision = iota // it is text
	Ask                   // the model is asked to call the tool as it should, or to answer
	Run                   // it is a call
)

// String is the decision in a word.
func (d Decision) String() string { return [...]string{"text", "asked", "call"}[d] }

// Decide says what becomes of a text of a score, if its tool is of a class.
func (w *Weights) Decide(score float64, class tools.Class) Decision {
	switch {
	case score >= w.Run.Of(class):
		return Run
	case score >= w.Ask.Of(class):
		return Ask
	}
	return Leave
}

// Prior are weights set by hand: what a fit begins with, and what a sign keeps that no case
// shows. Whether a sign speaks for a call or against it, they say for good.
func Prior() Weights {
	return Weights{
		Base: 0,
		Of: [Count]float64{
			Header: 3, EvidenceName: 2, Object: 3, EvidenceBlock: 3, EvidenceLines: 3, Tokens: 4, Bent: -0.5,
			Mended: -0.5, Fits: 1, Only: 0.5, Word: -1, Signs: -1,
			Open: -2.5, Quoted: -7, Told: -5.5, Finish: 1, Topic: -1,
		},
		Run: Thresholds{Read: 0.6, Write: 0.9, Exec: 0.9},
		Ask: Thresholds{Read: 0.6, Write: 0.9, Exec: 0.9},
	}
}
