package sidecar

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Caller gets headers and role as soon as the model server has begun, though no
// event came.
func TestRoleSoon(t *testing.T) {
	begin, once := make(chan struct{}), sync.Once{}
	r := start(t, setup{server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", sse)
		_ = http.NewResponseController(w).Flush()
		<-begin
		fmt.Fprint(w, ev(0, `"role":"assistant","content":"Yes."`, "null")+ev(0, "", `"stop"`)+doneEvent)
	}))
	defer once.Do(func() { close(begin) })
	res, err := r.do(t.Context(), http.MethodPost, "/v1/chat/completions", asking(streaming))
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 512)
	n, err := res.Body.Read(first)
	if err != nil || !strings.Contains(string(first[:n]), `"role":"assistant"`) { // the server has not begun
		t.Errorf("%q, %v", first[:n], err)
	}
	once.Do(func() { close(begin) })
	a := readAnswer(t, res)
	if a.text != "Yes." || a.roles > 1 || !a.done {
		t.Errorf("%+v\n%s", a, a.body)
	}
}

// Each piece of reasoning and text leaves when it came, in order, and the end
// of the stream is reason, usage, [DONE].
func TestStreamFlows(t *testing.T) {
	thought, text := strings.Repeat("Let me think. ", 10), strings.Repeat("And so it is, my dear. ", 20)
	reply := script.Text(text).Thinking(thought)
	reply.Pause = 3 * time.Millisecond
	a := play(t, reply).stream()
	if a.thought != thought || a.text != text || a.roles != 1 || len(a.ids) != 1 || a.last != "stop" ||
		!a.done || a.usage == 0 {
		t.Errorf("%+v", a)
	}
	var pieces int
	var firstText, end time.Duration
	for _, e := range a.events {
		end = e.at
		if len(e.Choices) == 0 {
			continue
		}
		if e.Choices[0].Delta.Thought != "" {
			pieces++
		}
		if e.Choices[0].Delta.Content != "" && firstText == 0 {
			firstText = e.at
		}
	}
	if pieces != (len(thought)+4)/5 || firstText > end/2 {
		t.Errorf("%d pieces of thought, text after %s of %s", pieces, firstText, end)
	}
	last := a.events[len(a.events)-2:]
	if len(last[0].Choices) != 1 || last[0].Choices[0].Finish != "stop" || len(last[1].Choices) != 0 ||
		last[1].Usage == nil {
		t.Errorf("the stream ends with %+v", last)
	}
}

// What cannot be markup is with the caller while the model is still at it; a call is there when
// it is known what follows it.
func TestHeld(t *testing.T) {
	call := script.LeakedHarmony("read", `{"path":"a"}`).Content
	for _, row := range []struct {
		said, text string
		calls      int
	}{
		{"So it is", "So it is", 0},
		{"If a <", "If a ", 0},
		{"If a < b", "If a < b", 0},
		{"See <|chan", "See ", 0},
		{"Use x[1] or <b>", "Use x[1] or <b>", 0},
		{call, "", 0},
		{call + "<|start|>", "", 1},
		{call[:len(call)-12], "", 0},
	} {
		reply := script.Text(row.said).Thinking("Hm.").Ending(script.Hang)
		r := play(t, reply)
		a := r.within(250*time.Millisecond, http.MethodPost, "/v1/chat/completions",
			asking(streaming+","+bothTool))
		if a.text != row.text || len(a.calls) != row.calls || a.done || a.thought != "Hm." {
			t.Errorf("%q: %q %v", row.said, a.text, a.calls)
		}
	}
}

