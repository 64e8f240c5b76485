package sidecar_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Caller gets headers and role as soon as the model server has begun, though no
// event came.
func TestRoleSoon(t *testing.T) {
	begin, once := make(chan struct{}), sync.Once{}
	r := provider.Start(t, provider.Setup{Server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", provider.SSE)
		_ = http.NewResponseController(w).Flush()
		<-begin
		fmt.Fprint(w, provider.Piece(0, `"role":"assistant","content":"Yes."`, "null")+provider.Piece(0, "", `"stop"`)+provider.DoneEvent)
	}))
	defer once.Do(func() { close(begin) })
	res, err := r.Do(t.Context(), http.MethodPost, "/v1/chat/completions", provider.Body(provider.Streaming))
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 512)
	n, err := res.Body.Read(first)
	if err != nil || !strings.Contains(string(first[:n]), `"role":"assistant"`) { // the server has not begun
		t.Errorf("%q, %v", first[:n], err)
	}
	once.Do(func() { close(begin) })
	a := provider.ReadAnswer(t, res)
	if a.Text != "Yes." || a.Roles > 1 || !a.Done {
		t.Errorf("%+v\n%s", a, a.Body)
	}
}

// Each piece of reasoning and text leaves when it came, in order, and the end
// of the stream is reason, usage, [DONE].
func TestStreamFlows(t *testing.T) {
	thought, text := strings.Repeat("Let me think. ", 10), strings.Repeat("And so it is, my dear. ", 20)
	reply := script.Text(text).Thinking(thought)
	reply.Pause = 3 * time.Millisecond
	a := provider.Play(t, reply).Stream()
	if a.Thought != thought || a.Text != text || a.Roles != 1 || len(a.IDs) != 1 || a.Last != "stop" ||
		!a.Done || a.Usage == 0 {
		t.Errorf("%+v", a)
	}
	var pieces int
	var firstText, end time.Duration
	for _, e := range a.Events {
		end = e.At
		if len(e.Choices) == 0 {
			continue
		}
		if e.Choices[0].Delta.Thought != "" {
			pieces++
		}
		if e.Choices[0].Delta.Content != "" && firstText == 0 {
			firstText = e.At
		}
	}
	if pieces != (len(thought)+4)/5 || firstText > end/2 {
		t.Errorf("%d pieces of thought, text after %s of %s", pieces, firstText, end)
	}
	last := a.Events[len(a.Events)-2:]
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
		t.Run(row.said, func(t *testing.T) {
			t.Parallel() // each waits for what must not come
			r := provider.Play(t, script.Text(row.said).Thinking("Hm.").Ending(script.Hang))
			a := r.Within(3*time.Second, http.MethodPost, "/v1/chat/completions",
				provider.Body(provider.Streaming+","+provider.BothTools))
			if a.Text != row.text || len(a.Calls) != row.calls || a.Done || a.Thought != "Hm." {
				t.Errorf("%q %v", a.Text, a.Calls)
			}
		})
	}
}

// Text at the start of a reply without reasoning may be a thought, where the server was seen
// to eat its header: it is held for so long and no longer. Before that it leaves at once.
func TestLead(t *testing.T) {
	came := make(chan struct{})
	var asked atomic.Int32
	r := provider.Start(t, provider.Setup{Server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", provider.SSE)
		if r.Method == http.MethodPost && asked.Add(1) == 2 {
			fmt.Fprint(w, provider.Piece(0, `"role":"assistant","content":"I greet.<|end|><|start|>assistant<|channel|>final<|message|>Hi."`, "null")+provider.Piece(0, "", `"stop"`)+provider.DoneEvent)
			return
		}
		fmt.Fprint(w, provider.Piece(0, `"role":"assistant","content":""`, "null")+provider.Piece(0, `"content":"It is "`, "null"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-came:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, provider.Piece(0, `"content":"one."`, "null")+provider.Piece(0, "", `"stop"`)+provider.DoneEvent)
	}))
	for _, held := range []bool{false, true} {
		sent := false
		r.Seen = func(a *provider.Answer) {
			if a.Text == "It is " && !sent {
				sent = true
				came <- struct{}{}
			}
		}
		a := r.Stream()
		if a.Text != "It is one." || a.Roles != 1 || !a.Done {
			t.Fatalf("%+v", a)
		}
		for _, e := range a.Events {
			if len(e.Choices) > 0 && e.Choices[0].Delta.Content == "It is " &&
				held != (e.At-a.Events[0].At >= turn.LeadWait/2) {
				t.Errorf("the first text left %s after the first event", e.At-a.Events[0].At)
			}
		}
		if log := r.Log.String(); strings.Contains(log, "event=headers_eaten") != held {
			t.Errorf("log: %s", log)
		}
		if !held {
			r.Stream() // the one without a header
		}
	}
}

// A reply of a server that eats headers is read rightly from the second one on, and in a
// document from the first.
func TestHeaderless(t *testing.T) {
	eaten := script.Text("I greet.<|end|><|start|>assistant<|channel|>final<|message|>Hi.")
	r := provider.Play(t, eaten, eaten, eaten)
	for i, want := range []string{"I greet.\n\nHi.", "Hi.", "Hi."} {
		if a := r.Stream(); a.Text != want || i > 0 && a.Thought != "I greet." {
			t.Errorf("reply %d: %q, thought %q", i, a.Text, a.Thought)
		}
	}
	if a := provider.Play(t, eaten).Whole(); a.Text != "Hi." || a.Thought != "I greet." {
		t.Errorf("%q, thought %q", a.Text, a.Thought)
	}
}

