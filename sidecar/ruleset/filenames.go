package ruleset

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The files of a rule folder. All of them must be there, but for those that came later.
const (
	strategiesFile  = "strategies.yaml"
	evidenceFile    = "evidence.yaml"
	aliasesFile     = "aliases.yaml"
	argumentsFile   = "arguments.yaml"
	limitsFile      = "limits.yaml"
	serversFile     = "servers.yaml"
	modelsFile      = "models.yaml"
	recoveryFile    = "recovery.yaml"
	resultsFile     = "results.yaml"
	editsFile       = "edits.yaml"
	referencesFile  = "references.yaml"
	execFilename    = "exec.yaml"
	pathsFilename   = "paths.yaml"
	urlsFilename    = "urls.yaml"
	experimentsFile = "experiments.yaml"
)

var ruleFiles = []string{strategiesFile, evidenceFile, aliasesFile, argumentsFile, limitsFile, serversFile,
	modelsFile, recoveryFile, resultsFile, editsFile, referencesFile, execFilename, pathsFilename,
	urlsFilename, experimentsFile}

// FileNames are the files that a folder of rules must hold.
func (r Loader) FileNames() []string { return append(slices.Clip(ruleFiles), r.files()...) }

// files are those of parts.
func (r Loader) files() (names []string) {
	for _, s := range r.Sections {
		if s.isFile() {
			names = append(names, s.Name)
		}
	}
	return names
}

// file adds a problem with a file as a whole.
func (l *loader) file(name string, warning bool, msg, hint string) {
	l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile, Warning: warning,
		Msg: msg, Hint: hint})
}

// names checks that exactly the rule files are there.
func (l *loader) names() {
	all, later := l.FileNames(), l.later()
	for _, name := range all {
		text, ok := l.files[name]
		if slices.Contains(later, name) && text == rulefile.Lacking(name) {
			l.file(name, true, "the folder lacks this file, so the built-in one counts",
				"it came with a later version; copy it from: gpt-oss-executor init ANOTHER-FOLDER")
		}
		if !ok {
			l.file(name, false, "this file is missing", "write the default ones with: gpt-oss-executor init DIR")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		main := rulefile.ExtraOf(name)
		if why := built.Without(built.RuleFile, cmp.Or(main, name)); why != "" && !l.has(cmp.Or(main, name)) {
			l.file(name, true, why, "it is not read")
			continue
		}
		switch {
		case path.Dir(name) == rulefile.ExtraFolder && !slices.Contains(all, main):
			l.file(name, false, "this says more of no rule file",
				"name it after one, with a word of your own, as in exec.ours.yaml; "+rulefile.DidYouMean(main, all))
		case path.Dir(name) == "." && path.Ext(name) == ".yaml" && !slices.Contains(all, name):
			hint := rulefile.DidYouMean(name, all)
			if extra := path.Join(rulefile.ExtraFolder, name); slices.Contains(all,
				rulefile.ExtraOf(extra)) {
				hint = "put it into the folder extra: " + extra
			}
			l.file(name, false, "no rule file has this name", hint)
		}
	}
}
