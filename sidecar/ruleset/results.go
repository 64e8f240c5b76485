package ruleset

import (
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// resultsDoc is results.yaml.
type resultsDoc struct {
	rulefile.Head
	Results []resultRule `rule:"results,required" doc:"How much of the results of a tool is kept. The first entry of a mode that fits counts."`
}

// resultRule is how much of a result is kept.
type resultRule struct {
	Mode    string        `rule:"mode" one:"executor provider" doc:"executor: results of runs. provider: results that the gateway sends. If left out: both."`
	Tool    rulefile.Text `rule:"tool,required" doc:"The name of the tool, or '*' for every tool." eg:"web_fetch"`
	Chars   int           `rule:"chars" min:"200" max:"100000000" doc:"How many characters at most, with what is said about the rest." eg:"3000"`
	Formula rulefile.Text `rule:"formula" doc:"In place of chars: a formula over window (tokens) and length (characters)." eg:"'max(3000, window * 0.3)'"`
	Head    float64       `rule:"head" min:"0" max:"1" doc:"The share of chars that is kept from the beginning. The rest is from the end. If left out: 1." eg:"0.7"`
	Lines   *resultLines  `rule:"lines" doc:"Of texts with more lines, so many are kept."`
	Items   int           `rule:"items" min:"1" max:"10000" doc:"How many items of a list in a JSON document are kept." eg:"5"`
	Strings int           `rule:"strings" min:"10" max:"1000000" doc:"How many characters of a text in a JSON document are kept." eg:"200"`
	Hint    string        `rule:"hint" doc:"How to get what is left out. The model reads it." eg:"Read on with offset and limit."`

	chars func(ResultEnv) (float64, error)
}

type resultLines struct {
	Head int `rule:"head,required" min:"0" max:"1000000" doc:"Lines from the beginning." eg:"100"`
	Tail int `rule:"tail,required" min:"0" max:"1000000" doc:"Lines from the end." eg:"20"`
}

// ResultEnv is what a formula of results.yaml sees.
type ResultEnv struct {
	Window int `expr:"window" doc:"How many tokens the model takes. 0 means that it is unknown."`
	Length int `expr:"length" doc:"How many characters the result has."`
}

// Results says how much of results is kept.
type Results struct{ rules []resultRule }

// every stands for all tools.
const every = "*"

// The modes of results.
const (
	OfRuns    = "executor"
	OfGateway = "provider"
)

// Bounds returns the bounds of one result; none without a rule.
func (r *Results) Bounds(mode, tool string, window, length int) tools.TrimBounds {
	i := slices.IndexFunc(r.rules, func(rule resultRule) bool {
		return (rule.Mode == "" || rule.Mode == mode) && (rule.Tool.Value == tool || rule.Tool.Value == every)
	})
	if i < 0 {
		return tools.TrimBounds{}
	}
	rule := &r.rules[i]
	b := tools.TrimBounds{Chars: rule.Chars, Head: rule.Head, Items: rule.Items, Strings: rule.Strings,
		Hint: rule.Hint}
	if rule.chars != nil {
		b.Chars = tools.MinTrim
		if n, err := rule.chars(ResultEnv{window, length}); err == nil {
			b.Chars = max(int(min(n, 1<<30)), tools.MinTrim)
		}
	}
	if rule.Lines != nil {
		b.HeadLines, b.TailLines = rule.Lines.Head, rule.Lines.Tail
	}
	return b
}

// results reads results.yaml, and tries each formula for known and unknown windows.
func (l *loader) results() {
	f := decodeFile[resultsDoc](l, resultsFile)
	Unused(&Reader{l: l}, f.Results, func(r resultRule) rulefile.Place { return r.Tool.All() },
		func(first, r resultRule) bool {
			return first.Tool.Value == every && (first.Mode == "" || first.Mode == r.Mode)
		})
	for i := range f.Results {
		rule := &f.Results[i]
		if rule.Formula.At.Known() == (rule.Chars > 0) {
			l.reject(rule.Tool, "a result has either chars or formula", "")
			continue
		}
		if rule.Chars > 0 {
			continue
		}
		l.set.Counts.Conditions++
		formula, problem := cond.Number[ResultEnv](rule.Formula)
		if problem != nil {
			l.problems = append(l.problems, *problem)
			continue
		}
		rule.chars = formula
		for _, env := range []ResultEnv{{}, {Length: 100_000}, {Window: 131072, Length: 100_000}} {
			if n, err := formula(env); err != nil || n < 1 {
				why := "it gives less than 1"
				if err != nil {
					why = err.Error()
				}
				l.reject(rule.Formula, "this formula does not do for window "+
					strconv.Itoa(env.Window)+" and length "+strconv.Itoa(env.Length)+": "+why, "")
				break
			}
		}
	}
	l.set.Results = Results{f.Results}
}
