package ruleset

import (
	"maps"
	"path"
	"slices"

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
	runsFile        = "runs.yaml"
	resultsFile     = "results.yaml"
	editsFile       = "edits.yaml"
	referencesFile  = "references.yaml"
	gatewayFilename = "gateway.yaml"
	execFilename    = "exec.yaml"
	pathsFilename   = "paths.yaml"
	urlsFilename    = "urls.yaml"
	experimentsFile = "experiments.yaml"
)

var ruleFiles = []string{strategiesFile, evidenceFile, aliasesFile, argumentsFile, limitsFile, serversFile,
	modelsFile, recoveryFile, runsFile, resultsFile, editsFile, referencesFile, gatewayFilename, execFilename,
	pathsFilename, urlsFilename, experimentsFile}

// FileNames are the files that a folder of rules must hold.
func FileNames() []string { return slices.Clone(ruleFiles) }

// names checks that exactly the rule files are there.
func (l *loader) names() {
	for _, name := range ruleFiles {
		text, ok := l.files[name]
		if slices.Contains(later, name) && text == rulefile.Lacking(name) {
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile,
				Warning: true, Msg: "the folder lacks this file, so the built-in one counts",
				Hint: "it came with a later version; copy it from: gpt-oss-executor init ANOTHER-FOLDER"})
		}
		if !ok {
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile,
				Msg:  "this file is missing",
				Hint: "write the default ones with: gpt-oss-executor init DIR"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		switch main := rulefile.ExtraOf(name); {
		case path.Dir(name) == rulefile.ExtraFolder && !slices.Contains(ruleFiles, main):
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile,
				Msg: "this says more of no rule file",
				Hint: "name it after one, with a word of your own, as in exec.ours.yaml; " +
					rulefile.DidYouMean(main, ruleFiles)})
		case path.Dir(name) == "." && path.Ext(name) == ".yaml" && !slices.Contains(ruleFiles, name):
			hint := rulefile.DidYouMean(name, ruleFiles)
			if extra := path.Join(rulefile.ExtraFolder, name); slices.Contains(ruleFiles,
				rulefile.ExtraOf(extra)) {
				hint = "put it into the folder extra: " + extra
			}
			l.problems = append(l.problems, rulefile.Problem{File: name, Code: rulefile.CodeFile,
				Msg: "no rule file has this name", Hint: hint})
		}
	}
}
