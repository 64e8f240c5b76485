package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// What is read at start only needs a restart, and no other edit does.
func TestRestartOf(t *testing.T) {
	var began, now ruleset.Limits
	now.Idle, now.Grace, now.Depth = 1, 1, 1
	if got := restartWarnings(&now, &began); got != nil {
		t.Errorf("%v", got)
	}
	now.Connect, now.Schemas, now.ApprovalTotal = 1, 1, 1
	var keys []string
	for _, p := range restartWarnings(&now, &began) {
		keys = append(keys, strings.Fields(p.Msg)[0])
	}
	if want := []string{"time.connect", "keep.schemas", "approvals.total"}; !slices.Equal(keys, want) {
		t.Errorf("%v, want %v", keys, want)
	}
}
