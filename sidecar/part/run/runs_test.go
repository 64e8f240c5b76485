package run_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The example of the specification: search, fetch, write, answer.
func TestRun(t *testing.T) {
	for _, stream := range []bool{true, false} {
		b := &provider.Source{}
		r := executor.Play(t, b, nil,
			script.Native("web_search", `{"query":"news"}`).Thinking("I must search."),
			script.Native("web_fetch", `{"url":"https://example.com/a"}`),
			script.Native("write", `{"path":"/tmp/summary.md","content":"All is well."}`),
			script.Text("The summary is in /tmp/summary.md.").Thinking("Done."))
		a := r.Run(stream, "")
		if a.Status != 200 || a.Text != "The summary is in /tmp/summary.md." || a.Last != "stop" {
			t.Fatalf("stream %v: %d %q %q %s", stream, a.Status, a.Text, a.Last, a.Body)
		}
		want := []string{`web_search {"count":10,"query":"news"}`,
			`web_fetch {"url":"https://example.com/a"}`,
			`write {"path":"/tmp/summary.md","content":"All is well."}`}
		if got := b.Calls(); !slices.Equal(got, want) {
			t.Errorf("stream %v: %q", stream, got)
		}
		if a.Header.Get("X-Run-Id") == "" || a.Usage == 0 {
			t.Errorf("stream %v: run %q, usage %d", stream, a.Header.Get("X-Run-Id"), a.Usage)
		}
		if stream && (!strings.Contains(a.Thought, "web_search: news") ||
			!strings.Contains(a.Thought, "I must search.")) {
			t.Errorf("the caller does not see how far it is: %q", a.Thought)
		}
		asked := r.Model.Requests("")
		last := asked[len(asked)-1].Messages
		if len(asked) != 4 || last[1].Field("reasoning") != "I must search." ||
			last[2].Text != "result of web_search" || last[2].CallID != last[1].Calls[0].ID {
			t.Errorf("stream %v: %d requests, the last says %+v", stream, len(asked), last)
		}
		for i := 1; i < len(asked); i++ { // the prompt cache holds
			before, _, _ := strings.Cut(string(asked[i-1].Body), `"}],"tools"`)
			if !strings.HasPrefix(string(asked[i].Body), before[:len(before)-3]) &&
				!strings.Contains(string(asked[i].Body), `"tools":[{`) {
				t.Errorf("request %d does not begin as the one before", i)
			}
		}
	}
}