var cleanID = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`)

// Calls leave under ids that OpenClaw leaves alone, each its own.
func TestCallIDs(t *testing.T) {
	two := script.Reply{Calls: []script.Call{{ID: "chatcmpl-tool-1", Name: "read", Arguments: `{"path":"a"}`},
		{ID: "chatcmpl-tool-1", Name: "read", Arguments: `{"path":"b"}`}}}
	seen := map[string]bool{}
	for _, a := range []*provider.Answer{provider.Play(t, two).Stream(), provider.Play(t, two).Whole()} {
		if len(a.Calls) != 2 || a.Last != "tool_calls" || a.Calls[1].Args != `{"path":"b"}` {
			t.Fatalf("%+v", a)
		}
		for _, c := range a.Calls {
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
		{servers.OnlyThought("First. "), script.Text("Yes.").Thinking("Second.")},
	} {
		a := provider.Play(t, steps...).Stream()
		if len(a.IDs) != 1 || a.Roles != 1 || !a.Done || !strings.HasSuffix(a.Thought, "Second.") ||
			a.Text == "" && len(a.Calls) == 0 {
			t.Errorf("%+v\n%s", a, a.Body)
		}
	}
}

// Our own chunks carry the id of the others, or the others get ours.
func TestForeignID(t *testing.T) {
	short := func(delta string) string {
		return `data: {"id":"x1","choices":[{"index":0,"delta":{` + delta + "}}]}\n\n"
	}
	for _, body := range []string{
		short(`"role":"assistant","content":""`) + short(`"reasoning":"Hm."`) + short(`"content":"[TOOL:read|path=a]"`) + provider.DoneEvent,
		provider.Piece(0, `"role":"assistant","content":""`, "null") + provider.Piece(0, `"content":"[TOOL:read|path=a]"`,
			`"stop"`) + provider.DoneEvent,
	} {
		a := provider.Start(t, provider.Setup{}, provider.Says(provider.SSE, body)).Stream()
		if len(a.IDs) != 1 || a.Roles != 1 || !a.Done {
			t.Errorf("%v\n%s", a.IDs, a.Body)
		}
	}
}

// The role leaves once, also where it came with text that was held for so long
// that the caller got a role from us.
func TestHeldRole(t *testing.T) {
	r := provider.Start(t, provider.Setup{Server: "vllm"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", provider.SSE)
		fmt.Fprint(w, provider.Piece(0, `"role":"assistant","content":"<"`, "null"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(150 * time.Millisecond) // the model is silent for so long
		fmt.Fprint(w, provider.Piece(0, `"content":" 3"`, "null")+provider.Piece(0, "", `"stop"`)+provider.DoneEvent)
	}))
	if a := r.Stream(); a.Text != "< 3" || a.Roles != 1 || len(a.IDs) != 1 || !a.Done {
		t.Errorf("%+v\n%s", a, a.Body)
	}
}

// A silent model server costs the caller nothing: empty chunks come well before
// its timer runs out, also before the model server has sent its headers.
func TestKeepalive(t *testing.T) {
	for _, row := range []struct {
		name   string
		begun  bool // the server has sent its headers and a thought
		rules  time.Duration
		header string
	}{
		{"before headers", false, time.Hour, "0.3"},
		{"between events", true, time.Hour, "0.3"},
		{"as the rules say", false, 120 * time.Millisecond, "600"},
		{"nonsense in the header", false, 120 * time.Millisecond, "soon"},
	} {
		kept := make(chan struct{}) // two empty chunks came
		limits := func(l *ruleset.Limits) { l.Keepalive = row.rules }
		r := provider.Start(t, provider.Setup{Server: "vllm", Limits: limits},
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", provider.SSE)
				if row.begun {
					fmt.Fprint(w, provider.Piece(0, `"role":"assistant","reasoning_content":"Hm."`, "null"))
					_ = http.NewResponseController(w).Flush()
				}
				_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the caller has left
				select {
				case <-kept:
				case <-r.Context().Done():
				}
				fmt.Fprint(w, provider.Piece(0, `"content":"Yes."`, "null")+
					provider.Piece(0, "", `"stop"`)+provider.DoneEvent)
			}))
		goOn := sync.OnceFunc(func() { close(kept) })
		r.Seen = func(a *provider.Answer) {
			if a.Empty == 2 {
				goOn()
			}
		}
		a := r.Chat(provider.Body(provider.Streaming), "X-Stainless-Timeout", row.header)
		if a.Roles != 1 || len(a.IDs) != 1 || a.Text != "Yes." || !a.Done {
			t.Errorf("%s: %d empty chunks\n%s", row.name, a.Empty, a.Body)
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
		r := provider.Play(t, reply, script.Text("one."))
		a := r.Stream()
		if a.Status != 200 || a.Text != "It is " || a.Fault.Message == "" || a.Done || a.Last != "" ||
			len(r.Model.Requests("")) != 1 {
			t.Errorf("end %d: %+v\n%s", end, a, a.Body)
		}
	}
}
