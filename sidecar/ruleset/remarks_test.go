package ruleset_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// Only what stands beside a command is a remark; every other byte of the arguments stays.
func TestUnremarked(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, row := range []struct{ tool, args, want string }{
		{"exec", `{"command":"ls","description":"List."}`, `{"command":"ls"}`},
		{"run_shell_command", `{"description":"List.","command":"ls", "justification":"x"}`, `{"command":"ls"}`},
		{"exec", `{"command":"ls","command":"rm a","description":"x"}`, `{"command":"ls","command":"rm a"}`},
		{"exec", `{"command":["ls","-l"],"description":"x"}`, `{"command":["ls","-l"]}`},
		{"exec", `{"command":"ls","description":"x","timeout":3}`, `{"command":"ls","timeout":3}`},
		{"exec", `{"description":"ls"}`, `{"description":"ls"}`},
		{"exec", `{"command":"ls","args":{"description":"x"}}`, `{"command":"ls","args":{"description":"x"}}`},
		{"create_ticket", `{"command":"new","description":"The door is broken."}`, `{"command":"new","description":"The door is broken."}`},
		{"spawn_agent", `{"description":"Look for it."}`, `{"description":"Look for it."}`},
		{"exec", `no JSON`, `no JSON`},
		{"exec", `{"command":"ls","description":`, `{"command":"ls","description":`},
	} {
		if got := set.Unremarked(row.tool, row.args); got != row.want {
			t.Errorf("%s %s becomes %s, want %s", row.tool, row.args, got, row.want)
		}
	}
}
