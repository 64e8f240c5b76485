package ruleset

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// TestShippedRulesGiveNoWarning: a warning about our own rules is a mistake, in one
// or the other.
func TestShippedRulesGiveNoWarning(t *testing.T) {
	if _, problems := Full.Load(shipped(t)); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestWarningsWaitForProblems: a file with a problem is not linted, others are.
func TestWarningsWaitForProblems(t *testing.T) {
	files := shipped(t)
	files[pathsFilename] += "  - {id: twice, deny: No., when: tool_class == 'reed'}\n  - {id: twice, deny: No.}\n"
	files[urlsFilename] += "  - {id: reed, deny: No., when: tool_class == 'reed'}\n"
	_, problems := Full.Load(files)
	if len(problems) != 2 || problems[0].Code != rulefile.CodeDup || problems[1].Code != codeUnreachable ||
		!problems[1].Warning {
		t.Error(problems)
	}
}
