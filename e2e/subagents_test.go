package e2e

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// subagentScenarios are turns whose model has another agent work for it, and what that one says.
func subagentScenarios() []script.Scenario {
	spawn := func(task string) script.Reply {
		return script.Native("tool_call", `{"id":"sessions_spawn","args":{"task":"Please `+user(task)+`"}}`)
	}
	asked := make(chan struct{})
	var once sync.Once
	hangs := func(q script.Request) *script.Reply {
		if reply := onlySubagent("It did not end.")(q); reply != nil {
			return reply
		}
		once.Do(func() { close(asked) })
		return nil
	}
	return []script.Scenario{
		{Name: "spawns", User: user("spawns"), Steps: []script.Reply{spawn("helps"), script.Text("It is on its way.")}},
		{Name: "helps", User: user("helps"), Choose: onlySubagent("I was told."), Steps: []script.Reply{
			script.LeakedHarmony("exec", command("echo ran > helps.txt")),
			script.Text("The file is written."),
		}},
		{Name: "cancels", User: user("cancels"), Choose: cancels, Steps: []script.Reply{
			spawn("hangs"), {Calls: script.Native("tool_call",
				`{"id":"subagents","args":{"action":"list"}}`).Calls, Until: asked},
			script.Text("No task is listed."), script.Text("It is cancelled."),
		}},
		{Name: "hangs", User: user("hangs"), Choose: hangs, Steps: []script.Reply{{Content: strings.Repeat("One word after the other. ", 200), Pause: 200 * time.Millisecond}}},
	}
}

// onlySubagent gives the steps to a subagent alone: the gateway tells the agent that asked for it of
// the task, and what became of it, in a turn of its own.
func onlySubagent(otherwise string) func(script.Request) *script.Reply {
	return func(q script.Request) *script.Reply {
		for _, m := range q.Messages {
			if strings.Contains(m.Text, "You are running as a subagent") {
				return nil
			}
		}
		reply := script.Text(otherwise)
		return &reply
	}
}

var taskID = regexp.MustCompile(`"taskId"\s*:\s*"([^"]+)"`)

// cancels cancels the task that the gateway has listed.
func cancels(q script.Request) *script.Reply {
	if q.Step != 2 {
		return nil
	}
	_, result := lastCall(q.Messages)
	id := taskID.FindStringSubmatch(result.Text)
	if id == nil {
		return nil
	}
	reply := script.Native("tool_call", `{"id":"subagents","args":{"action":"cancel","taskId":"`+id[1]+`"}}`)
	return &reply
}

// subagents has a subagent of the gateway work with the sidecar's model, and another one cancelled,
// whose request ends at the model server, too.
func (b *bench) subagents(t *testing.T) {
	model := b.servers["vllm"]
	if a := b.say(t, "vllm", "spawns", "spawns"); a.status != 200 || a.text != "It is on its way." {
		t.Errorf("the user got %d %s", a.status, a.raw)
	}
	within(t, "the subagent has worked",
		func() bool { return len(model.Requests("helps")) >= 2 && exists(b.gateway.dir, "helps.txt") })

	left := model.Unplayed()
	if a := b.say(t, "vllm", "cancels", "cancels"); a.status != 200 || a.text != "It is cancelled." {
		t.Errorf("the user got %d %s", a.status, a.raw)
	}
	if len(model.Requests("hangs")) == 0 {
		t.Fatal("the second subagent never asked")
	}
	within(t, "the request of the cancelled one has ended at the model server",
		func() bool { return model.Unplayed() > left })
}
