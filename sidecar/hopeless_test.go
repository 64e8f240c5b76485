package sidecar

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// failing plays one reply for ever.
func failing(t testing.TB, cfg setup, reply script.Reply) *rig {
	return start(t, cfg, script.New(script.Scenario{Steps: []script.Reply{reply}, Loop: true}))
}

// Where no new try helps, the user of an agent reads one true sentence, log and metrics say
// what it is, and a request without tools gets a status that OpenClaw does not take for less.
func TestHopeless(t *testing.T) {
	leak := "Unauthorized: " + upstreamKey + " at 10.0.0.7"
	thinking := script.HarmonyErrorInStream()
	thinking.Reasoning = "Hm."
	for _, row := range []struct {
		name     string
		reply    script.Reply
		fault    string
		says     []string
		requests int // for one answer
		status   int // without tools
		code     string
	}{
		{"401", script.Fail(401, leak), "auth", []string{"turned gpt-oss-executor away", "It says: Unauthorized", "GPTOSS_EXECUTOR_UPSTREAM_KEY"}, 1, 424, "upstream_auth"},
		{"402", script.Fail(402, "Insufficient credits"), "auth", []string{"It says: Insufficient credits."}, 1, 424, "upstream_auth"},
		{"403", script.Fail(403, "Forbidden"), "auth", []string{"It says: Forbidden."}, 1, 424, "upstream_auth"},
		{"empty", script.Empty(), "empty", []string{"empty reply", "did not help", "Ask once more"}, 3, 502, "empty_response"},
		{"blank", script.Text(" \n"), "empty", []string{"empty reply"}, 3, 502, "empty_response"},
		{"only reasoning", script.OnlyThought("Hm."), "reasoning_only", []string{"gave no answer"}, 2, 502, "reasoning_only"},
		{"too long at once", script.OverflowVLLM(8192, 9000), "overflow", []string{"too long for the model", "8192 tokens"}, 1, 400, "context_length_exceeded"},
		{"too long at once, in the stream", script.OverflowVLLM(8192, 9000).Thinking("Hm.").Ending(script.Fault), "overflow", []string{"too long for the model", "8192 tokens"}, 1, 400, "context_length_exceeded"},
		{"HarmonyError", script.HarmonyError(), "harmony_error", []string{"could not read what the model wrote", "200006."}, 3, 502, "harmony_error"},
		{"HarmonyError in the stream", script.HarmonyErrorInStream(), "harmony_error", []string{"could not read what the model wrote"}, 3, 502, "harmony_error"},
		{"HarmonyError behind reasoning", thinking, "harmony_error", []string{"could not read what the model wrote"}, 3, 502, "harmony_error"},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := failing(t, setup{key: upstreamKey}, row.reply)
				a := r.answer(mode)
				if a.status != 200 || a.fault.Message != "" || a.last != "stop" ||
					a.done != (mode == "stream") || len(a.calls) > 0 {
					t.Errorf("%d, ended by %q\n%s", a.status, a.last, a.body)
				}
				for _, words := range row.says {
					if !strings.Contains(a.text, words) {
						t.Errorf("%q lacks %q", a.text, words)
					}
				}
				if n := len(r.model.Requests("")); n != row.requests {
					t.Errorf("%d requests, want %d", n, row.requests)
				}
				if log := r.log.String(); !strings.Contains(log, "event=said fault="+row.fault) ||
					!strings.Contains(log, "event=fault fault="+row.fault+" action=give_up") {
					t.Errorf("log: %s", log)
				}
				if m := r.metrics(); !strings.Contains(m, `gptoss_executor_said_total{arm="",fault="`+
					row.fault+`",model="gpt-oss"} 1`) {
					t.Error("the metrics do not tell it")
				}
				r.noSecret(a)

				b := r.plain(mode)
				if b.status == 200 && mode == "stream" && row.fault != "auth" {
					b.status = row.status // it came as an event, because the role had left
				}
				if b.status != row.status || b.fault.Code != row.code || strings.TrimSpace(b.text) != "" ||
					b.done {
					t.Errorf("without tools: %d %s", b.status, b.body)
				}
				for _, word := range []string{"401", "403", "nauthorized", "orbidden", "credits"} {
					if row.fault == "auth" && strings.Contains(b.fault.Message, word) {
						t.Errorf("%q holds %q, by which OpenClaw switches the provider off", b.fault.Message,
							word)
					}
				}
			})
		}
	}
}

