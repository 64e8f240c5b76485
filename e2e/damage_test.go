package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// damageServer is the provider through which a kind of damage comes: some kinds
// are of one server only.
func damageServer(k script.Kind) string {
	if k.ID == "ollama-500" {
		return "ollama"
	}
	return "vllm"
}

func damageScenarios(provider string) []script.Scenario {
	var out []script.Scenario
	for _, k := range script.Kinds() {
		if damageServer(k) == provider {
			sc := k.Scenario(k.Tool, damageArgs(k), damageAnswer(k))
			sc.User = user(k.ID)
			out = append(out, sc)
		}
	}
	return out
}

// damageFile is the content of the file that a kind's tool writes or reads.
func damageFile(k script.Kind) string {
	if k.Tool == "exec" {
		return "ran " + k.ID + "\n"
	}
	return "first line of " + k.ID + "\nsecond {line}: [1, 2]\n"
}

func damageArgs(k script.Kind) string {
	switch k.Tool {
	case "read":
		return `{"path":"` + k.ID + `.txt"}`
	case "write":
		return `{"path":"` + k.ID + `.txt","content":"` + strings.ReplaceAll(damageFile(k), "\n", `\n`) + `"}`
	}
	return `{"command":"echo ran ` + k.ID + ` > ` + k.ID + `.txt; cat ` + k.ID + `.txt"}`
}

func damageAnswer(k script.Kind) string { return "All done: " + k.ID + " is behind us." }

// damagedCalls runs one turn for each kind of damage: a call, its result, the
// answer. Kinds are read alike over each API, so over the second one a third of them shows how it arrives.
func (b *bench) damagedCalls(t *testing.T) {
	for i, k := range script.Kinds() {
		if b.api != apis[0] && i%3 > 0 {
			continue
		}
		t.Run(k.ID, func(t *testing.T) {
			file := filepath.Join(b.gateway.dir, k.ID+".txt")
			if k.Tool == "read" {
				if err := os.WriteFile(file, []byte(damageFile(k)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := b.say(t, damageServer(k), k.ID, k.ID)
			if a.status != 200 || a.text != damageAnswer(k) {
				t.Errorf("the user got %d %s", a.status, a.raw)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != damageFile(k) {
				t.Errorf("the tool did not run: %v, %q", err, got)
			}
			b.checkModelSaw(t, k)
			b.checkClean(t, k.ID, a)
		})
	}
}

// checkModelSaw looks at the last request to the model: it holds the call, whole
// again, and its result; and there were no more requests than the script has
// replies, so nobody asked again in vain.
func (b *bench) checkModelSaw(t *testing.T, k script.Kind) {
	t.Helper()
	asked := b.servers[damageServer(k)].Requests(k.ID)
	if want := len(k.Scenario(k.Tool, damageArgs(k), "").Steps); len(asked) != want {
		t.Fatalf("the model was asked %d times, want %d", len(asked), want)
	}
	call, result := lastCall(asked[len(asked)-1].Messages)
	if call.Name != k.Tool || !sameJSON(call.Arguments, damageArgs(k)) {
		t.Errorf("the model is told that it called %s %s", call.Name, call.Arguments)
	}
	if result.CallID != call.ID || !regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`).MatchString(call.ID) {
		t.Errorf("call id %q, id of the result %q", call.ID, result.CallID)
	}
	if k.Tool != "write" && !strings.Contains(result.Text, strings.TrimSpace(damageFile(k))) {
		t.Errorf("the model saw the result %q", result.Text)
	}
	if strings.Contains(result.Text, `"status":"error"`) || result.Text == "" {
		t.Errorf("the model saw the result %q", result.Text)
	}
}

// checkClean looks for markup in all that a user could see, now or later, and
// for messages that the gateway put into the user's mouth to get a better reply.
func (b *bench) checkClean(t *testing.T, session string, a answer) {
	t.Helper()
	stored, err := b.gateway.history(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stored, a.text) || strings.Count(stored, `"role": "user"`) != 1 {
		t.Errorf("the history is not one question and its answer: %s", stored)
	}
	for _, markup := range []string{"<|", "to=functions", "assistantcommentary", "[TOOL:", "Action Input"} {
		if strings.Contains(a.raw, markup) || strings.Contains(stored, markup) {
			t.Errorf("%s is left in the answer %s or in the history %s", markup, a.raw, stored)
		}
	}
}

// lastCall is the last call in a conversation, and the message with its result.
func lastCall(messages []script.Message) (script.Call, script.Message) {
	var call script.Call
	var result script.Message
	for _, m := range messages {
		if len(m.Calls) > 0 {
			call = m.Calls[len(m.Calls)-1]
		}
		if m.Role == "tool" {
			result = m
		}
	}
	return call, result
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil &&
		reflect.DeepEqual(x, y)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
