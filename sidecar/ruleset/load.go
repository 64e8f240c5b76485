package ruleset

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// effects are the keys of which a rule about calls has one.
var effects = []string{"allow", "audit", "unsure", "ask", "deny"}

func (r Loader) shape() rulefile.Shape {
	return rulefile.Shape{Names: r.FileNames(), OneOf: [][]string{effects, {"chars", "formula"}},
		Gone: map[string]string{
			"builtin/packs/formats.yaml": "leave it out: a profile with families: true, as default is, reads them"}}
}

// floor are files of the program that stay in force under a locked folder, whatever the operator changes.
var floor = []string{argumentsFile, pathsFilename, urlsFilename}

// Loader compiles rule files, including the sections of parts.
type Loader struct {
	Sections []Section
	Compiled *Compiled // cache; nil: none
}

// Source returns an operator's folder over the program's own files, under a locked folder. Either may be
// empty.
func (r Loader) Source(dir, policy string, builtin rulefile.Files) rulefile.Source {
	return rulefile.Source{Dir: dir, Policy: policy, Builtin: builtin, Floor: floor, Names: r.FileNames()}
}

// Format formats a rule file, as rulefile.Format does.
func Format(name, text string) (string, *rulefile.Problem) {
	return rulefile.Format(name, text, cond.Parses)
}

// Load compiles the files, tries every example and runs every test. It reports all problems that it finds; if
// one is more than a warning, the set is nil.
func (r Loader) Load(f rulefile.Files) (*Set, rulefile.Problems) {
	if r.Compiled == nil {
		return r.load(f, false)
	}
	return r.Compiled.load(f.Version(), func() (*Set, rulefile.Problems) { return r.load(f, false) })
}

// LoadShipped is Load for the program's own rules. Their examples and tests passed when it was built, so a
// start does not wait for them. It does not warn about sections of parts that this program was built without.
func (r Loader) LoadShipped(f rulefile.Files) (*Set, rulefile.Problems) {
	l := r.prepare(f, true)
	if l.problems = l.problems.Sorted(); l.problems.Fatal() {
		return nil, l.problems
	}
	return l.set, nil
}

// Tighten is Load for a locked folder that has changed. Failures of its tests are warnings: they keep out
// edits of the operator, but not the rest of the folder.
func (r Loader) Tighten(f rulefile.Files) (*Set, rulefile.Problems) { return r.load(f, true) }

func (r Loader) load(f rulefile.Files, tightening bool) (*Set, rulefile.Problems) {
	l, mine := r.examine(f)
	mine.tryTests()
	if l != mine {
		l.tryTests()
		for i := range l.problems {
			p := &l.problems[i]
			if isLocked := strings.HasPrefix(p.File, lockedName(rulefile.TestFolder+"/")); isLocked &&
				tightening || !isLocked && p.Code == codeTest {
				p.Warning = true
			}
		}
		l.problems = append(l.problems, mine.problems...)
	}
	l.lint()
	if !f.HasFolder(rulefile.ArmFolder) {
		l.variants(tightening)
	}
	if l.problems = l.problems.Sorted(); l.problems.Fatal() {
		return nil, l.problems
	}
	return l.set, l.problems
}

// examine reads every file and tries every example. The operator's are tried on the operator's files alone
// (mine): one that the locked folder breaks must not keep that from taking effect. Without a locked folder, l
// is mine.
func (r Loader) examine(f rulefile.Files) (l, mine *loader) {
	own, locks := f.Split()
	mine = r.prepare(own, false)
	mine.tryExamples(mine.examples, strategiesFile, evidenceFile, aliasesFile, argumentsFile, limitsFile,
		editsFile, referencesFile, execFilename, pathsFilename, urlsFilename)
	if len(locks) == 0 {
		return mine, mine
	}
	l = r.prepare(f, false)
	l.covered, l.set.Counts.Examples = mine.covered, mine.set.Counts.Examples
	l.tryExamples(l.locked.examples, lockedName(editsFile), lockedName(execFilename),
		lockedName(pathsFilename), lockedName(urlsFilename))
	return l, mine
}

