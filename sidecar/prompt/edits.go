package prompt

import (
	"regexp"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Edits are the compiled rules. They are immutable. The zero value edits nothing.
type Edits struct {
	requests rules[requestRule, RequestFacts]
	results  rules[resultRule, ResultFacts]
}

// rules are those of the operator and those of the locked folder.
type rules[R, E any] struct{ own, locked []compiled[R, E] }

// compiled is a compiled rule.
type compiled[R, E any] struct {
	editRule
	says   R
	steps  []step                // one for each text
	holds  func(E) (bool, error) // nil: always
	locked bool
}

// editRule identifies a rule.
type editRule struct {
	Place string // file:line
	File  string
	ID    string
}

// EditsDone is the effect of the rules on one request or result.
type EditsDone struct {
	Made   []editRule // rules that changed something
	Failed []error    // of conditions
}

// made records a rule once.
func (d *EditsDone) made(r editRule) {
	for _, known := range d.Made {
		if known == r {
			return
		}
	}
	d.Made = append(d.Made, r)
}

// RequestFacts are the input of conditions of requests.
type RequestFacts struct {
	Tools    []string `expr:"tools" doc:"The names of the offered tools."`
	User     string   `expr:"user" doc:"What the user wrote last, up to 4 KiB."`
	System   string   `expr:"system" doc:"The first system message, up to 64 KiB."`
	Messages int      `expr:"messages" doc:"How many messages the request has."`
	Size     int      `expr:"size" doc:"How many bytes the request has."`
	policy.Subject
}

// ResultFacts are the input of conditions of results.
type ResultFacts struct {
	Tool   string         `expr:"tool" doc:"The name of the tool."`
	Args   map[string]any `expr:"args" doc:"The arguments of its call, for example args.path."`
	Text   string         `expr:"text" doc:"What the tool gave."`
	Size   int            `expr:"size" doc:"How many characters that is."`
	Failed bool           `expr:"failed" doc:"true means that the tool failed. Of a result that a gateway sends, its text must say so: it begins with the word error, or is an object with an error or a status error."`
	policy.Subject
}

// holding returns the rules that apply. One whose condition has an error applies only in the locked
// folder, whose edits keep things secret.
func (r rules[R, E]) holding(env E, done *EditsDone) (own, locked []compiled[R, E]) {
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

// all returns the rules of both.
func (r rules[R, E]) all() []compiled[R, E] { return slices.Concat(r.own, r.locked) }

// none reports whether there is no rule.
func (r rules[R, E]) none() bool { return len(r.own)+len(r.locked) == 0 }

// Rules returns all rules with their places, in the order of the files.
func (e *Edits) Rules() (out []editRule) {
	for _, r := range e.requests.all() {
		out = append(out, r.editRule)
	}
	for _, r := range e.results.all() {
		out = append(out, r.editRule)
	}
	return out
}

// EditsCompiler is what a loader provides to compile rules.
type EditsCompiler struct {
	Pattern func(rulefile.Text) *regexp.Regexp // reports mistakes and returns nil for them
	Report  func(at rulefile.Place, code, msg, hint string)
	Request func(*rulefile.Text) func(RequestFacts) (bool, error)
	Result  func(*rulefile.Text) func(ResultFacts) (bool, error)
}
