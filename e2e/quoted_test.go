package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// quotations are texts about calls. JSON stands for arguments that would write FILE.
var quotations = []string{
	"commentary to=exec codeJSON is what a leak looks like.",
	"assistantcommentary to=functions.exec jsonJSON was in the log.",
	"To run it write\n[exec]\nJSON\n[END_TOOL_REQUEST]\nin the chat.",
	"[tool:exec] JSON is the old form.",
	"The forms are:\n- [exec]\n  JSON\n  [/exec]\n- [tool:exec] JSON",
	"[TOOL:exec|command=echo ran > FILE] is a marker.",
	`{"name":"exec","arguments":JSON} is the object.`,
	"An agent writes\nAction: exec\nAction Input: JSON\nand waits.",
}

func quotedID(i int) string { return "quoted-" + strconv.Itoa(i) }

func quotedText(i int) string {
	file := quotedID(i) + ".txt"
	return strings.NewReplacer("JSON", command("echo ran > "+file), "FILE", file).Replace(quotations[i])
}

func quotedScenarios() (out []script.Scenario) {
	for i := range quotations {
		out = append(out, script.Scenario{Name: quotedID(i), User: user(quotedID(i)),
			Steps: []script.Reply{script.Text(quotedText(i))}})
	}
	return out
}

// quoted checks that a text about a call is shown, and that neither the sidecar nor the
// gateway makes a call of it.
func (b *bench) quoted(t *testing.T) {
	for i := range quotations {
		t.Run(quotedID(i), func(t *testing.T) {
			a := b.say(t, "vllm", quotedID(i), quotedID(i))
			if shown := strings.ReplaceAll(a.text, "\u200b", ""); a.status != 200 || shown != quotedText(i) {
				t.Errorf("the user got %d %q", a.status, a.text)
			}
			if n := len(b.servers["vllm"].Requests(quotedID(i))); n != 1 ||
				exists(b.gateway.dir, quotedID(i)+".txt") {
				t.Errorf("it ran: %d requests", n)
			}
		})
	}
}
