package turn_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Where no new try helps, the user of an agent reads one true sentence, log and metrics say
// what it is, and a request without tools gets a status that OpenClaw does not take for less.
func TestHopeless(t *testing.T) {
	leak := "Unauthorized: " + provider.UpstreamKey + " at 10.0.0.7"
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
		{"only reasoning", servers.OnlyThought("Hm."), "reasoning_only", []string{"gave no answer"}, 2, 502, "reasoning_only"},
		{"too long at once", servers.OverflowVLLM(8192, 9000), "overflow", []string{"too long for the model", "8192 tokens"}, 1, 400, "context_length_exceeded"},
		{"too long at once, in the stream", servers.OverflowVLLM(8192, 9000).Thinking("Hm.").Ending(script.Fault), "overflow", []string{"too long for the model", "8192 tokens"}, 1, 400, "context_length_exceeded"},
		{"HarmonyError", script.HarmonyError(), "harmony_error", []string{"could not read what the model wrote", "200006."}, 3, 502, "harmony_error"},
		{"HarmonyError in the stream", script.HarmonyErrorInStream(), "harmony_error", []string{"could not read what the model wrote"}, 3, 502, "harmony_error"},
		{"HarmonyError behind reasoning", thinking, "harmony_error", []string{"could not read what the model wrote"}, 3, 502, "harmony_error"},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := provider.Failing(t, provider.Setup{Key: provider.UpstreamKey}, row.reply)
				a := r.Answer(mode)
				if a.Status != 200 || a.Fault.Message != "" || a.Last != "stop" ||
					a.Done != (mode == "stream") || len(a.Calls) > 0 {
					t.Errorf("%d, ended by %q\n%s", a.Status, a.Last, a.Body)
				}
				for _, words := range row.says {
					if !strings.Contains(a.Text, words) {
						t.Errorf("%q lacks %q", a.Text, words)
					}
				}
				if n := len(r.Model.Requests("")); n != row.requests {
					t.Errorf("%d requests, want %d", n, row.requests)
				}
				if log := r.Log.String(); !strings.Contains(log, "event=said fault="+row.fault) ||
					!strings.Contains(log, "event=fault fault="+row.fault+" action=give_up") {
					t.Errorf("log: %s", log)
				}
				if m := r.Scrape(); !strings.Contains(m, `gptoss_executor_said_total{arm="",fault="`+
					row.fault+`",model="gpt-oss"} 1`) {
					t.Error("the metrics do not tell it")
				}
				r.NoSecret(a)

				b := r.Plain(mode)
				if b.Status == 200 && mode == "stream" && row.fault != "auth" {
					b.Status = row.status // it came as an event, because the role had left
				}
				if b.Status != row.status || b.Fault.Code != row.code || strings.TrimSpace(b.Text) != "" ||
					b.Done {
					t.Errorf("without tools: %d %s", b.Status, b.Body)
				}
				for _, word := range []string{"401", "403", "nauthorized", "orbidden", "credits"} {
					if row.fault == "auth" && strings.Contains(b.Fault.Message, word) {
						t.Errorf("%q holds %q, by which OpenClaw switches the provider off", b.Fault.Message,
							word)
					}
				}
			})
		}
	}
}

