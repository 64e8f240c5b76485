package replicas

import (
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
)

// What a session did counts on when another process takes the place of the one that has told it, although
// both are the same replica.
func TestRatesOfProcessBefore(t *testing.T) {
	at := servers.StartValkey(t).Address
	same := func(c *Config) { c.Replica = "one" }
	first := run(t, at, same)
	second := run(t, at, same)
	first.Rates().Publish("s", []byte(`{"kinds":{"deletes":[1,2]}}`))
	second.Rates().Publish("s", []byte(`{"kinds":{"deletes":[3,4]}}`))
	for r, want := range map[*Store]string{first.Store: `{"kinds":{"deletes":[3,4]}}`,
		second.Store: `{"kinds":{"deletes":[1,2]}}`} {
		ruletest.Soon(t, "one hears of the other", func() bool {
			return slices.EqualFunc(r.Rates().Read("s"), []string{want},
				func(a []byte, b string) bool { return string(a) == b })
		})
	}
}
