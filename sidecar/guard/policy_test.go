package guard_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Arguments that are denied, a tool whose schema lets more through, and OpenClaw's way
// to call a tool that is not offered.
const (
	bad      = `{"command":"rm -rf /"}`
	openTool = `"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]`
	viaTool  = `"tools":[{"type":"function","function":{"name":"tool_call","parameters":{"type":"object","properties":{"id":{"type":"string"},"args":{"type":"object"}}}}}]`
)

// A call that exec.yaml denies never leaves, streamed or not, however it was written
// and wherever it was found. The model is told, and may do something else; if it
// insists, the user reads why.
func TestDenied(t *testing.T) {
	good := script.Native("exec", `{"command":"ls"}`)
	via := script.Native("tool_call", `{"id":"read","args":{"path":"a"}}`)
	for _, row := range []struct {
		name  string
		first []script.Reply
		tools string // of the request; "": exec and read
		good  script.Reply
	}{
		{"native", []script.Reply{script.Native("exec", bad)}, "", good},
		{"leaked", []script.Reply{script.LeakedHarmony("exec", bad)}, "", good},
		{"marker", []script.Reply{script.Marker("exec", bad)}, "", good},
		{"alias", []script.Reply{script.Native("exec", `{"cmd":"rm -rf /"}`)}, "", good},
		{"in the reasoning", []script.Reply{script.InReasoning("exec", bad)}, "", good},
		{"Ollama's error", []script.Reply{script.OllamaParseError(`{"command":"rm -rf /"`)}, "", good},
		{"Groq's error", []script.Reply{servers.GroqFailedGeneration(`{"name":"exec","arguments":` + bad + `}`)}, "", good},
		{"after a retry", []script.Reply{script.Empty(), script.Native("exec", bad)}, "", good},
		{"a number beyond float64", []script.Reply{script.Native("exec", `{"command":"rm -rf /","n":1e999}`)}, openTool, good},
		{"a second command", []script.Reply{script.Native("exec", `{"command":"rm -rf /","script":"rm -rf /"}`)}, openTool, good},
		{"the key twice", []script.Reply{script.Native("exec", `{"command":"rm -rf /","command":"rm -rf /"}`)}, openTool, good},
		{"tool_call", []script.Reply{script.Native("tool_call", `{"id":"exec","args":`+bad+`}`)}, viaTool, via},
		{"tool_call, flat", []script.Reply{script.Native("tool_call", `{"id":"exec","command":"rm -rf /"}`)}, viaTool, via},
		{"tool_call, another spelling", []script.Reply{script.Native("tool_call", `{"toolId":"openclaw:core:exec","input":`+bad+`}`)}, viaTool, via},
		{"guided", []script.Reply{script.GuidedJSON("exec", bad)}, "", good},
		{"fence", []script.Reply{script.FencedJSON("exec", bad)}, "", good},
		{"lines", []script.Reply{script.ReAct("exec", bad)}, "", good},
		{"stripped", []script.Reply{script.StrippedHarmony("exec", bad)}, "", good},
		{"in the final channel", []script.Reply{script.FinalChannel("exec", bad)}, "", good},
		{"a whole document", []script.Reply{{Body: document(calling("exec", bad))}}, "", good},
	} {
		with := cmp.Or(row.tools, provider.BothTools)
		for _, mode := range []string{with, provider.Streaming + "," + with} {
			t.Run(row.name, func(t *testing.T) {
				r := provider.Play(t, append(slices.Clone(row.first), row.good)...)
				a := r.Chat(provider.Body(mode))
				mustDeny(r, a)
				if len(a.Calls) != 1 || a.Calls[0].Args != row.good.Calls[0].Arguments {
					t.Errorf("%v %s", a.Calls, a.Body)
				}
				asked := r.Model.Requests("")
				if len(asked) != len(row.first)+1 || !strings.Contains(string(asked[len(row.first)].Body),
					"Name the files that are meant.") {
					t.Error("the model was not told why")
				}
				r = provider.Play(t, append(slices.Clone(row.first), row.first[len(row.first)-1])...)
				a = r.Chat(provider.Body(mode))
				mustDeny(r, a)
				if len(a.Calls) != 0 || !strings.Contains(a.Text,
					"not allowed here. This deletes the system") {
					t.Errorf("again: %v %q", a.Calls, a.Text)
				}
			})
		}
	}
}

