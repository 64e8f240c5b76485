package sidecar_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Nothing happens behind anybody's back: what the user reads, what the model is told, and
// what stands in the log, in cases that once were silent.
func TestNothingIsSilent(t *testing.T) {
	retold := script.Text("I may not.")
	again := func(text string) script.Reply {
		return script.Text(text + script.LeakedHarmony("launch", `{}`).Content).Thinking("Hm.")
	}
	for name, c := range map[string]struct {
		replies []script.Reply
		body    string   // "": both tools are offered
		user    []string // parts of what is read, in this order
		calls   int
		told    []string // parts of the last request; nil: the model is asked once
		log     []string // parts of one line each
	}{
		"a correction in vain, behind text": {
			replies: []script.Reply{again("Let me look."), again("Let me try again.")},
			// of a document, what was refused first has not left
			user: []string{"Let me try again.\n\n", "launch"},
			told: []string{"launch", "read"},
			log: []string{"event=fault fault=not_offered action=correct",
				"event=fault fault=not_offered action=give_up"},
		},
		"a call that is quoted": {
			replies: []script.Reply{script.Text(`commentary to=exec code{"command":"ls"} is what a leak looks like.`)},
			user:    []string{`{"command":"ls"} is what a leak looks like.`},
			log:     []string{"event=reading_step"},
		},
		"OpenClaw's own call, quoted": {
			replies: []script.Reply{script.Text("To run it write\n[exec]\n{\"command\":\"ls\"}\n[END_TOOL_REQUEST]\nin the chat.")},
			user:    []string{"To run it write", `{"command":"ls"}`, "in the chat."},
			log:     []string{"event=reading_step"},
		},
		"text as arguments of exec": {
			replies: []script.Reply{script.Native("exec", `I will list the files.`), retold},
			user:    []string{"I may not."},
			told:    []string{"one JSON object", `\"command\"`},
			log:     []string{"event=fault fault=bad_json action=correct"},
		},
		"a list as arguments of exec": {
			replies: []script.Reply{script.Native("exec", `["ls","-l"]`), retold},
			user:    []string{"I may not."},
			told:    []string{"one JSON object"},
			log:     []string{"event=fault"},
		},
		"a model that is not there": {
			body: `{"model":"gpt-oss-120b","messages":[{"role":"user","content":"go"}]}`,
			user: []string{"gpt-oss-120b", "gpt-oss-20b"},
			log:  []string{"event=request_failed"},
		},
		"a word for the end that nobody knows": {
			replies: []script.Reply{{Content: "It goes on and on", Finish: "repetition"}},
			user:    []string{"It goes on and on\n\n", "repetition"},
			log:     []string{"event=said fault=cut"},
		},
		"a filter of the server": {
			replies: []script.Reply{{Content: "It is", Finish: "content_filter"}},
			user:    []string{"It is\n\n", "content filter"},
			log:     []string{"event=said fault=filtered"},
		},
		"a call that the policy denies": {
			replies: []script.Reply{script.Native("read", `{"path":"/etc/shadow"}`), retold},
			user:    []string{"I may not."},
			told:    []string{"Keys, tokens and passwords are here."},
			log:     []string{"event=policy_deny", "event=fault fault=denied action=correct"},
		},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				r := provider.Start(t, provider.Setup{}, script.New(script.Scenario{Steps: c.replies, Loop: true}))
				body := c.body
				if body == "" {
					body = provider.Body(provider.BothTools)
				}
				if mode == "stream" {
					body = strings.Replace(body, "{", "{"+provider.Streaming+",", 1)
				}
				a := r.Chat(body)
				read := a.Text + a.Fault.Message
				for _, part := range c.user {
					_, behind, found := strings.Cut(read, part)
					if !found {
						t.Errorf("the user reads %q, without %q\n%s", a.Text+a.Fault.Message, part, a.Body)
					}
					read = behind
				}
				if len(a.Calls) != c.calls {
					t.Errorf("%d calls leave: %+v", len(a.Calls), a.Calls)
				}
				asked := r.Model.Requests("")
				if many := len(asked) > 1; many != (c.told != nil) {
					t.Errorf("the model was asked %d times", len(asked))
				}
				for _, part := range c.told {
					if last := string(asked[len(asked)-1].Body); !strings.Contains(last, part) {
						t.Errorf("the model was told %s, without %q", last, part)
					}
				}
				for _, part := range c.log {
					if !strings.Contains(r.Log.String(), part) {
						t.Errorf("no line of the log has %q:\n%s", part, r.Log)
					}
				}
			})
		}
	}
}