// prepare reads every file and tries nothing.
func (r Loader) prepare(f rulefile.Files, trusted bool) *loader {
	l := &loader{
		Loader: r, files: f, trusted: trusted, templates: map[string]*prompt.Prompt{},
		trees: map[string]*rulefile.Tree{},
		docs:  map[string]any{}, keys: map[string]any{}, covered: map[string][2]int{},
		claimed: map[string]string{},
		single:  map[string]*parse.Strategies{},
		set: &Set{
			Version: f.Version(), Tools: &tools.Rules{}, Prompts: map[string]*prompt.Prompt{},
			profiles: map[string]*parse.Strategies{}, conditions: map[string]rulefile.Text{},
			barred: map[string]string{},
		},
	}
	l.checkNames()
	l.readLock()
	l.takeLimits()
	l.aliases()
	l.arguments()
	l.evidence()
	l.strategies()
	l.families()
	l.servers()
	l.prompts()
	l.styles()
	l.models()
	l.recovery()
	l.results()
	l.edits()
	l.references()
	l.programs()
	l.policies()
	l.agents()
	l.sections()
	l.replyTests()
	l.set.forAgents()
	return l
}

// tryTests runs the tests if the files that they need are valid.
func (l *loader) tryTests() {
	if !l.testsRun() {
		return
	}
	l.inTests = true
	for _, t := range l.tests {
		l.problems = append(l.problems, l.try(t)...)
	}
	l.set.Counts.Tests = len(l.tests)
}

// tryExamples tries examples if the files that they need are valid.
func (l *loader) tryExamples(examples []func(), needs ...string) {
	if !l.clean(needs...) {
		return
	}
	for _, try := range examples {
		try()
	}
	l.set.Counts.Examples += len(examples)
}

// loader is the state of one Load.
type loader struct {
	Loader
	files       rulefile.Files
	trusted     bool // the program's own files, which were tried when it was built
	set         *Set
	problems    rulefile.Problems
	trees       map[string]*rulefile.Tree // of the rule files
	templates   map[string]*prompt.Prompt // prompts that are templates, by name
	strategyDoc strategyFile              // strategies.yaml
	compiled    []parse.Strategy          // strategies of strategies.yaml
	claimed     map[string]string         // words of model names → the family
	phrases     []parse.Phrase            // of arguments.yaml
	examples    []func()                  // to be tried when everything is compiled
	tests       []replyTest               // to be run after them
	covered     map[string][2]int         // place of a rule → hits by examples, by tests
	locked      locked
	single      map[string]*parse.Strategies // one strategy each, for its examples, by its place
	rowsSum     string                       // version of the rows of programs
	inTests     bool                         // examples are done
	keys        map[string]any               // keys of limits.yaml → pointers to their values
	docs        map[string]any               // decoded files, for lint
	regexps     []rulefile.Text              // valid regular expressions, for lint
}

// report adds a problem, unless the place is unknown: then the value could not be read, which has been
// reported.
func (l *loader) report(at rulefile.Place, code, msg, hint string) {
	if !at.Known() {
		return
	}
	l.problems = append(l.problems, at.Problem(code, msg, hint))
}

// reject adds a problem with the value of a text.
func (l *loader) reject(t rulefile.Text, msg, hint string) {
	l.report(t.All(), rulefile.CodeValue, msg, hint)
}

// clean reports whether the files, and what they include, have no errors.
func (l *loader) clean(names ...string) bool {
	return !slices.ContainsFunc(l.problems, func(p rulefile.Problem) bool {
		return !p.Warning && slices.ContainsFunc(names, func(name string) bool {
			return name == p.File || l.trees[name] != nil && slices.Contains(l.trees[name].Includes(), p.File)
		})
	})
}

// decodeFile decodes a file; a missing one gives the zero value.
func decodeFile[T any](l *loader, name string) (out T) {
	l.decode(name, &out, false)
	return out
}

// decode decodes a file into out, a pointer to a struct that may hold values. A partial file needs only
// version.
func (l *loader) decode(name string, out any, partial bool) {
	if !l.files.Has(name) {
		return
	}
	l.set.Counts.Files++
	l.trees[name] = rulefile.ReadTree(l.files, name, l.shape())
	found := slices.DeleteFunc(l.trees[name].Decode(out, partial), func(p rulefile.Problem) bool {
		return p.Warning && strings.HasPrefix(p.File, rulefile.BuiltinFolder+"/") // not the operator's
	})
	l.problems = append(l.problems, found...)
	l.docs[name] = reflect.ValueOf(out).Elem().Interface()
	l.set.Taken = append(l.set.Taken, l.trees[name].Taken()...)
}

