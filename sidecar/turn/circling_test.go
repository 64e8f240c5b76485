package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// circle is a request in which a model has made the same call n times, as a gateway sends it.
func circle(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{` + more + provider.BothTools + `,"model":"gpt-oss","messages":[{"role":"user","content":"go"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.md\"}"}}]},`+
			`{"role":"tool","tool_call_id":"c%d","content":"No such file (at 10:00:%02d, after %dms)"}`, i, i,
			i, 3*i)
	}
	b.WriteString(`,{"role":"user","content":` + string(openai.AppendString(nil,
		openai.RuntimeContext+"\nx")) + `}]}`)
	return b.String()
}

// A model that makes the same call again and again is told, and then stopped: the turn ends with
// a sentence and no call, whatever shape the call has. Another call is made.
func TestCircling(t *testing.T) {
	same, other := script.Native("read", `{"path":"a.md"}`), script.Native("read", `{"path":"b.md"}`)
	both := script.Native("read", `{"path":"a.md"}`)
	both.Calls = append(both.Calls, script.Call{ID: "x", Name: "read", Arguments: `{"path":"b.md"}`})
	for _, row := range []struct {
		name  string
		times int
		reply script.Reply
		told  bool
		calls string // that leave
	}{
		{"twice", 2, same, false, `{"path":"a.md"}`},
		{"three times", 3, same, true, `{"path":"a.md"}`},
		{"five times", 5, same, true, `{"path":"a.md"}`},
		{"six times", 6, same, true, ""},
		{"as text", 6, script.Marker("read", `{"path":"a.md"}`), true, ""},
		{"another call", 6, other, true, `{"path":"b.md"}`},
		{"beside another call", 6, both, true, `{"path":"b.md"}`},
		{"an answer", 6, script.Text("There is no such file."), true, ""},
	} {
		for mode, more := range map[string]string{"stream": provider.Streaming + ",", "whole": ""} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := provider.Start(t, provider.Setup{}, script.New(script.Scenario{Steps: []script.Reply{row.reply},
					Loop: true}))
				a := r.Chat(circle(row.times, more))
				var calls []string
				for _, c := range a.Calls {
					calls = append(calls, c.Args)
				}
				if got := strings.Join(calls, " "); a.Status != 200 || got != row.calls ||
					len(r.Model.Requests("")) != 1 {
					t.Fatalf("%d %q, asked %d times: %s", a.Status, got, len(r.Model.Requests("")), a.Body)
				}
				stopped := row.calls == "" && row.reply.Content != "There is no such file."
				if strings.Contains(a.Text, "made the same call of read 6 times") != stopped ||
					stopped && (a.Last != "stop" || mode == "stream" && !a.Done) {
					t.Errorf("%q, %s\n%s", a.Text, a.Last, a.Body)
				}
				if (r.Log.Count("loop_ended") == 1) != stopped ||
					strings.Contains(r.Scrape(),
						`said_total{arm="",fault="loop",model="gpt-oss"} 1`) != stopped {
					t.Errorf("%s", r.Log)
				}
				body := string(r.Model.Requests("")[0].Body)
				if told := strings.Contains(body, fmt.Sprintf("this call of read %d times",
					row.times)); told != row.told || strings.Contains(body, "this call of read 2 times") {
					t.Errorf("told %v: %s", told, body)
				}
			})
		}
	}
}

// A notice that an agent writes in the user's place, or what is another one in each result, hides no circle;
// what the user says, and what has changed, ends one.
func TestCirclesOfAgents(t *testing.T) {
	for _, row := range []struct {
		name   string
		system string
		args   string // of call n
		result string
		before string // user message in front of the newest call
		stops  bool
	}{
		{"goose", "You are a general-purpose AI agent called goose", `{"command":"ls"}`, "No such file", "<info-msg>\nIt is 12:00\nWorking directory: /srv/app\n</info-msg>", true},
		{"opencode, Qwen Code", "You are Qwen Code", `{"command":"ls"}`, "No such file", "<system-reminder>\nPlan mode is off.\n</system-reminder>\n<system-reminder>x</system-reminder>", true},
		{"Codex", "", `{"command":"ls"}`, "Chunk ID: 28%[1]d1a5\nWall time: 0.0%[1]d23 seconds\nNo such file", "", true},
		{"another description", "", `{"command":"ls","description":"List, try %d"}`, "No such file", "", true},
		{"an id", "", `{"command":"ls"}`, `{"id":"run_%d","error":"no such file"}`, "", true},
		{"a UUID", "", `{"command":"ls"}`, "Request 4f9a6a0e-8f0b-4c0a-9d5e-0000000000a%d failed", "", true},
		{"a process", "", `{"command":"ls"}`, "started, pid 430%d", "", true},
		{"an address", "", `{"command":"ls"}`, "panic at 0xc00012%d4a0", "", true},
		{"the user", "", `{"command":"ls"}`, "No such file", "Go on.", false},
		{"the user and a notice", "You are Qwen Code", `{"command":"ls"}`, "No such file", "Go on. <system-reminder>x</system-reminder>", false},
		{"progress", "", `{"command":"ls"}`, "%d of 9 tests pass", "", false},
		{"another command", "", `{"command":"ls %d"}`, "No such file", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			of := func(form string, n int) string {
				if strings.Contains(form, "%") {
					form = fmt.Sprintf(form, n)
				}
				return string(openai.AppendString(nil, form))
			}
			var b strings.Builder
			b.WriteString(`{"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command"]}}}]` +
				`,"model":"gpt-oss","messages":[{"role":"system","content":"` + row.system +
				`"},{"role":"user","content":"go"}`)
			for i := range 6 {
				if i == 5 && row.before != "" {
					b.WriteString(`,{"role":"user","content":` + of(row.before, i) + `}`)
				}
				fmt.Fprintf(&b, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function","function":{"name":"exec","arguments":%s}}]},`+
					`{"role":"tool","tool_call_id":"c%d","content":%s}`, i, of(row.args, i), i,
					of(row.result, i))
			}
			args := row.args
			if strings.Contains(args, "%") {
				args = fmt.Sprintf(args, 6)
			}
			r := provider.Play(t, script.Native("exec", args))
			a := r.Chat(b.String() + "]}")
			if stopped := strings.Contains(a.Text,
				"made the same call of exec 6 times"); stopped != row.stops || stopped == (len(a.Calls) > 0) {
				t.Errorf("%q, %+v, %s", a.Text, a.Calls, a.Body)
			}
		})
	}
}