// A conversation that has gone on can be compacted, so the caller gets the error on which it does that.
func TestTooLongIsNotSaidLater(t *testing.T) {
	r := failing(t, setup{}, script.OverflowVLLM(8192, 9000))
	a := r.chat(`{` + bothTool +
		`,"model":"gpt-oss","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"go"}]}`)
	if a.status != 400 || a.fault.Code != "context_length_exceeded" || r.log.Count("said") != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// The sentence comes also where the headers have left meanwhile.
func TestSaidLate(t *testing.T) {
	slow := script.Fail(401, "Unauthorized")
	slow.Delay = 200 * time.Millisecond
	r := failing(t, setup{limits: func(l *ruleset.Limits) { l.Keepalive = 20 * time.Millisecond }}, slow)
	if a := r.stream(); a.empty == 0 || !strings.Contains(a.text, "turned gpt-oss-executor away") ||
		a.roles != 1 || !a.done {
		t.Errorf("%s", a.body)
	}
}

// What has left cannot be taken back: a reply that breaks behind text again and again stays an error.
func TestNotSaidBehindText(t *testing.T) {
	broken := script.HarmonyErrorInStream()
	broken.Reasoning, broken.Content = "Hm.", "It is "
	if a := failing(t, setup{}, broken).stream(); !strings.HasPrefix(a.text, "It is ") ||
		a.fault.Code != "harmony_error" || a.done {
		t.Errorf("%s", a.body)
	}
}

// A server that restarts is a blip: OpenClaw tries again. One that stays away, or never was
// there, is said to be. As soon as it is back it is used.
func TestAway(t *testing.T) {
	model := script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true})
	up := httptest.NewServer(model)
	address := up.Listener.Addr().String()
	r := start(t, setup{url: up.URL, limits: func(l *ruleset.Limits) { l.Away = 2 * time.Second }}, nil)
	if a := r.whole(); a.text != "Yes." {
		t.Fatalf("%s", a.body)
	}
	up.Close()
	for _, mode := range []string{"stream", "whole"} {
		if a := r.answer(mode); a.status != 503 || a.fault.Code != "upstream_unreachable" ||
			a.header.Get("Retry-After") == "" {
			t.Errorf("a blip, %s: %d %s", mode, a.status, a.body)
		}
	}
	ruletest.Soon(t, "it is away", func() bool { return r.plain("whole").fault.Code == "upstream_away" })
	for _, mode := range []string{"stream", "whole"} {
		if a := r.answer(mode); a.status != 200 || !strings.Contains(a.text, "cannot be reached") ||
			strings.Contains(a.body, address) {
			t.Errorf("away, %s: %d %s", mode, a.status, a.body)
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: l, Config: &http.Server{Handler: model}}
	again.Start()
	t.Cleanup(again.Close)
	if a := r.stream(); a.text != "Yes." {
		t.Errorf("it is back: %s", a.body)
	}
	again.Close()
	if a := r.stream(); a.fault.Code != "upstream_unreachable" {
		t.Errorf("another blip: %s", a.body)
	}
}

func TestNeverThere(t *testing.T) {
	r := start(t, setup{url: "http://" + closedPort(t)}, nil)
	for _, mode := range []string{"stream", "whole"} {
		a := r.answer(mode)
		if a.status != 200 || !strings.Contains(a.text, "cannot be reached") || a.last != "stop" {
			t.Errorf("%s: %s", mode, a.body)
		}
	}
	if log := r.log.String(); !strings.Contains(log, "event=said fault=away") ||
		!strings.Contains(log, "refused") {
		t.Errorf("log: %s", log)
	}
}

