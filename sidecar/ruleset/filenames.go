package ruleset

import (
	"maps"
	"path"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The files of a rule folder. All of them must be there, but for edits.yaml: folders of
// earlier versions edit nothing.
const (
	strategiesFile  = "strategies.yaml"
	aliasesFile     = "aliases.yaml"
	argumentsFile   = "arguments.yaml"
	limitsFile      = "limits.yaml"
	serversFile     = "servers.yaml"
	modelsFile      = "models.yaml"
	recoveryFile    = "recovery.yaml"
	runsFile        = "runs.yaml"
	resultsFile     = "results.yaml"
	editsFile       = "edits.yaml"
	referencesFile  = "references.yaml"
	gatewayFilename = "gateway.yaml"
	execFilename    = "exec.yaml"
	pathsFilename   = "paths.yaml"
	urlsFilename    = "urls.yaml"
)

var ruleFiles = []string{strategiesFile, aliasesFile, argumentsFile, limitsFile, serversFile, modelsFile, recoveryFile, runsFile, resultsFile, editsFile, referencesFile, gatewayFilename, execFilename, pathsFilename, urlsFilename}

// FileNames are the files that a folder of rules must hold.
func FileNames() []string { return slices.Clone(ruleFiles) }

// names checks that exactly the rule files are there.
func (l *loader) names() {
	if _, ok := l.files[editsFile]; !ok {
		l.files = maps.Clone(l.files)
		l.files[editsFile] = noEdits
	}
	for _, name := range ruleFiles {
		if _, ok := l.files[name]; !ok {
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile, Msg: "this file is missing",
				Hint: "write the default ones with: gpt-oss-executor init DIR"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		switch main := rulefile.ExtraOf(name); {
		case path.Dir(name) == rulefile.ExtraFolder && !slices.Contains(ruleFiles, main):
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile, Msg: "this says more of no rule file",
				Hint: "name it after one, with a word of your own, as in exec.ours.yaml; " + rulefile.DidYouMean(main, ruleFiles)})
		case path.Dir(name) == "." && path.Ext(name) == ".yaml" && !slices.Contains(ruleFiles, name):
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile, Msg: "no rule file has this name",
				Hint: rulefile.DidYouMean(name, ruleFiles)})
		}
	}
}
