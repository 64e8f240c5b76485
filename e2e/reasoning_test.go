package e2e

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// thought is a turn whose first reply thinks before it calls.
type thought struct {
	id   string
	text string // the chain of thought that must come back
	call script.Reply
}

func thoughts() []thought {
	const args = `{"command":"echo thoughtful"}`
	return []thought{
		{"thought-native", "The user wants an echo, so exec it is.", script.Native("exec", args).Thinking("The user wants an echo, so exec it is.")},
		{"thought-leaked-call", "Better to look than to guess.", script.LeakedHarmony("exec", args).Thinking("Better to look than to guess.")},
		{"thought-leaked-turn", "A tool can tell me.", script.LeakedTurn("exec", args)},
	}
}

func thoughtScenarios() []script.Scenario {
	var out []script.Scenario
	for _, c := range thoughts() {
		out = append(out, script.Scenario{Name: c.id, User: user(c.id), Steps: []script.Reply{c.call,
			script.Text("Echoed.")}})
	}
	return out
}

// reasoningReplay checks that the model gets its chain of thought back together
// with the result of its call, in the field that its server reads.
func (b *bench) reasoningReplay(t *testing.T) {
	for _, id := range []string{"vllm", "ollama", "llamacpp", "sglang"} {
		server := b.servers[id]
		field := server.Dialect.Reasoning
		if server.Dialect.Chat { // Ollama is asked over its own API
			field = "thinking"
		}
		for _, c := range thoughts() {
			t.Run(id+"/"+c.id, func(t *testing.T) {
				a := b.say(t, id, id+"-"+c.id, c.id)
				if a.text != "Echoed." {
					t.Errorf("the user got %d %s", a.status, a.raw)
				}
				asked := server.Requests(c.id)
				if len(asked) != 2 {
					t.Fatalf("the model was asked %d times, want 2", len(asked))
				}
				for _, m := range asked[1].Messages {
					if len(m.Calls) == 0 {
						continue
					}
					if got := m.Field(field); got != c.text {
						t.Errorf("%s is %q, want %q, in %s", field, got, c.text, m.Raw)
					}
				}
			})
		}
	}
}
