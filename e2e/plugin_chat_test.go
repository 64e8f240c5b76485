package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// seenInChat is what a person sees in a chat.
type seenInChat struct {
	Asked, Title, Text string
	May                []string
}

// chat sends a message, and answers every question there with the decision, by a button or typed.
func (g *gateway) chat(t *testing.T, run, session, message, decision, by string) (seen []seenInChat) {
	t.Helper()
	code, err := os.Open("../testdata/openclaw/chat.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	cmd := exec.CommandContext(t.Context(), "timeout", "90", "bash", "-c",
		`. "$1/env" && cd "$(dirname "$OC_MAIN")" && exec "$OC_NODE" --input-type=module - "$2" "$3" "$4" "$5" "$6" "$7"`,
		"chat", run, g.url, g.token, sessionKey(mainAgent, session), message, decision, by)
	cmd.Stdin, cmd.WaitDelay = code, 5*time.Second
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var s seenInChat
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			seen = append(seen, s)
		}
	}
	if err != nil || len(seen) == 0 {
		t.Fatalf("the chat ends with %v, after %s%s", err, out, failed.String())
	}
	return seen
}

// pluginAsks sends what a person is asked about, and answers yes and no in the chat.
func (b *bench) pluginAsks(t *testing.T) {
	for _, c := range []struct {
		id, decision, by, result string
		runs, broken             bool
	}{
		{"no", "deny", "typed", "denied", false, false},
		{"refused", "deny", "button", "denied", false, false},
		{"once", "allow-once", "button", "(no output)", true, false},
		// OpenClaw 2026.9.6 writes /approve into the transcript of the run that waits, which then ends behind
		// the call: "SQLite transcript changed while preparing rewrite".
		{"typed", "allow-once", "typed", "", true, true},
	} {
		t.Run(c.decision+" "+c.by, func(t *testing.T) {
			seen := b.gateway.chat(t, b.run, "chat-"+c.id, "Please do: "+c.id, c.decision, c.by)
			t.Logf("the person sees %+v", seen)
			if len(seen) != 2 || !strings.HasPrefix(seen[0].Asked, appending(c.id)) ||
				!strings.Contains(seen[0].Asked, asksWhy) ||
				!slices.Equal(seen[0].May, []string{"allow-once", "deny"}) || seen[1].Text != "Done." &&
				!c.broken {
				t.Error("not the command, not why, or not once")
			}
			asked := b.servers[bare].Requests(c.id)
			if len(asked) == 0 {
				t.Fatal("the model was not asked")
			}
			_, result := lastCall(asked[len(asked)-1].Messages)
			text, err := os.ReadFile(filepath.Join(b.gateway.dir, c.id))
			if ran := string(text) == "ran\n"; ran != c.runs || !c.runs && err == nil ||
				!strings.Contains(strings.ToLower(result.Text), c.result) {
				t.Errorf("it left %q; the model reads %q", text, result.Text)
			}
		})
	}
}
