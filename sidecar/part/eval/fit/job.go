package fit

import (
	"maps"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// File is the rule file that holds weights.
const File = "evidence.yaml"

// What a job draws if nothing else is said. The shipped weights come of it.
const (
	UsualSeed  = 1
	UsualCount = 16000
)

// Job says what weights are fitted to: so many replies, and labelled ones of an operator. As
// many replies, of the seeds behind them, and every second of the labelled ones are kept to
// judge by.
type Job struct {
	Files rulefile.Files // the rules that replies are read with
	Seed  uint64
	Count int
	Cases []Case
}

// Result is what came of a job.
type Result struct {
	Job
	Old, New   parse.Weights
	Used, Kept Drawn
}

// Run fits weights.
func Run(j Job) (*Result, error) {
	set, old, prior, err := begin(j.Files)
	if err != nil {
		return nil, err
	}
	r := &Result{Job: j, Old: old}
	if r.Used, err = Draw(set, j.Seed, j.Count); err != nil {
		return nil, err
	}
	if r.Kept, err = Draw(set, j.Seed+uint64(j.Count), j.Count); err != nil {
		return nil, err
	}
	for i, c := range j.Cases {
		to := r.Used.All
		if i%2 == 1 {
			to = r.Kept.All
		}
		if err := to.take(set, c); err != nil {
			return nil, err
		}
	}
	r.New = Weights(r.Used.All, prior)
	return r, nil
}

// begin compiles rules with the weights of the prior, whatever they say: so weights that were
// fitted and written give the same ones again. Old are those that they have.
func begin(files rulefile.Files) (set *ruleset.Set, old, prior parse.Weights, err error) {
	if set, err = load(files); err != nil {
		return nil, old, prior, err
	}
	old = set.Strategies("").Weights()
	prior = old
	prior.Of = parse.Prior().Of
	set, err = Under(files, prior)
	return set, old, prior, err
}

// Under are rules with other weights.
func Under(files rulefile.Files, w parse.Weights) (*ruleset.Set, error) {
	text, err := Written(files, w)
	if err != nil {
		return nil, err
	}
	files = maps.Clone(files)
	files[File] = text
	return load(files)
}

// Written is evidence.yaml with other weights; all else in it stays.
func Written(files rulefile.Files, w parse.Weights) (string, error) {
	var numbers []rulefile.Entered
	for s := range parse.Count {
		numbers = append(numbers, rulefile.Entered{Of: s.String(), Value: w.Of[s]})
	}
	return rulefile.Numbers{List: "weights", Name: "sign", Value: "weight"}.Write(File, files[File], numbers)
}

// load compiles rules whose examples and tests need not hold: they are tried where rules are
// checked.
func load(files rulefile.Files) (*ruleset.Set, error) {
	set, problems := ruleset.LoadShipped(files)
	if set == nil {
		return nil, problems
	}
	return set, nil
}
