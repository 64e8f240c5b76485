package trace

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// A locked folder keeps words out of spans, whatever the operator says. The shipped rules write none.
func TestLockedWords(t *testing.T) {
	mine := rulefile.Files{"extra/limits.mine.yaml": "version: 1\ntrace: {messages: 16KiB}\n"}
	both := rulefile.Files{"policy/limits.yaml": "version: 1\ntrace: {messages: 0}\n",
		"extra/limits.mine.yaml": mine["extra/limits.mine.yaml"]}
	for _, row := range []struct {
		changed rulefile.Files
		want    rulefile.Size
		warned  string
	}{
		{nil, 0, ""},
		{mine, 16 << 10, ""},
		{both, 0, "trace.messages is 16KiB, and the locked folder allows 0"},
	} {
		set, problems := ruletest.Load(t, row.changed, Part{}.Rules()...)
		if set == nil || ruleset.Of[telemetry.Words](set).Bytes != row.want ||
			!strings.Contains(problems.Error(), row.warned) {
			t.Errorf("%+v: %v", row, problems)
		}
	}
}
