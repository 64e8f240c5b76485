package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// asWished is what a subagent answers that was told something else meanwhile.
const asWished = "As you wish."

// steerScenarios are agents that have another one work, which talks for long; then it is told
// something else.
func steerScenarios() (list []script.Scenario) {
	for name, words := range map[string]int{"aborted": 600, "steered": 600, "guided": 60} {
		slow := script.Text(strings.Repeat("One word after the other. ", words/5))
		slow.Pause = 200 * time.Millisecond
		list = append(list,
			script.Scenario{Name: "spawn-" + name, User: user("spawn-" + name), Steps: []script.Reply{
				script.Native("tool_call", `{"id":"sessions_spawn","args":{"task":"Please `+user(name)+`"}}`),
				script.Text("It is on its way."),
			}},
			script.Scenario{Name: name, User: user(name), Choose: onlySubagent("I was told."),
				Steps: []script.Reply{slow, script.Text(asWished), script.Text(asWished)}})
	}
	return list
}

var childKey = regexp.MustCompile(`session=(agent:main:subagent:[0-9a-f-]+)`)

// steer: whatever ends the run of a subagent ends its request at the model server, while the reply
// still streams. What only gives it guidance, by design of OpenClaw, does not: the reply ends first.
func (b *bench) steer(t *testing.T) (play func(t *testing.T)) {
	b.api = "openai-responses"
	b.add(t, "vllm", script.VLLM(), steerScenarios())
	return b.steered
}

func (b *bench) steered(t *testing.T) {
	model := b.servers["vllm"]
	for _, c := range []struct {
		name, method string
		params       map[string]any
		ends, told   bool // its request ends at once; it is asked again, with the message
	}{
		{"aborted", "sessions.abort", nil, true, false},
		{"steered", "sessions.steer", map[string]any{"message": "Please " + user("steered") + ", but in one sentence."}, true, true},
		{"guided", "chat.send", map[string]any{"message": "Please " + user("guided") + ", but in one sentence.", "queueMode": "steer"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := b.say(t, "vllm", c.name, "spawn-"+c.name); a.text != "It is on its way." {
				t.Fatalf("the user got %d %s", a.status, a.raw)
			}
			key := ""
			within(t, "the subagent has asked", func() bool {
				for _, q := range model.Requests(c.name) {
					if m := childKey.FindSubmatch(q.Body); m != nil {
						key = string(m[1])
					}
				}
				return key != ""
			})
			asked, left := len(model.Requests(c.name)), model.Unplayed()
			params := map[string]any{"key": key}
			if c.method == "chat.send" {
				params = map[string]any{"sessionKey": key, "idempotencyKey": c.name}
			}
			for k, v := range c.params {
				params[k] = v
			}
			doc, err := json.Marshal(params)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(b.openclaw(t, "gateway", "call", c.method, "--json", "--token", b.gateway.token, "--params",
				string(doc)))
			if c.ends {
				within(t, "its request has ended at the model server",
					func() bool { return model.Unplayed() > left })
			}
			if c.told {
				within(t, "it is told", func() bool {
					for _, q := range model.Requests(c.name)[asked:] {
						if strings.Contains(string(q.Body), "but in one sentence") {
							return true
						}
					}
					return false
				})
				if !c.ends && model.Unplayed() != left {
					t.Error("its request was broken off")
				}
				// OpenClaw tells of a run that was interrupted after a minute, as measured: 60.5 s.
				within(t, "its agent hears of its end", func() bool {
					for _, q := range model.Requests(c.name) {
						if !childKey.Match(q.Body) {
							return true
						}
					}
					return false
				})
			}
		})
	}
}
