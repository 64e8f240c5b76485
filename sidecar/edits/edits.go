// Package edits changes what the model reads, as edits.yaml says: requests on their way to it, and what tools
// gave. It leaves out, shortens, replaces and adds notes. It offers no tool and writes no call, and the
// policy judges what came, not what edits made of it. Pure.
package edits

import (
	"regexp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Edits are the compiled rules. They never change. The zero value edits nothing.
type Edits struct {
	requests rules[requestRule, Request]
	results  rules[resultRule, Result]
}

// rules are those of the operator and those of the locked folder.
type rules[R, E any] struct{ own, locked []compiled[R, E] }

// compiled is a rule that can be tried.
type compiled[R, E any] struct {
	Rule
	says   R
	steps  []step                // one for each of its texts
	holds  func(E) (bool, error) // nil: always
	locked bool
}

// Rule is what names a rule.
type Rule struct {
	Place string // file:line
	File  string
	ID    string
}

// Done is what came of the rules for one request or result.
type Done struct {
	Made   []Rule  // the rules that changed something
	Failed []error // of conditions
}

// made notes a rule once.
func (d *Done) made(r Rule) {
	for _, known := range d.Made {
		if known == r {
			return
		}
	}
	d.Made = append(d.Made, r)
}

// Request is what conditions of requests see.
type Request struct {
	Tools    []string `expr:"tools" doc:"The names of the offered tools."`
	User     string   `expr:"user" doc:"What the user wrote last, up to 4 KiB."`
	System   string   `expr:"system" doc:"The first system message, up to 64 KiB."`
	Messages int      `expr:"messages" doc:"How many messages the request has."`
	Size     int      `expr:"size" doc:"How many bytes the request has."`
	policy.Subject
}

// Result is what conditions of results see.
type Result struct {
	Tool   string         `expr:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" doc:"The arguments of its call, for example args.path."`
	Text   string         `expr:"text" doc:"What the tool gave."`
	Size   int            `expr:"size" doc:"How many characters that is."`
	Failed bool           `expr:"failed" doc:"true means that the tool failed. Of a result that a gateway sends, its text must say so: it begins with the word error, or is an object with an error or a status error."`
	policy.Subject
}

// holding are the rules that hold. A condition that fails while it runs does not; in the locked
// folder it does, since what it edits is to be kept away.
func (r rules[R, E]) holding(env E, done *Done) (own, locked []compiled[R, E]) {
	pick := func(from []compiled[R, E]) (out []compiled[R, E]) {
		for _, c := range from {
			yes, err := true, error(nil)
			if c.holds != nil {
				yes, err = c.holds(env)
			}
			if err != nil {
				done.Failed = append(done.Failed, err)
				yes = c.locked
			}
			if yes {
				out = append(out, c)
			}
		}
		return out
	}
	return pick(r.own), pick(r.locked)
}

// all are the rules of both.
func (r rules[R, E]) all() []compiled[R, E] { return slices.Concat(r.own, r.locked) }

// none reports whether there is no rule at all.
func (r rules[R, E]) none() bool { return len(r.own)+len(r.locked) == 0 }

// Rules are all rules, in the order of the files, with their places.
func (e *Edits) Rules() (out []Rule) {
	for _, r := range e.requests.all() {
		out = append(out, r.Rule)
	}
	for _, r := range e.results.all() {
		out = append(out, r.Rule)
	}
	return out
}

// Compiler is what a loader lends to Compile.
type Compiler struct {
	Pattern func(rulefile.Text) *regexp.Regexp // nil where it is wrong, which it reports
	Report  func(at rulefile.Place, code, msg, hint string)
	Request func(*rulefile.Text) func(Request) (bool, error)
	Result  func(*rulefile.Text) func(Result) (bool, error)
}