// A caller that says how long it waits is followed, within the bound of the rules.
func TestCallerWaits(t *testing.T) {
	const short, long = 150 * time.Millisecond, 600 * time.Millisecond
	before, between := script.Text("Yes."), script.Text("Yes.")
	before.Delay, between.Pause = long, long
	for _, row := range []struct {
		name   string
		reply  script.Reply
		header string
		most   time.Duration // caller_wait
		text   string
	}{
		{"thinks before it answers", before, "10", time.Minute, "Yes."},
		{"silent in the middle", between, "10", time.Minute, "Yes."},
		{"the caller says nothing", before, "", time.Minute, ""},
		{"silent, and the caller says nothing", between, "", time.Minute, ""},
		{"it waits less than the rules", before, "0.05", time.Minute, ""},
		{"more than the bound", before, "10", short, ""},
		{"nonsense", before, "soon", time.Minute, ""},
	} {
		for _, mode := range []string{"stream", "whole"} {
			if mode == "whole" && row.reply.Pause > 0 {
				continue // a document has no middle
			}
			r := start(t, setup{server: "vllm", limits: func(l *ruleset.Limits) {
				l.FirstByte, l.Idle, l.Keepalive, l.CallerWait = short, short, 20*time.Millisecond, row.most
			}}, script.New(script.Scenario{Steps: []script.Reply{row.reply}, Loop: true}))
			body := asking(bothTool)
			if mode == "stream" {
				body = asking(streaming + "," + bothTool)
			}
			a := r.chat(body, "X-Stainless-Timeout", row.header)
			if a.text != row.text || (a.fault.Code == "upstream_timeout") != (row.text == "") {
				t.Errorf("%s, %s: %q %s", row.name, mode, a.text, a.body)
			}
			if n := len(r.model.Requests("")); n != 1 {
				t.Errorf("%s, %s: asked %d times", row.name, mode, n)
			}
		}
	}
}

// A reply that the server cut keeps its text, and the user reads that and why it is not whole.
func TestCutReply(t *testing.T) {
	ended := func(r script.Reply, finish string) script.Reply { r.Finish = finish; return r }
	half := script.Native("exec", `{"command":"rm -r /tm`)
	for _, row := range []struct {
		name         string
		reply        script.Reply
		text, finish string
		plain, ends  string // without tools
		fault        string
		requests     int
	}{
		{"repetition", ended(script.Text("It is"), "repetition"), "It is\n\nThe model server broke off this reply (repetition). It may lack its end.", "length", "It is", "length", "cut", 1},
		{"repetition behind reasoning", ended(script.Text("It is").Thinking("Hm."), "repetition"), "It is\n\nThe model server broke off this reply (repetition). It may lack its end.", "length", "It is", "length", "cut", 1},
		{"content filter", ended(script.Text("It is"), "content_filter"), "It is\n\nThe content filter of the model server cut this reply off.", "stop", "It is", "content_filter", "filtered", 1},
		{"content filter, no text", ended(script.Empty(), "content_filter"), "The content filter of the model server cut this reply off.", "stop", "", "content_filter", "filtered", 1},
		{"content filter behind reasoning", ended(script.OnlyThought("Hm."), "content_filter"), "The content filter of the model server cut this reply off.", "stop", "", "content_filter", "filtered", 1},
		{"content filter in a call", ended(half, "content_filter"), "The content filter of the model server cut this reply off.", "stop", "", "content_filter", "filtered", 1},
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := failing(t, setup{}, row.reply)
			if a := r.answer(mode); a.text != row.text || a.last != row.finish || len(a.calls) > 0 ||
				a.fault.Message != "" {
				t.Errorf("%s, %s: %q, ended by %q\n%s", row.name, mode, a.text, a.last, a.body)
			}
			if log := r.log.String(); !strings.Contains(log, "event=said fault="+row.fault) {
				t.Errorf("%s, %s: log %s", row.name, mode, log)
			}
			if n := len(r.model.Requests("")); n != row.requests {
				t.Errorf("%s, %s: %d requests", row.name, mode, n)
			}
			if len(row.reply.Calls) > 0 {
				continue // no tool, no call
			}
			if a := r.plain(mode); a.text != row.plain || a.last != row.ends {
				t.Errorf("%s, %s, without tools: %q, ended by %q", row.name, mode, a.text, a.last)
			}
		}
	}
}

// A call that was cut in the middle is asked for again; a whole one leaves.
func TestCutCall(t *testing.T) {
	half, whole := script.Native("exec", `{"command":"rm -r /tm`), script.Native("read", `{"path":"a"}`)
	half.Finish, whole.Finish = "repetition", "repetition"
	for _, mode := range []string{"stream", "whole"} {
		r := play(t, half, whole)
		a := r.answer(mode)
		asked := r.model.Requests("")
		if len(a.calls) != 1 || a.calls[0].Args != `{"path":"a"}` || a.last != "tool_calls" || a.text != "" ||
			len(asked) != 2 {
			t.Fatalf("%s: %d requests\n%s", mode, len(asked), a.body)
		}
		if told := asked[1].Messages[len(asked[1].Messages)-1].Text; !strings.Contains(told, "cut off") {
			t.Errorf("%s: the model is told %q", mode, told)
		}
	}
}