// Text at the start of a reply without reasoning may be a thought, where the server was seen
// to eat its header: it is held for so long and no longer. Before that it leaves at once.
func TestLead(t *testing.T) {
	wait := turn.LeadWait + 500*time.Millisecond
	var asked atomic.Int32
	r := start(t, setup{server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sse)
		if r.Method == http.MethodPost && asked.Add(1) == 2 {
			fmt.Fprint(w, ev(0, `"role":"assistant","content":"I greet.<|end|><|start|>assistant<|channel|>final<|message|>Hi."`, "null")+ev(0, "", `"stop"`)+doneEvent)
			return
		}
		fmt.Fprint(w, ev(0, `"role":"assistant","content":""`, "null")+ev(0, `"content":"It is "`, "null"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(wait)
		fmt.Fprint(w, ev(0, `"content":"one."`, "null")+ev(0, "", `"stop"`)+doneEvent)
	}))
	for _, held := range []bool{false, true} {
		a := r.stream()
		if a.text != "It is one." || a.roles != 1 || !a.done {
			t.Fatalf("%+v", a)
		}
		for _, e := range a.events {
			if len(e.Choices) > 0 && e.Choices[0].Delta.Content == "It is " &&
				(held != (e.at >= turn.LeadWait/2) || e.at > wait-100*time.Millisecond) {
				t.Errorf("the first text left after %s", e.at)
			}
		}
		if log := r.log.String(); strings.Contains(log, "event=headers_eaten") != held {
			t.Errorf("log: %s", log)
		}
		if !held {
			r.stream() // the one without a header
		}
	}
}

// A reply of a server that eats headers is read rightly from the second one on, and in a
// document from the first.
func TestHeaderless(t *testing.T) {
	eaten := script.Text("I greet.<|end|><|start|>assistant<|channel|>final<|message|>Hi.")
	r := play(t, eaten, eaten, eaten)
	for i, want := range []string{"I greet.\n\nHi.", "Hi.", "Hi."} {
		if a := r.stream(); a.text != want || i > 0 && a.thought != "I greet." {
			t.Errorf("reply %d: %q, thought %q", i, a.text, a.thought)
		}
	}
	if a := play(t, eaten).whole(); a.text != "Hi." || a.thought != "I greet." {
		t.Errorf("%q, thought %q", a.text, a.thought)
	}
}

