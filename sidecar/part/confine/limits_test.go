package confine

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The limits of the network hold for older files, too, and the locked folder lowers them.
func TestNetworkLimits(t *testing.T) {
	const file = "limits.yaml"
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	whole := files[file]
	without, _, _ := strings.Cut(whole, "\n# The network of one confined command.\n")
	shipped := *NetworkSection().Holds.(*NetworkLimits)
	for name, row := range map[string]struct {
		own, locked string
		want        NetworkLimits
	}{
		"left out": {without, "", shipped},
		"shipped":  {whole, "", shipped},
		"said":     {without + "network: {idle: 1h, connections: 9}\n", "", NetworkLimits{time.Hour, 6 * time.Hour, 9, 512}},
		"locked":   {without + "network: {idle: 1h, servers: 9}\n", "network: {idle: 2m, servers: 100, total: 1h}\n", NetworkLimits{2 * time.Minute, time.Hour, 256, 9}},
	} {
		changed := rulefile.Files{file: row.own}
		if row.locked != "" {
			changed["policy/"+file] = "version: 1\n" + row.locked
		}
		set, problems := ruletest.Load(t, changed, NetworkSection())
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if *limitsOf(set) != row.want {
			t.Errorf("%s: %+v", name, limitsOf(set))
		}
	}
}
