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
		"error inside":      TestErrorInside,
		"model":             TestModelIsNotServed,
		"nothing is silent": TestNothingIsSilent,
		"results":           TestResultsOfTheGateway,
		"served":            TestServed,
		"sessions":          TestSessions,
		"status":            TestStatusMap,
		"tool choice":       TestToolChoiceNone,
		"unreachable":       TestUnreachable,
	})
}