var cleanID = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`)

// Calls leave under ids that OpenClaw leaves alone, each its own.
func TestCallIDs(t *testing.T) {
	two := script.Reply{Calls: []script.Call{{ID: "chatcmpl-tool-1", Name: "read", Arguments: `{"path":"a"}`},
		{ID: "chatcmpl-tool-1", Name: "read", Arguments: `{"path":"b"}`}}}
	seen := map[string]bool{}
	for _, a := range []*answer{play(t, two).stream(), play(t, two).whole()} {
		if len(a.calls) != 2 || a.last != "tool_calls" || a.calls[1].Args != `{"path":"b"}` {
			t.Fatalf("%+v", a)
		}
		for _, c := range a.calls {
			if !cleanID.MatchString(c.ID) || seen[c.ID] {
				t.Errorf("id %q", c.ID)
			}
			seen[c.ID] = true
		}
	}
}

// One stream has one id and one role, however often the model was asked.
func TestOneStream(t *testing.T) {
	broken := script.HarmonyErrorInStream()
	broken.Reasoning = "First. "
	for _, steps := range [][]script.Reply{
		{broken, script.Text("Yes.").Thinking("Second.")},
		{broken, script.Native("read", `{"path":"a"}`).Thinking("Second.")},
		{script.HarmonyErrorInStream(), script.Text("Yes.").Thinking("Second.")},
		{script.OnlyThought("First. "), script.Text("Yes.").Thinking("Second.")},
	} {
		a := play(t, steps...).stream()
		if len(a.ids) != 1 || a.roles != 1 || !a.done || !strings.HasSuffix(a.thought, "Second.") ||
			a.text == "" && len(a.calls) == 0 {
			t.Errorf("%+v\n%s", a, a.body)
		}
	}
}

// Our own chunks carry the id of the others, or the others get ours.
func TestForeignID(t *testing.T) {
	short := func(delta string) string {
		return `data: {"id":"x1","choices":[{"index":0,"delta":{` + delta + "}}]}\n\n"
	}
	for _, body := range []string{
		short(`"role":"assistant","content":""`) + short(`"reasoning":"Hm."`) + short(`"content":"[TOOL:read|path=a]"`) + doneEvent,
		ev(0, `"role":"assistant","content":""`, "null") + ev(0, `"content":"[TOOL:read|path=a]"`,
			`"stop"`) + doneEvent,
	} {
		a := start(t, setup{}, says(sse, body)).stream()
		if len(a.ids) != 1 || a.roles != 1 || !a.done {
			t.Errorf("%v\n%s", a.ids, a.body)
		}
	}
}

// The role leaves once, also where it came with text that was held for so long
// that the caller got a role from us.
func TestHeldRole(t *testing.T) {
	r := start(t, setup{server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sse)
		fmt.Fprint(w, ev(0, `"role":"assistant","content":"<"`, "null"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(150 * time.Millisecond)
		fmt.Fprint(w, ev(0, `"content":" 3"`, "null")+ev(0, "", `"stop"`)+doneEvent)
	}))
	if a := r.stream(); a.text != "< 3" || a.roles != 1 || len(a.ids) != 1 || !a.done {
		t.Errorf("%+v\n%s", a, a.body)
	}
}

// A silent model server costs the caller nothing: empty chunks come well before
// its timer runs out, also before the model server has sent its headers.
func TestKeepalive(t *testing.T) {
	early, late := script.Text("Yes."), script.Text("Yes.").Thinking("Hm.")
	early.Delay, late.Pause = 800*time.Millisecond, 400*time.Millisecond
	for _, row := range []struct {
		name   string
		reply  script.Reply
		rules  time.Duration
		header string
		least  int
	}{
		{"before headers", early, time.Hour, "0.3", 2},
		{"between events", late, time.Hour, "0.3", 2},
		{"as the rules say", early, 120 * time.Millisecond, "600", 2},
		{"nonsense in the header", early, 120 * time.Millisecond, "soon", 2},
	} {
		model := script.New(script.Scenario{Steps: []script.Reply{row.reply}})
		r := start(t, setup{limits: func(l *ruleset.Limits) { l.Keepalive = row.rules }}, model)
		a := r.chat(asking(streaming), "X-Stainless-Timeout", row.header)
		if a.empty < row.least || a.roles != 1 || len(a.ids) != 1 || a.text != "Yes." || !a.done {
			t.Errorf("%s: %d empty chunks\n%s", row.name, a.empty, a.body)
		}
	}
}

func TestKeepaliveOf(t *testing.T) {
	for _, row := range []struct {
		header string
		want   time.Duration
	}{
		{"", 5 * time.Second}, {"600", 5 * time.Second}, {"6", 2 * time.Second}, {"0.1", 100 * time.Millisecond},
		{"-3", 5 * time.Second}, {"NaN", 5 * time.Second}, {"Inf", 5 * time.Second}, {"1e300", 5 * time.Second}, {"x", 5 * time.Second},
	} {
		waits := callerWaits(http.Header{"X-Stainless-Timeout": {row.header}})
		if got := keepalive(waits, 5*time.Second); got != row.want {
			t.Errorf("%q: %s, want %s", row.header, got, row.want)
		}
	}
}

// An error after text has left is an event, and no [DONE] follows.
func TestErrorAfterText(t *testing.T) {
	for _, end := range []script.End{script.Garbled, script.Reset, script.Fault} {
		reply := script.Text("It is ").Thinking("Hm.").Ending(end)
		if end == script.Fault {
			reply.Err = script.Fail(http.StatusBadRequest, "no such adapter").Err
		}
		r := play(t, reply, script.Text("one."))
		a := r.stream()
		if a.status != 200 || a.text != "It is " || a.fault.Message == "" || a.done || a.last != "" ||
			len(r.model.Requests("")) != 1 {
			t.Errorf("end %d: %+v\n%s", end, a, a.body)
		}
	}
}
