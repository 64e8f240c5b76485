package sidecar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// circle is a request in which a model has made the same call n times, as a gateway sends it.
func circle(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{` + more + bothTool + `,"model":"gpt-oss","messages":[{"role":"user","content":"go"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.md\"}"}}]},`+
			`{"role":"tool","tool_call_id":"c%d","content":"No such file (at 10:00:%02d, after %dms)"}`, i, i, i, 3*i)
	}
	b.WriteString(`,{"role":"user","content":` + string(openai.AppendString(nil, openai.RuntimeContext+"\nx")) + `}]}`)
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
		for mode, more := range map[string]string{"stream": streaming + ",", "whole": ""} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := start(t, setup{}, script.New(script.Scenario{Steps: []script.Reply{row.reply}, Loop: true}))
				a := r.chat(circle(row.times, more))
				var calls []string
				for _, c := range a.calls {
					calls = append(calls, c.Args)
				}
				if got := strings.Join(calls, " "); a.status != 200 || got != row.calls || len(r.model.Requests("")) != 1 {
					t.Fatalf("%d %q, asked %d times: %s", a.status, got, len(r.model.Requests("")), a.body)
				}
				stopped := row.calls == "" && row.reply.Content != "There is no such file."
				if strings.Contains(a.text, "made the same call of read 6 times") != stopped || stopped && (a.last != "stop" || mode == "stream" && !a.done) {
					t.Errorf("%q, %s\n%s", a.text, a.last, a.body)
				}
				if (r.log.Said("loop_ended") == 1) != stopped || strings.Contains(r.metrics(), `said_total{model="gpt-oss",arm="",fault="loop"} 1`) != stopped {
					t.Errorf("%s", r.log)
				}
				body := string(r.model.Requests("")[0].Body)
				if told := strings.Contains(body, fmt.Sprintf("this call of read %d times", row.times)); told != row.told || strings.Contains(body, "this call of read 2 times") {
					t.Errorf("told %v: %s", told, body)
				}
			})
		}
	}
}