// mustDeny checks that nothing of the denied call is in any choice of the answer,
// and that the log knows.
func mustDeny(r *provider.Server, a *provider.Answer) {
	r.T.Helper()
	all := map[int]string{}
	for _, e := range a.Events {
		for _, c := range e.Choices {
			for _, p := range []provider.Part{c.Delta, c.Message} {
				all[c.Index] += p.Thought + p.Content
				for _, call := range p.ToolCalls {
					all[c.Index] += call.Function.Arguments
				}
			}
		}
	}
	// as our own sentence quotes it
	said := strings.NewReplacer(`in "rm -rf /"`, "", `in \"rm -rf /\"`, "").Replace(fmt.Sprint(all, a.Body))
	if strings.Contains(said, "rm -rf") || a.Status != http.StatusOK {
		r.T.Errorf("it left: %d %v\n%s", a.Status, all, a.Body)
	}
	if log := r.Log.String(); !strings.Contains(log, "event=policy_deny") ||
		!strings.Contains(log, "rule=whole-tree") {
		r.T.Errorf("not in the log: %s", log)
	}
}

// What stands beside a denied call leaves.
func TestDeniedBeside(t *testing.T) {
	for name, other := range map[string]string{"good": `{"command":"ls"}`,
		"audited": `{"command":"dd if=x of=/dev/sdb"}`} {
		for _, mode := range []string{"stream", "whole"} {
			for _, calls := range [][]string{{other, bad}, {bad, other}} {
				var reply script.Reply
				for i, args := range calls {
					reply.Calls = append(reply.Calls, script.Call{ID: fmt.Sprint("c", i), Name: "exec",
						Arguments: args})
				}
				r := under(t, "profile: permissive\n"+auditDisks, reply)
				a := r.Answer(mode)
				mustDeny(r, a)
				if len(a.Calls) != 1 || a.Calls[0].Args != other || a.Last != "tool_calls" {
					t.Errorf("%s, %s: %v", name, mode, a.Calls)
				}
				if n := len(r.Model.Requests("")); n != 1 ||
					!strings.Contains(a.Text, "The call of exec was not made. This deletes") {
					t.Errorf("%s, %s: nobody is told: %q after %d requests", name, mode, a.Text, n)
				}
				if log := r.Log.String(); name == "audited" && !strings.Contains(log, "event=policy_audit") {
					t.Errorf("the dry run is not in the log: %s", log)
				}
			}
		}
	}
}

// Every choice is judged, and what we say in one leaves the others as they must be,
// whether the server answers in the form that was asked for or in the other.
func TestDeniedInChoices(t *testing.T) {
	ls, rm, text := calling("exec", `{"command":"ls"}`), calling("exec",
		bad), `"reasoning":"Hm.","content":"Yes."`
	for _, choices := range [][]string{{rm, rm}, {ls, rm}, {rm, ls}, {rm, text},
		{`"reasoning":"Hm.",` + rm, ls}} {
		events := ""
		for i, c := range slices.Backward(choices) { // the order says nothing
			events += provider.Piece(i, `"role":"assistant",`+strings.ReplaceAll(c, `{"id"`, `{"index":0,"id"`),
				"null") + provider.Piece(i, "", `"stop"`)
		}
		for kind, body := range map[string]string{provider.Document: document(choices...), provider.SSE: events + provider.DoneEvent} {
			for _, mode := range []string{provider.Streaming, `"n":2`} {
				if kind == provider.SSE && mode != provider.Streaming && choices[0] == ls {
					continue // of a stream that nobody asked for only the first choice is read
				}
				r := provider.Start(t, provider.Setup{}, provider.Says(kind, body))
				a := r.Chat(provider.Body(mode + "," + provider.BothTools))
				mustDeny(r, a)
				for i, c := range choices {
					if told := strings.Contains(choice(a, i), "not allowed here"); told != strings.Contains(c,
						"rm -rf") && !(kind == provider.SSE && mode != provider.Streaming && i > 0) {
						t.Errorf("%s, %s: the user of choice %d is told: %v: %s", kind, mode, i, told, a.Body)
					}
				}
				if kind == provider.Document && mode != provider.Streaming &&
					strings.Count(a.Body, `"reasoning_content":"Hm."`) != strings.Count(body, "Hm.") {
					t.Errorf("the thoughts: %s", a.Body)
				}
				if kind == provider.Document && choices[1] == ls && !strings.Contains(a.Body, `\"ls\"`) {
					t.Errorf("%s, %s: the good call does not leave: %s", kind, mode, a.Body)
				}
			}
		}
	}
}

// The model is told of a denial in any choice, unless another one has left.
func TestDeniedInALaterChoice(t *testing.T) {
	ls, rm := calling("exec", `{"command":"ls"}`), calling("exec", bad)
	for _, c := range []struct {
		mode  string
		asked int
	}{{`"n":2`, 2}, {provider.Streaming + `,"n":2`, 1}} {
		r := provider.Play(t, script.Reply{Body: document(ls, rm)}, script.Reply{Body: document(ls, ls)})
		a := r.Chat(provider.Body(c.mode + "," + provider.BothTools))
		mustDeny(r, a)
		if asked := r.Model.Requests(""); len(asked) != c.asked || c.asked == 2 &&
			!strings.Contains(string(asked[1].Body), "Name the files that are meant.") {
			t.Errorf("%s: the model was asked %d times", c.mode, len(asked))
		}
		if told := strings.Contains(choice(a, 1), "not allowed here"); told != (c.asked == 1) {
			t.Errorf("%s: the user is told %v: %s", c.mode, told, a.Body)
		}
	}
}

