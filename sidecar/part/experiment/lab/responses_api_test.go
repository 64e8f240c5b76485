package lab_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What holds for chat completions holds for the Responses API.
func TestInResponses(t *testing.T) {
	if testing.Short() {
		t.Skip("it repeats tests over the other API")
	}
	provider.InResponses(t, map[string]func(*testing.T){
		"capture":    TestCapture,
		"experiment": TestExperiment,
		"feedback":   TestFeedback,
		"shadow":     TestShadow,
	})
}