// when compiles a condition; nil without one, or if it is invalid.
func when[E any](l *loader, t *rulefile.Text, words cond.Lists) func(E) (bool, error) {
	if t == nil || !t.At.Known() {
		return nil
	}
	l.set.Counts.Conditions++
	holds, problem := cond.Compile[E](*t, words)
	if problem != nil {
		l.problems = append(l.problems, *problem)
	}
	return holds
}

// pattern compiles a regular expression, with flags such as (?i) in front; nil if it is invalid.
func (l *loader) pattern(t rulefile.Text, flags string) *regexp.Regexp {
	l.set.Counts.Patterns++
	if cond.LargePattern(flags + t.Value) {
		l.report(t.All(), cond.CodeRegexp, cond.PatternTooLarge, "use + or * instead of large counts")
		return nil
	}
	re, err := regexp.Compile(flags + t.Value)
	if err == nil {
		l.regexps = append(l.regexps, t)
		return re
	}
	at, msg := t.All(), err.Error()
	var se *syntax.Error
	if errors.As(err, &se) {
		msg = se.Code.String()
		if before, _, found := strings.Cut(t.Value, se.Expr); found && se.Expr != "" {
			from := len([]rune(before))
			at = t.Span(from, from+len([]rune(se.Expr)))
		}
	}
	l.report(at, cond.CodeRegexp, msg, "the syntax is that of RE2, without look-around and back-references")
	return nil
}

// checkOneOf checks that a text is one of the words.
func (l *loader) checkOneOf(t rulefile.Text, what string, words []string) bool {
	if slices.Contains(words, t.Value) {
		return true
	}
	l.report(t.All(), rulefile.CodeRef, fmt.Sprintf("there is no %s %s", what, t.Value),
		rulefile.DidYouMean(t.Value, words))
	return false
}

// values returns the strings of a list.
func values(list []rulefile.Text) []string { return mapSlice(list, rulefile.Text.String) }

// Compiled caches results of Load for recent versions, so that a checked edit is not tried again when it
// comes into force, and an edit compiles only the rules about calls, and tries only their examples, that it
// changes. It is safe for concurrent use.
type Compiled struct {
	mu       sync.Mutex
	limit    int
	versions *recent.Map[func() (*Set, rulefile.Problems)]
	examples *recent.Shared[bool] // those that passed, by everything they depend on
	tests    *recent.Shared[any]  // of conditions, by everything they depend on
}

// maxExamples and maxTests limit the cache, for a few folders.
const maxExamples, maxTests = 1 << 14, 1 << 11

// NewCompiled caches the results of that many versions. With 0, each Load returns its own set.
func NewCompiled(limit int) *Compiled {
	return &Compiled{limit: limit, versions: recent.New[func() (*Set, rulefile.Problems)](limit, nil),
		examples: recent.NewShared[bool](maxExamples), tests: recent.NewShared[any](maxTests)}
}

// predicate compiles the condition of a rule about calls; key is everything it depends on.
func predicate[E any](c *Compiled, key string, t rulefile.Text,
	words cond.Lists) (func(*E) (bool, error), *rulefile.Problem) {
	if c == nil {
		return cond.Predicate[E](t, words)
	}
	kept, _ := c.tests.Get(key)
	test, ok := kept.(func(*E) (bool, error))
	if !ok {
		made, problem := cond.Test[E](t, words)
		if problem != nil {
			return nil, problem
		}
		test = made
		c.tests.Swap(key, test)
	}
	return cond.Placed(test, t.At), nil
}

// tryOnce reports whether an example passed before; otherwise it tries it.
func (c *Compiled) tryOnce(example string, try func() bool) (before bool) {
	if c == nil {
		try()
		return false
	}
	if before, _ = c.examples.Get(example); !before && try() {
		c.examples.Swap(example, true)
	}
	return before
}

// load returns the result for a version, and calls load for a new one.
func (c *Compiled) load(version string, load func() (*Set, rulefile.Problems)) (*Set, rulefile.Problems) {
	if c.limit == 0 {
		return load()
	}
	c.mu.Lock()
	result, made := c.versions.Use(version)
	if made {
		*result = sync.OnceValues(load)
	}
	once := *result
	c.mu.Unlock()
	set, problems := once()
	return set, slices.Clone(problems)
}