// A conversation that has gone on can be compacted, so the caller gets the error on which it does that.
func TestTooLongIsNotSaidLater(t *testing.T) {
	r := provider.Failing(t, provider.Setup{}, servers.OverflowVLLM(8192, 9000))
	a := r.Chat(`{` + provider.BothTools +
		`,"model":"gpt-oss","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"go"}]}`)
	if a.Status != 400 || a.Fault.Code != "context_length_exceeded" || r.Log.Count("said") != 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// The sentence comes also where the headers have left meanwhile.
func TestSaidLate(t *testing.T) {
	r := provider.Late(t, provider.Setup{Limits: func(l *ruleset.Limits) { l.Keepalive = 20 * time.Millisecond }},
		script.Fail(401, "Unauthorized"))
	if a := r.Stream(); a.Empty == 0 || !strings.Contains(a.Text, "turned gpt-oss-executor away") ||
		a.Roles != 1 || !a.Done {
		t.Errorf("%s", a.Body)
	}
}

// What has left cannot be taken back: a reply that breaks behind text again and again stays an error.
func TestNotSaidBehindText(t *testing.T) {
	broken := script.HarmonyErrorInStream()
	broken.Reasoning, broken.Content = "Hm.", "It is "
	if a := provider.Failing(t, provider.Setup{}, broken).Stream(); !strings.HasPrefix(a.Text, "It is ") ||
		a.Fault.Code != "harmony_error" || a.Done {
		t.Errorf("%s", a.Body)
	}
}

// A server that restarts is a blip: OpenClaw tries again. One that stays away, or never was
// there, is said to be. As soon as it is back it is used.
func TestAway(t *testing.T) {
	model := script.New(script.Scenario{Steps: []script.Reply{script.Text("Yes.")}, Loop: true})
	up := httptest.NewServer(model)
	address := up.Listener.Addr().String()
	r := provider.Start(t, provider.Setup{URL: up.URL, Limits: func(l *ruleset.Limits) { l.Away = 2 * time.Second }}, nil)
	if a := r.Whole(); a.Text != "Yes." {
		t.Fatalf("%s", a.Body)
	}
	up.Close()
	for _, mode := range []string{"stream", "whole"} {
		if a := r.Answer(mode); a.Status != 503 || a.Fault.Code != "upstream_unreachable" ||
			a.Header.Get("Retry-After") == "" {
			t.Errorf("a blip, %s: %d %s", mode, a.Status, a.Body)
		}
	}
	ruletest.Soon(t, "it is away", func() bool { return r.Plain("whole").Fault.Code == "upstream_away" })
	for _, mode := range []string{"stream", "whole"} {
		if a := r.Answer(mode); a.Status != 200 || !strings.Contains(a.Text, "cannot be reached") ||
			strings.Contains(a.Body, address) {
			t.Errorf("away, %s: %d %s", mode, a.Status, a.Body)
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: l, Config: &http.Server{Handler: model}}
	again.Start()
	t.Cleanup(again.Close)
	if a := r.Stream(); a.Text != "Yes." {
		t.Errorf("it is back: %s", a.Body)
	}
	again.Close()
	if a := r.Stream(); a.Fault.Code != "upstream_unreachable" {
		t.Errorf("another blip: %s", a.Body)
	}
}

func TestNeverThere(t *testing.T) {
	r := provider.Start(t, provider.Setup{URL: "http://" + testkit.Address(t)}, nil)
	for _, mode := range []string{"stream", "whole"} {
		a := r.Answer(mode)
		if a.Status != 200 || !strings.Contains(a.Text, "cannot be reached") || a.Last != "stop" {
			t.Errorf("%s: %s", mode, a.Body)
		}
	}
	if log := r.Log.String(); !strings.Contains(log, "event=said fault=away") ||
		!strings.Contains(log, "refused") {
		t.Errorf("log: %s", log)
	}
}

// A caller that says how long it waits is followed, within the bound of the rules.
func TestCallerWaits(t *testing.T) {
	const short, long, never = 150 * time.Millisecond, 600 * time.Millisecond, time.Hour
	before, between := script.Text("Yes."), script.Text("Yes.")
	before.Delay, between.Pause = long, long
	neverBefore, neverBetween := before, between
	neverBefore.Delay, neverBetween.Pause = never, never
	for _, row := range []struct {
		name   string
		reply  script.Reply
		header string
		most   time.Duration // caller_wait
		text   string
	}{
		{"thinks before it answers", before, "60", time.Minute, "Yes."},
		{"silent in the middle", between, "60", time.Minute, "Yes."},
		{"the caller says nothing", neverBefore, "", time.Minute, ""},
		{"silent, and the caller says nothing", neverBetween, "", time.Minute, ""},
		{"it waits less than the rules", neverBefore, "0.05", time.Minute, ""},
		{"more than the bound", neverBefore, "60", short, ""},
		{"nonsense", neverBefore, "soon", time.Minute, ""},
	} {
		for _, mode := range []string{"stream", "whole"} {
			if mode == "whole" && row.reply.Pause > 0 {
				continue // a document has no middle
			}
			r := provider.Start(t, provider.Setup{Server: "vllm", Limits: func(l *ruleset.Limits) {
				l.FirstByte, l.Idle, l.Keepalive, l.CallerWait = short, short, 20*time.Millisecond, row.most
			}}, script.New(script.Scenario{Steps: []script.Reply{row.reply}, Loop: true}))
			body := provider.Body(provider.BothTools)
			if mode == "stream" {
				body = provider.Body(provider.Streaming + "," + provider.BothTools)
			}
			a := r.Chat(body, "X-Stainless-Timeout", row.header)
			if a.Text != row.text || (a.Fault.Code == "upstream_timeout") != (row.text == "") {
				t.Errorf("%s, %s: %q %s", row.name, mode, a.Text, a.Body)
			}
			if n := len(r.Model.Requests("")); n != 1 {
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
		{"content filter behind reasoning", ended(servers.OnlyThought("Hm."), "content_filter"), "The content filter of the model server cut this reply off.", "stop", "", "content_filter", "filtered", 1},
		{"content filter in a call", ended(half, "content_filter"), "The content filter of the model server cut this reply off.", "stop", "", "content_filter", "filtered", 1},
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := provider.Failing(t, provider.Setup{}, row.reply)
			if a := r.Answer(mode); a.Text != row.text || a.Last != row.finish || len(a.Calls) > 0 ||
				a.Fault.Message != "" {
				t.Errorf("%s, %s: %q, ended by %q\n%s", row.name, mode, a.Text, a.Last, a.Body)
			}
			if log := r.Log.String(); !strings.Contains(log, "event=said fault="+row.fault) {
				t.Errorf("%s, %s: log %s", row.name, mode, log)
			}
			if n := len(r.Model.Requests("")); n != row.requests {
				t.Errorf("%s, %s: %d requests", row.name, mode, n)
			}
			if len(row.reply.Calls) > 0 {
				continue // no tool, no call
			}
			if a := r.Plain(mode); a.Text != row.plain || a.Last != row.ends {
				t.Errorf("%s, %s, without tools: %q, ended by %q", row.name, mode, a.Text, a.Last)
			}
		}
	}
}

// A call that was cut in the middle is asked for again; a whole one leaves.
func TestCutCall(t *testing.T) {
	half, whole := script.Native("exec", `{"command":"rm -r /tm`), script.Native("read", `{"path":"a"}`)
	half.Finish, whole.Finish = "repetition", "repetition"
	for _, mode := range []string{"stream", "whole"} {
		r := provider.Play(t, half, whole)
		a := r.Answer(mode)
		asked := r.Model.Requests("")
		if len(a.Calls) != 1 || a.Calls[0].Args != `{"path":"a"}` || a.Last != "tool_calls" || a.Text != "" ||
			len(asked) != 2 {
			t.Fatalf("%s: %d requests\n%s", mode, len(asked), a.Body)
		}
		if told := asked[1].Messages[len(asked[1].Messages)-1].Text; !strings.Contains(told, "cut off") {
			t.Errorf("%s: the model is told %q", mode, told)
		}
	}
}