// How a run ends that does not come to its end.
func TestRunEnds(t *testing.T) {
	again := script.Native("web_fetch", `{"url":"https://example.com/a"}`)
	write := script.Native("write", `{"path":"/tmp/a","content":"x"}`)
	for name, c := range map[string]struct {
		edit    func(*run.Runs)
		result  func(string, int) tools.Result
		replies []script.Reply
		more    string
		status  int
		text    []string // in the answer
		without string
		finish  string
		ran     int
	}{
		"the same call again": {
			replies: []script.Reply{again, again, again, script.Text("I cannot find it.")},
			status:  200, text: []string{"I cannot find it.", "same call again and again"}, finish: "length",
			ran: 3,
		},
		"all turns": {
			edit:    func(r *run.Runs) { r.Turns = 2 },
			result:  func(_ string, n int) tools.Result { return tools.Result{Text: fmt.Sprint(n)} },
			replies: []script.Reply{again, write, script.Text("So far so good.")},
			status:  200, text: []string{"So far so good.", "as many turns", "write: /tmp/a"},
			finish: "length", ran: 2,
		},
		"a call where none is offered": {
			edit: func(r *run.Runs) { r.Turns = 1 },
			replies: []script.Reply{write, script.Native("launch_missile", `{}`), script.Native("launch_missile",
				`{}`)},
			status: 200, text: []string{"The work may not be finished. The model had as many turns as the rules allow.\n\nWhat was done"},
			without: "launch_missile", finish: "length", ran: 1,
		},
		"the model fails at once": {replies: []script.Reply{script.Fail(400, "no")}, status: 400},
		"the model fails after a read": {replies: []script.Reply{again, script.Fail(400, "no")}, status: 400,
			ran: 1},
		"the model fails after a write": {replies: []script.Reply{write, script.Fail(400, "no")}, status: 200, text: []string{"not finished", "write: /tmp/a"}, finish: "length", ran: 1},
		"an empty answer after a write": {replies: []script.Reply{write, {}, {}, {}}, status: 200, text: []string{"empty reply", "What was done:\n- write: /tmp/a"}, finish: "length", ran: 1},
		"an empty answer": {replies: []script.Reply{{}, {}, {}}, status: 200,
			text: []string{"empty reply"}, finish: "length"},
		"wrong names after a write": {
			replies: []script.Reply{write, script.Native("launch_missile", `{}`),
				script.Native("launch_missile", `{}`)},
			status: 200, text: []string{"not finished", "launch_missile", "What was done:\n- write: /tmp/a"},
			finish: "length", ran: 1,
		},
		"wrong names": {
			replies: []script.Reply{script.Native("launch_missile", `{}`), script.Native("launch_missile",
				`{}`)},
			status: 200, text: []string{"not finished", "launch_missile"}, finish: "length",
		},
		"a tool fails, the model goes on": {
			result:  func(string, int) tools.Result { return tools.Result{Failed: true, Text: "disk full"} },
			replies: []script.Reply{write, script.Text("The disk is full.")}, status: 200,
			text: []string{"The disk is full."}, finish: "stop", ran: 1,
		},
		"a call that is denied": {
			replies: []script.Reply{script.Native("write", `{"path":"/etc/passwd","content":"x"}`),
				script.Text("I may not.")},
			status: 200, text: []string{"I may not."}, finish: "stop",
		},
		"more than one answer": {more: `"n":2`, status: 400},
		"a bad timeout":        {more: `"timeout":"soon"`, status: 400},
		"a bad wish":           {more: `"executor_metadata":"yes"`, status: 400},
		"the same call twice in one reply": {
			replies: []script.Reply{{Calls: []script.Call{{ID: "a", Name: "write",
				Arguments: `{"path":"/tmp/a","content":"x"}`},
				{ID: "b", Name: "write", Arguments: `{"content":"x", "path":"/tmp/a"}`}}}, script.Text("ok")},
			status: 200, text: []string{"ok"}, finish: "stop", ran: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &provider.Source{Result: c.result}
			r := executor.Play(t, b, c.edit, c.replies...)
			a := r.Run(false, c.more)
			if a.Status != c.status || a.Last != c.finish && c.status == 200 {
				t.Errorf("%d %q: %s", a.Status, a.Last, a.Body)
			}
			for _, part := range c.text {
				if !strings.Contains(a.Text, part) {
					t.Errorf("%q does not say %q", a.Text, part)
				}
			}
			if c.without != "" && strings.Contains(a.Text, c.without) {
				t.Errorf("%q says %q", a.Text, c.without)
			}
			if got := b.Calls(); len(got) != c.ran {
				t.Errorf("%q ran", got)
			}
		})
	}
}

// What a run cost is that of all its requests, also of those whose reply was asked for again.
func TestRunUsage(t *testing.T) {
	r := executor.Play(t, &provider.Source{}, nil, script.Text(""), writes("/tmp/a"), script.Text("end"))
	a := r.Run(false, "")
	served := r.Log.Lines("request_served")
	want := fmt.Sprintf("prompt_tokens=%d completion_tokens=%d ",
		gjson.Get(a.Body, "usage.prompt_tokens").Int(), gjson.Get(a.Body, "usage.completion_tokens").Int())
	if a.Text != "end" || len(served) != 1 || !strings.Contains(served[0], want) ||
		strings.Contains(want, "=0 ") {
		t.Errorf("%s, and the log has %q", want, served)
	}
}

// A run has its time, and the caller can shorten it.
func TestRunTime(t *testing.T) {
	slow := func(string, int) tools.Result {
		time.Sleep(1200 * time.Millisecond) // longer than a run may take
		return tools.Result{Text: "ok"}
	}
	b := &provider.Source{Result: slow}
	r := executor.Play(t, b, nil, script.Native("web_fetch", `{"url":"https://example.com/a"}`), script.Text("late"))
	if a := r.Run(false, `"timeout":1`); a.Status != http.StatusGatewayTimeout ||
		a.Fault.Code != "timeout_exceeded" {
		t.Errorf("%d %+v", a.Status, a.Fault)
	}
	b = &provider.Source{Result: slow}
	r = executor.Play(t, b, nil, script.Native("write", `{"path":"/tmp/a","content":"x"}`), script.Text("late"))
	if a := r.Run(false, `"timeout":1`); a.Status != 200 ||
		!strings.Contains(a.Text, "Its time is over.\n\nWhat was done:\n- write: /tmp/a") ||
		a.Last != "length" {
		t.Errorf("%d %q %q", a.Status, a.Last, a.Text)
	}
}