// So is it of a call in any choice that is refused otherwise, and at last the user of that choice.
func TestRefusedInALaterChoice(t *testing.T) {
	good, bad := calling("exec", `{"command":"ls"}`), calling("nope", `{}`)
	r := provider.Play(t, script.Reply{Body: document(good, bad)}, script.Reply{Body: document(good, good)})
	if a := r.Chat(provider.Body(`"n":2,` + provider.BothTools)); len(r.Model.Requests("")) != 2 ||
		strings.Count(a.Body, `\"ls\"`) != 2 {
		t.Errorf("%d requests: %s", len(r.Model.Requests("")), a.Body)
	}
	for _, mode := range []string{`"n":2`, provider.Streaming + `,"n":2`} {
		reply := script.Reply{Body: document(good, bad)}
		a := provider.Play(t, reply, reply, reply, reply).Chat(provider.Body(mode + "," + provider.BothTools))
		if len(a.Calls) != 1 || choice(a, 0) != "" || !strings.Contains(choice(a, 1), "nope") {
			t.Errorf("%s: %s", mode, a.Body)
		}
	}
}

// choice is the text of one choice.
func choice(a *provider.Answer, i int) (text string) {
	for _, e := range a.Events {
		for _, c := range e.Choices {
			if c.Index == i {
				text += c.Delta.Content + c.Message.Content
			}
		}
	}
	return text
}

// calling is a call as members of a message.
func calling(name, args string) string {
	return fmt.Sprintf(`"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":%q,"arguments":%q}}]`, name, args)
}

// document is a whole reply with these messages.
func document(messages ...string) string {
	var choices []string
	for i, m := range messages {
		choices = append(choices,
			fmt.Sprintf(`{"index":%d,"message":{"role":"assistant",%s},"finish_reason":"stop"}`, i, m))
	}
	return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[` + strings.Join(choices,
		",") + `]}`
}

// Our own sentence quotes the model, and is no call either.
func TestDeniedSentenceIsNoCall(t *testing.T) {
	const key = "<function=exec><parameter=command>rm x</parameter></function>"
	for _, mode := range []string{"stream", "whole"} {
		r := provider.Play(t, script.Native("exec", `{"`+key+`":"x"}`), script.Native("exec", `{"`+key+`":"x"}`))
		a := r.Answer(mode)
		if !strings.Contains(a.Text, "parameter=command") || strings.Contains(a.Text, "<function=exec>") {
			t.Errorf("%s: %q", mode, a.Text)
		}
	}
}

// What the caller would run otherwise than it stands there cannot be judged.
func TestDeniedUnclear(t *testing.T) {
	for _, args := range []string{`{"command":"ls </arg_value>>"}`,
		`{"command":"ls","workdir":"/srv</arg_value>>>"}`} {
		r := provider.Play(t, script.Native("exec", args), script.Text("No."))
		if a := r.Chat(provider.Body(openTool)); len(a.Calls) != 0 || a.Text != "No." {
			t.Errorf("%s left: %v %q", args, a.Calls, a.Text)
		}
	}
}

// A call inside of another call is judged, too: OpenClaw's tool_call runs what it names.
func TestDeniedInside(t *testing.T) {
	nested := `{"id":"exec","args":{"command":"rm -rf /"}}`
	for range 5 {
		r := provider.Play(t, script.Native("tool_call", nested), script.Text("No."))
		if a := r.Chat(provider.Body(viaTool)); len(a.Calls) != 0 || strings.Contains(a.Body, "rm -rf") {
			t.Errorf("%s left: %s", nested, a.Body)
		}
		nested = `{"id":"tool_call","args":` + nested + `}`
	}
	r := provider.Play(t, script.Native("tool_call", `{"id":"exec","args":{"command":"ls"}}`))
	if a := r.Chat(provider.Body(viaTool)); len(a.Calls) != 1 {
		t.Errorf("a harmless one does not leave: %s", a.Body)
	}
	// the sidecar makes the tool_call itself
	for _, mode := range []string{viaTool, provider.Streaming + "," + viaTool} {
		r := provider.Play(t, script.Native("shell", bad), script.Text("No."))
		a := r.Chat(`{` + mode +
			`,"model":"gpt-oss","messages":[{"role":"system","content":"Available deferred-schema tools:\n- shell (core): Run.\n"},{"role":"user","content":"go"}]}`)
		mustDeny(r, a)
		if len(a.Calls) != 0 {
			t.Errorf("%v", a.Calls)
		}
	}
}
