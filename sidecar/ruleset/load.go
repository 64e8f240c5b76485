package ruleset

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The files of a rule folder. All of them must be there.
const (
	strategiesFile = "strategies.yaml"
	aliasesFile    = "aliases.yaml"
	argumentsFile  = "arguments.yaml"
	limitsFile     = "limits.yaml"
	serversFile    = "servers.yaml"
	modelsFile     = "models.yaml"
	recoveryFile   = "recovery.yaml"
)

var ruleFiles = []string{strategiesFile, aliasesFile, argumentsFile, limitsFile, serversFile, modelsFile, recoveryFile}

// Load compiles the files and tries every example. It reports all problems it
// can find; where one of them is more than a warning, the set is nil.
func Load(f Files) (*Set, Problems) {
	l := loader{files: f, set: &Set{
		Version: f.Version(), Tools: &tools.Rules{}, Prompts: map[string]string{}, profiles: map[string]*parse.Strategies{},
	}, docs: map[string]any{}}
	l.names()
	l.limits()
	l.aliases()
	l.arguments()
	l.strategies()
	l.servers()
	l.prompts()
	l.models()
	l.recovery()
	if l.clean(strategiesFile, aliasesFile, argumentsFile, limitsFile) {
		for _, try := range l.examples {
			try()
		}
		l.set.Counts.Examples += len(l.examples)
	}
	l.lint()
	l.problems = l.problems.sorted()
	if l.problems.Fatal() {
		return nil, l.problems
	}
	return l.set, l.problems
}

// loader is the state of one Load.
type loader struct {
	files    Files
	set      *Set
	problems Problems
	phrases  []parse.Phrase // of arguments.yaml, for the strategies that read prose
	examples []func()       // tried when everything they need is compiled
	docs     map[string]any // each file as it was decoded, for lint
	regexps  []text         // every regular expression that compiles, for lint
}

func (l *loader) report(at place, code, msg, hint string) {
	l.problems = append(l.problems, at.problem(code, msg, hint))
}

// clean reports whether none of the files has more than warnings.
func (l *loader) clean(names ...string) bool {
	return !slices.ContainsFunc(l.problems, func(p Problem) bool { return !p.Warning && slices.Contains(names, p.File) })
}

// names checks that exactly the rule files are there.
func (l *loader) names() {
	for _, name := range ruleFiles {
		if _, ok := l.files[name]; !ok {
			l.problems = append(l.problems, Problem{File: name, Code: codeFile, Msg: "this file is missing",
				Hint: "write the default ones with: gpt-oss-executor init DIR"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if path.Ext(name) == ".yaml" && !slices.Contains(ruleFiles, name) {
			l.problems = append(l.problems, Problem{File: name, Code: codeFile, Msg: "no rule file has this name",
				Hint: didYouMean(name, ruleFiles)})
		}
	}
}

// decodeFile decodes one of the files; a missing one is the zero value.
func decodeFile[T any](l *loader, name string) T {
	doc, ok := l.files[name]
	if !ok {
		var zero T
		return zero
	}
	l.set.Counts.Files++
	out, problems := decode[T](name, doc)
	l.problems = append(l.problems, problems...)
	l.docs[name] = out
	return out
}

// prompts takes the texts of the prompts folder.
func (l *loader) prompts() {
	for name, text := range l.files {
		if style, ok := strings.CutPrefix(name, promptFolder+"/"); ok {
			l.set.Prompts[strings.TrimSuffix(style, path.Ext(style))] = text
		}
	}
}

// when compiles a condition; nil without one, or with one that is wrong.
func when[E any](l *loader, t *text) func(E) (bool, error) {
	if t == nil {
		return nil
	}
	l.set.Counts.Conditions++
	cond, problem := condition[E](*t)
	if problem != nil {
		l.problems = append(l.problems, *problem)
	}
	return cond
}

// pattern compiles a regular expression; nil where it is wrong.
func (l *loader) pattern(t text) *regexp.Regexp {
	l.set.Counts.Patterns++
	if largePattern(t.Value) {
		l.report(t.all(), codeRegexp, errLargePattern, "use + or * instead of large counts")
		return nil
	}
	re, err := regexp.Compile(t.Value)
	if err == nil {
		l.regexps = append(l.regexps, t)
		return re
	}
	at, msg := t.all(), err.Error()
	var se *syntax.Error
	if errors.As(err, &se) {
		msg = se.Code.String()
		if before, _, found := strings.Cut(t.Value, se.Expr); found && se.Expr != "" {
			from := len([]rune(before))
			at = t.span(from, from+len([]rune(se.Expr)))
		}
	}
	l.report(at, codeRegexp, msg, "the syntax is that of RE2, without look-around and back-references")
	return nil
}

// known checks that a text names one of the words.
func (l *loader) known(t text, what string, words []string) bool {
	if slices.Contains(words, t.Value) {
		return true
	}
	l.report(t.all(), codeRef, fmt.Sprintf("there is no %s %s", what, t.Value), didYouMean(t.Value, words))
	return false
}

// unique reports ids that stand twice.
func (l *loader) unique(ids []text) {
	first := map[string]place{}
	for _, id := range ids {
		if at, twice := first[id.Value]; twice {
			l.report(id.all(), codeDup, fmt.Sprintf("the id %s stands here twice", id.Value), fmt.Sprintf("it stands in line %d, too", at.line))
			continue
		}
		first[id.Value] = id.at
	}
}

// values are the plain strings of a list.
func values(list []text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return out
}
