package turn_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What holds for chat completions holds for the Responses API.
func TestInResponses(t *testing.T) {
	provider.InResponses(t, map[string]func(*testing.T){
		"after text":         TestAfterText,
		"after text in vain": TestAfterTextInVain,
		"bounded":            TestBounded,
		"caller waits":       TestCallerWaits,
		"cut call":           TestCutCall,
		"cut reply":          TestCutReply,
		"hopeless":           TestHopeless,
		"never there":        TestNeverThere,
		"reasoning":          TestReasoningReplay,
		"recovery":           TestRecovery,
		"resample":           TestResampleOnlyBeforeText,
		"said late":          TestSaidLate,
		"styles":             TestStyles,
		"too long later":     TestTooLongIsNotSaidLater,
	})
}
