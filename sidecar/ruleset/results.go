package ruleset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/refer"
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

// edits compiles edits.yaml, and that of the locked folder.
func (l *loader) edits() {
	own, locked := decodeFile[prompt.EditsFile](l, editsFile),
		decodeFile[prompt.EditsFile](l, lockedName(editsFile))
	for _, f := range []prompt.EditsFile{own, locked} {
		l.checkUnique("id", f.IDs())
		for _, id := range f.IDs() {
			l.checkID(id)
		}
	}
	l.set.Edits = prompt.CompileEdits(own, locked, prompt.EditsCompiler{
		Pattern: func(t rulefile.Text) *regexp.Regexp { return l.pattern(t, "") },
		Report:  l.report,
		Request: func(t *rulefile.Text) func(prompt.RequestFacts) (bool, error) {
			return when[prompt.RequestFacts](l, t, nil)
		},
		Result: func(t *rulefile.Text) func(prompt.ResultFacts) (bool, error) {
			return when[prompt.ResultFacts](l, t, nil)
		},
	})
	for _, r := range l.set.Edits.Rules() {
		l.set.book.put(Rule(r))
	}
	for _, e := range l.set.Edits.Examples() {
		to := &l.examples
		if e.Locked {
			to = &l.locked.examples
		}
		*to = append(*to, func() { l.tryEdit(e) })
	}
}

func (l *loader) tryEdit(e prompt.EditsExample) {
	wrong, hit := e.Try()
	if hit {
		l.countHit(e.Rule.Place)
	}
	if wrong != "" {
		l.report(e.At, codeExample, wrong, "")
	}
}

// Unremarked removes remarks, which only describe a command, from the arguments of a call. In a tool that
// runs no command a description may be its instructions, and stays.
func (s *Set) Unremarked(tool, args string) string {
	named := func(remark string) bool { return strings.Contains(args, remark) }
	if !slices.ContainsFunc(s.Tools.Remarks, named) || s.Tools.Class(tool) != tools.Exec {
		return args
	}
	if call, err := policy.CallOf(tool, string(tools.Exec), []byte(args)); err != nil || call.Command == "" {
		return args
	}
	doc := []byte(args)
	return string(openai.Apply(doc, openai.Remove(doc, openai.Span{To: len(doc)}, func(key []byte) bool {
		return slices.Contains(s.Tools.Remarks, string(key))
	})))
}

// referencesDoc is references.yaml.
type referencesDoc struct {
	rulefile.Head
	Arguments []ReferenceRule   `rule:"arguments,required" doc:"Which arguments are looked at. The first entry that fits a tool and a name counts."`
	Lists     []string          `rule:"lists" doc:"Tools whose results are lists, the best first." eg:"[web_search]"`
	Files     []string          `rule:"files" doc:"Endings that make a name a file, and no address." eg:"[md, txt]"`
	Words     referenceWords    `rule:"words,required" doc:"The words of arguments that stand for something said earlier."`
	Hit       referenceExamples `rule:"hit" doc:"Arguments that stand for something else."`
	Miss      referenceExamples `rule:"miss" doc:"Arguments that say themselves what is meant."`
}

// ReferenceRule says what happens to arguments that refer to something said earlier.
type ReferenceRule struct {
	At      rulefile.Place
	Tools   []string `rule:"tools,required" doc:"The tools, or '*' for every tool." eg:"[web_fetch]"`
	Names   []string `rule:"names,required" doc:"The arguments." eg:"[url]"`
	Kind    string   `rule:"kind,required" one:"url path" doc:"What the arguments are."`
	Resolve string   `rule:"resolve,required" one:"refuse one first" doc:"refuse: the call does not run. one: the only thing that can be meant is taken. first: as one, or the first of a list. Tools that write or execute always get refuse."`
	HTTPS   bool     `rule:"https" doc:"true puts https:// before an address that lacks it."`
}

