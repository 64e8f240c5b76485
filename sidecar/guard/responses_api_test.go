package guard_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What holds for chat completions holds for the Responses API.
func TestInResponses(t *testing.T) {
	provider.InResponses(t, map[string]func(*testing.T){
		"asks":                TestAskNobody,
		"asks by the gateway": TestAskInPlainCommands,
		"asks, denied":        TestAskDenied,
		"decisions":           TestDecisionsAreLogged,
		"denied":              TestDenied,
		"denied beside":       TestDeniedBeside,
		"denied inside":       TestDeniedInside,
		"denied unclear":      TestDeniedUnclear,
		"dry runs":            TestDryRuns,
		"outside":             TestOutsideOfTheWorkspace,
		"refused beside good": TestRefusedBesideGood,
		"workspace":           TestWorkspaceIsLearnt,
	})
}