// Calls that only read are tried again after a failure of the network; their results are kept.
func TestRunAgain(t *testing.T) {
	b := &provider.Source{Result: func(_ string, times int) tools.Result {
		if times == 1 {
			return tools.Result{Failed: true, Transient: true, Text: "connection refused"}
		}
		return tools.Result{Text: "found"}
	}}
	search := script.Native("web_search", `{"query":"news"}`)
	r := executor.Play(t, b, nil, search, search, script.Text("ok"))
	if a := r.Run(false, ""); a.Text != "ok" || len(b.Calls()) != 2 {
		t.Errorf("%q after %q", a.Text, b.Calls())
	}
	b = &provider.Source{Result: func(string, int) tools.Result {
		return tools.Result{Failed: true, Transient: true, Text: "connection refused"}
	}}
	r = executor.Play(t, b, nil, script.Native("write", `{"path":"/tmp/a","content":"x"}`), script.Text("ok"))
	if a := r.Run(false, ""); a.Text != "ok" || len(b.Calls()) != 1 {
		t.Errorf("%q after %q: a call that writes is sent once", a.Text, b.Calls())
	}
}

// A reply that says in the form of its strategy that the work is done ends the run; a word in
// prose, and the same form in the middle of a text, end nothing.
func TestRunSignals(t *testing.T) {
	const bare = "The model says that it is done."
	for reply, c := range map[string]struct {
		profile, text string
		signal        bool
	}{
		"[DONE]": {"markers", bare, true},
		"Thought: I know it.\nAction: done\nAction Input: {}":                            {"react", bare, true},
		"Thought: I know it.\nAction: done\nAction Input: {\"answer\": \"It is calm.\"}": {"react", "It is calm.", true},
		"Thought: I know it.\nAction: done": {"react",
			"I know it.", true},
		`{"reasoning": "I know it.", "tool_calls": [], "done": true}`: {"guided_json",
			bare, true},
		"It is calm.\n[DONE]": {"markers", "It is calm.\n", true},
		"It is done, and complete. [DONE] is what I would write.":                                    {"markers", "It is done, and complete. [DONE] is what I would write.", false},
		"Thought: I know it.\nFinal Answer: It is calm.":                                             {"react", "It is calm.", true},
		`{"reasoning": "I know it.", "tool_calls": [], "done": true, "answer": "It is calm."}`:       {"guided_json", "It is calm.", true},
		`{"reasoning": "The task is complete.", "tool_calls": [], "done": false, "answer": "Wait."}`: {"guided_json", "", false},
	} {
		set := *ruletest.Shipped(t, executor.Sections()...)
		set.Models = slices.Clone(set.Models)
		for i := range set.Models {
			set.Models[i].Profile.Value = c.profile
		}
		b := &provider.Source{}
		r := executor.Start(t, provider.Setup{Set: &set}, b, nil,
			script.New(script.Scenario{Steps: []script.Reply{script.Text(reply), script.Text("Wait.")}}))
		a := r.Run(false, "")
		if got := strings.Contains(r.Log.String(), "event=completion_signal_detected"); got != c.signal {
			t.Errorf("%s: a signal: %v", reply, got)
		}
		if n := len(r.Model.Requests("")); n != 1 {
			t.Errorf("%s: the model was asked %d times", reply, n)
		}
		if a.Status != 200 || c.text != "" && a.Text != c.text || len(b.Calls()) > 0 {
			t.Errorf("%s: %d %q, ran %q", reply, a.Status, a.Text, b.Calls())
		}
	}
}

// A bug in a tool is a failure of its call: the other calls run, the model reads of it, and the log has where
// it is.
func TestToolPanics(t *testing.T) {
	for name, reply := range map[string]script.Reply{"read": several(2),
		"write": writes("/tmp/a", "/tmp/b")} {
		b := &provider.Source{Result: func(_ string, times int) tools.Result {
			if times == 2 {
				panic("a bug")
			}
			return tools.Result{Text: "ok"}
		}}
		r := executor.Play(t, b, func(r *run.Runs) { r.Parallel = "read" }, reply, script.Text("end"))
		a := r.Run(false, "")
		asked := r.Model.Requests("")
		if read := fmt.Sprint(asked[len(asked)-1].Messages); a.Text != "end" || len(b.Calls()) != 2 ||
			!strings.Contains(read, "this tool has a bug") ||
			strings.Contains(read, "not known whether") != (name == "write") {
			t.Errorf("%s: %d %q after %q; the model reads %s", name, a.Status, a.Text, b.Calls(), read)
		}
		if lines := r.Log.Lines("tool_panicked"); len(lines) != 1 ||
			!strings.Contains(lines[0], "runs_test.go") {
			t.Errorf("%s: %q", name, lines)
		}
	}
}