type referenceWords struct {
	URL     []string       `rule:"url" doc:"A URL is meant." eg:"[link, page]"`
	Path    []string       `rule:"path" doc:"A file is meant." eg:"[file, folder]"`
	Result  []string       `rule:"result" doc:"Either is meant." eg:"[result]"`
	Earlier []string       `rule:"earlier" doc:"Where it stands." eg:"[above, previous]"`
	Blank   []string       `rule:"blank" doc:"It was left to be filled in." eg:"[insert, todo]"`
	Many    []string       `rule:"many" doc:"It cannot be told which one is meant." eg:"[all, next]"`
	Step    []string       `rule:"step" doc:"The number beside it counts calls." eg:"[step]"`
	Order   map[string]int `rule:"order" min:"1" max:"1000" doc:"Which one is meant, from 1." eg:"{first: 1}"`
	Glue    []string       `rule:"glue" doc:"It says nothing." eg:"[the, of]"`
}

type referenceExamples struct {
	URL  []rulefile.Text `rule:"url" doc:"Of arguments that are URLs."`
	Path []rulefile.Text `rule:"path" doc:"Of arguments that are paths."`
}

// References are the rules for arguments that refer to something said earlier.
type References struct {
	Words refer.Words
	Files []string // extensions of names that are no addresses
	rules []ReferenceRule
	lists []string
}

// Of returns the rules for a tool, by the names of its arguments in the order of the file.
func (r *References) Of(tool string) (names []string, rules []ReferenceRule) {
	for _, rule := range r.rules {
		if !slices.Contains(rule.Tools, tool) && !slices.Contains(rule.Tools, every) {
			continue
		}
		for _, name := range rule.Names {
			if !slices.Contains(names, name) {
				names, rules = append(names, name), append(rules, rule)
			}
		}
	}
	return names, rules
}

// List reports whether the results of a tool are lists.
func (r *References) List(tool string) bool { return slices.Contains(r.lists, tool) }

// references reads references.yaml.
func (l *loader) references() {
	f := decodeFile[referencesDoc](l, referencesFile)
	Unused(&Reader{l: l}, f.Arguments, func(r ReferenceRule) rulefile.Place { return r.At },
		func(first, r ReferenceRule) bool {
			return slices.Contains(first.Tools, every) && !slices.ContainsFunc(r.Names,
				func(name string) bool { return !slices.Contains(first.Names, name) })
		})
	words := refer.Words{}
	for _, of := range []struct {
		role  refer.Role
		words []string
	}{
		{refer.Noun, f.Words.URL}, {refer.Noun, f.Words.Path}, {refer.Noun, f.Words.Result}, {refer.Earlier, f.Words.Earlier},
		{refer.Blank, f.Words.Blank}, {refer.Many, f.Words.Many}, {refer.Step, f.Words.Step}, {refer.Glue, f.Words.Glue},
	} {
		for _, w := range of.words {
			words[strings.ToLower(w)] = refer.Word{Role: of.role}
		}
	}
	for w, nth := range f.Words.Order {
		words[strings.ToLower(w)] = refer.Word{Role: refer.Order, Nth: nth}
	}
	l.set.References = References{Words: words, Files: f.Files, rules: f.Arguments, lists: f.Lists}
	for _, ex := range []struct {
		texts []rulefile.Text
		kind  refer.Kind
		want  bool
	}{{f.Hit.URL, refer.URL, true}, {f.Hit.Path, refer.Path, true}, {f.Miss.URL, refer.URL, false},
		{f.Miss.Path, refer.Path, false}} {
		l.examples = append(l.examples, func() { l.tryReferences(words, ex.texts, ex.kind, ex.want) })
	}
}

func (l *loader) tryReferences(words refer.Words, texts []rulefile.Text, kind refer.Kind, want bool) {
	for _, t := range texts {
		if _, got := words.Read(t.Value, kind); got != want {
			msg := "this argument says itself what is meant, by the words of this file"
			if got {
				msg = "this argument stands for something else, by the words of this file"
			}
			l.report(t.All(), codeExample, msg, "")
		}
	}
}
