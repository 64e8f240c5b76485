package ruleset

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The files of a rule folder.
const (
	strategiesFile = "strategies.yaml"
	evidenceFile   = "evidence.yaml"
	aliasesFile    = "aliases.yaml"
	argumentsFile  = "arguments.yaml"
	limitsFile     = "limits.yaml"
	serversFile    = "servers.yaml"
	modelsFile     = "models.yaml"
	recoveryFile   = "recovery.yaml"
	resultsFile    = "results.yaml"
	editsFile      = "edits.yaml"
	referencesFile = "references.yaml"
	execFilename   = "exec.yaml"
	pathsFilename  = "paths.yaml"
	urlsFilename   = "urls.yaml"
)

var ruleFiles = []string{strategiesFile, evidenceFile, aliasesFile, argumentsFile, limitsFile, serversFile,
	modelsFile, recoveryFile, resultsFile, editsFile, referencesFile, execFilename, pathsFilename,
	urlsFilename}

// FileNames returns the files that a folder of rules may hold.
func (r Loader) FileNames() []string { return append(slices.Clip(ruleFiles), r.files()...) }

// files returns the files of parts.
func (r Loader) files() (names []string) {
	for _, s := range r.Sections {
		if s.isFile() {
			names = append(names, s.Name)
		}
	}
	return names
}

// reportFile adds a problem with a whole file.
func (l *loader) reportFile(name, code, msg, hint string) {
	l.problems = append(l.problems, rulefile.Problem{File: name, Code: code, Msg: msg, Hint: hint})
}

// checkNames reports missing rule files, and files with other names.
func (l *loader) checkNames() {
	const hint = "write some with: gpt-oss-executor init DIR"
	all := l.FileNames()
	for _, name := range all {
		if _, ok := l.files[name]; !ok {
			l.reportFile(name, rulefile.CodeFile, "this file is missing", hint)
		}
	}
	if len(l.files.Own()) == 0 {
		l.reportFile(all[0], rulefile.CodeFile, "the folder has no rule file", hint)
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		main := rulefile.ExtraOf(name)
		if why := built.Without(built.RuleFile, cmp.Or(main, name)); why != "" && !l.has(cmp.Or(main, name)) {
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile,
				Warning: true, Msg: why, Hint: "it is not read"})
			continue
		}
		switch {
		case path.Dir(name) == rulefile.ExtraFolder && !slices.Contains(all, main):
			l.reportFile(name, rulefile.CodeFile, "this says more of no rule file",
				"name it after one, with a word of your own, as in exec.ours.yaml; "+rulefile.DidYouMean(main, all))
		case path.Dir(name) == "." && path.Ext(name) == ".yaml" && !slices.Contains(all, name):
			hint := rulefile.DidYouMean(name, all)
			if extra := path.Join(rulefile.ExtraFolder, name); slices.Contains(all,
				rulefile.ExtraOf(extra)) {
				hint = "put it into the folder extra: " + extra
			}
			l.reportFile(name, rulefile.CodeFile, "no rule file has this name", hint)
		}
	}
}

var plainIDs = regexp.MustCompile(`^[\w.-]{1,64}$`)

// checkID checks an id for logs and metrics.
func (l *loader) checkID(id rulefile.Text) {
	if !plainIDs.MatchString(id.Value) {
		l.reject(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has at most 64 letters, digits, - _ and .")
	}
}

// checkShownID checks an id that callers see, which may have any letters and symbols.
func (l *loader) checkShownID(id rulefile.Text) {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if id.Value == "" || strings.ContainsFunc(id.Value, odd) {
		l.reject(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has no blanks and no control characters")
	}
}

// checkUnique reports duplicate names; what says what they name.
func (l *loader) checkUnique(what string, ids []rulefile.Text) {
	first := map[string]rulefile.Place{}
	for _, id := range ids {
		if !id.At.Known() {
			continue // it could not be read, which is reported
		}
		if at, twice := first[id.Value]; twice {
			l.report(id.All(), rulefile.CodeDup, fmt.Sprintf("the %s %s stands here twice", what, id.Value),
				"it stands "+relativePlace(at, id.At)+", too")
			continue
		}
		first[id.Value] = id.At
	}
}

// relativePlace describes a place, seen from another one.
func relativePlace(at, from rulefile.Place) string {
	if at.File() == from.File() {
		return "in line " + strconv.Itoa(at.Line())
	}
	return "at " + at.String()
}

// mapSlice applies of to each entry of a list.
func mapSlice[A, B any](list []A, of func(A) B) []B {
	out := make([]B, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}
