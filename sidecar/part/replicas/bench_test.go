package replicas

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

// What a request waits for, and what it costs to have something written.
func BenchmarkAsk(b *testing.B) {
	r := run(b, servers.StartValkey(b).Address, nil)
	calls := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint("call", i))
		}
		return out
	}
	thought := strings.Repeat("think ", 170)
	for _, row := range []struct {
		name string
		does func()
	}{
		{"find 1 call", func() { r.Texts().Find(b.Context(), calls(1)) }},
		{"find 100 calls", func() { r.Texts().Find(b.Context(), calls(100)) }},
		{"take a call that has left", func() { r.Departures().Take("call0") }},
		{"read a rate", func() { r.Rates().Read("s") }},
		{"read the approvals", func() { _, _, _ = r.Board().Read() }},
		// fills the queue
		{"keep a thought of 1 KB", func() { r.Texts().Keep(state.Text{Kind: state.Thought, Key: "call0", Text: thought}) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				row.does()
			}
		})
	}
}
