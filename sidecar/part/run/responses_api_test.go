package run_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// What holds for chat completions holds for the Responses API.
func TestInResponses(t *testing.T) {
	provider.InResponses(t, map[string]func(*testing.T){
		"run":           TestRun,
		"run overflows": TestRunOverflows,
	})
}
