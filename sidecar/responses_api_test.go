package sidecar_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What holds for chat completions holds for the Responses API.
func TestInResponses(t *testing.T) {
	provider.InResponses(t, map[string]func(*testing.T){
		"caller leaves":     TestCallerLeaves,
		"drain":             TestDrain,
		"error after text":  TestErrorAfterText,
		"error inside":      TestErrorInside,
		"foreign form":      TestForeignForm,
		"foreign id":        TestForeignID,
		"headerless":        TestHeaderless,
		"held":              TestHeld,
		"keepalive":         TestKeepalive,
		"lead":              TestLead,
		"model":             TestModelIsNotServed,
		"nothing is silent": TestNothingIsSilent,
		"one stream":        TestOneStream,
		"results":           TestResultsOfTheGateway,
		"role":              TestRoleSoon,
		"served":            TestServed,
		"sessions":          TestSessions,
		"status":            TestStatusMap,
		"tool choice":       TestToolChoiceNone,
		"unreachable":       TestUnreachable,
		"usage":             TestUsage,
	})
}
