package turn_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What the model or its server slipped in, and what the caller gets all the same.
func TestRecovery(t *testing.T) {
	good := script.Native("read", `{"path":"a"}`)
	yes := script.Text("Yes.")
	cut := script.Text("<|channel|>commentary to=functions.exec<|message|>{\"command\":\"rm -r /tm")
	cut.Finish = "length"
	guided := script.Text(`{"reasoning":"I look.","tool_calls":[{"name":"exec","arguments":{"command":"rm -r /tm`)
	guided.Finish = "length"
	half := script.Text(`{"tool_calls":[{"name":"read","arguments":{"path":"a"}},{"name":"exec","arguments":{"comm`)
	half.Finish = "length"
	unclear := script.Text("⟦call⟧ exec ⟦args⟧ {\"command\":\"ls\"}")
	two := func(n string) script.Reply { return script.Native("exec", n) }
	for _, row := range []struct {
		name  string
		steps []script.Reply
		text  string   // want
		call  string   // want: name and arguments
		told  []string // the correction holds these; nil: the same request again
	}{
		{"empty", []script.Reply{script.Empty(), yes}, "Yes.", "", nil},
		{"twice empty", []script.Reply{script.Empty(), script.Empty(), yes}, "Yes.", "", nil},
		{"only reasoning", []script.Reply{servers.OnlyThought("Hm."), yes}, "Yes.", "", []string{"neither answered nor called"}},
		{"HarmonyError", []script.Reply{script.HarmonyError(), yes}, "Yes.", "", nil},
		{"HarmonyError in the stream", []script.Reply{script.HarmonyErrorInStream(), yes}, "Yes.", "", nil},
		{"unknown tool", []script.Reply{script.Native("launch", `{}`), good}, "", `read {"path":"a"}`, []string{"launch"}},
		{"unknown tool, leaked", []script.Reply{script.LeakedHarmony("launch", `{}`), good}, "", `read {"path":"a"}`, []string{"launch"}},
		{"schema", []script.Reply{two(`{"command":"ls","timeout":"soon"}`), good}, "", `read {"path":"a"}`, []string{"exec", "timeout"}},
		{"missing argument", []script.Reply{two(`{"timeout":3}`), good}, "", `read {"path":"a"}`, []string{"exec", "command"}},
		{"cut call", []script.Reply{cut, good}, "", `read {"path":"a"}`, []string{"exec", "cut off"}},
		{"cut guided JSON", []script.Reply{guided, good}, "", `read {"path":"a"}`, []string{"exec", "cut off"}},
		{"cut behind a whole call", []script.Reply{half}, "", `read {"path":"a"}`, nil},
		{"a text that may be a call", []script.Reply{unclear, good}, "", `read {"path":"a"}`, []string{"not clear whether exec shall be called"}},
		{"the same again is text", []script.Reply{unclear, unclear}, "⟦call⟧ exec ⟦args⟧ {\"command\":\"ls\"}", "", []string{"exec"}},
		{"Ollama's error", []script.Reply{script.OllamaParseError(`{"path":"a"`)}, "", `read {"path":"a"}`, nil},
		{"Groq's error", []script.Reply{servers.GroqFailedGeneration(`{"name":"read","arguments":{"path":"a"}}`)}, "", `read {"path":"a"}`, nil},
		{"Groq's error with text", []script.Reply{servers.GroqFailedGeneration("It is one.")}, "It is one.", "", nil},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := provider.Play(t, row.steps...)
				a := r.Answer(mode)
				call := ""
				for _, c := range a.Calls {
					call += c.Name + " " + c.Args
				}
				if a.Status != 200 || a.Text != row.text || call != row.call || a.Fault.Message != "" {
					t.Errorf("text %q, call %q\n%s", a.Text, call, a.Body)
				}
				asked := r.Model.Requests("")
				if len(asked) != len(row.steps) {
					t.Fatalf("%d requests, want %d", len(asked), len(row.steps))
				}
				for _, again := range asked[1:] {
					told := again.Messages[len(again.Messages)-1].Text
					if row.told == nil && string(again.Body) != string(asked[0].Body) {
						t.Errorf("another request: %s", again.Body)
					}
					for _, word := range row.told {
						if !strings.Contains(told, word) {
							t.Errorf("the correction %q lacks %q", told, word)
						}
					}
				}
			})
		}
	}
}

// Ollama swallows a parse error in a stream of chat completions: what has come ends with a chunk without a
// word. The call comes through all the same, behind what was said before it.
func TestOllamaSwallowedError(t *testing.T) {
	bad := script.Native("read", `{"path":"a"`)
	thinking, speaking := bad.Thinking("I look."), bad.Thinking("I look.")
	speaking.Content = "Let me look at the file now, please wait."
	for _, reply := range []script.Reply{bad, thinking, speaking} {
		for _, mode := range []string{"stream", "whole"} {
			model := script.New(script.Scenario{Steps: []script.Reply{reply}, Loop: true})
			model.Dialect = servers.Ollama()
			model.Dialect.Chat = false // a proxy in front of it passes chat completions alone
			r := provider.Start(t, provider.Setup{}, model)
			a := r.Answer(mode)
			if len(a.Calls) != 1 || a.Calls[0].Name != "read" || a.Calls[0].Args != `{"path":"a"}` ||
				mode == "stream" && a.Text != reply.Content || a.Fault.Message != "" {
				t.Errorf("%s, %q: %+v\n%s", mode, reply.Content, a.Calls, a.Body)
			}
			if n := len(r.Model.Requests("")); n > 2 {
				t.Errorf("%s, %q: asked %d times", mode, reply.Content, n)
			}
		}
	}
}

// Nothing is asked for ever, and there is always an answer in the end.
func TestBounded(t *testing.T) {
	for _, row := range []struct {
		name     string
		loop     []script.Reply
		requests int
		status   int
		code     string // of the error; "": a sentence instead
	}{
		{"empty", []script.Reply{script.Empty()}, 3, 200, ""},
		{"only reasoning", []script.Reply{servers.OnlyThought("Hm.")}, 2, 200, ""},
		{"unknown tool", []script.Reply{script.Native("launch", `{}`)}, 2, 200, ""},
		{"schema", []script.Reply{script.Native("exec", `{"timeout":3}`)}, 2, 200, ""},
		{"token limit", []script.Reply{{Reasoning: "Hm.", Finish: "length"}}, 1, 200, ""},
		{"HarmonyError", []script.Reply{script.HarmonyError()}, 3, 200, ""},
		{"one fault after the other", []script.Reply{script.Native("launch", `{}`), script.Empty(), script.Native("exec", `{}`), script.HarmonyError()}, 4, 200, ""},
		{"a call recovered, but a wrong one", []script.Reply{script.OllamaParseError(`{"nothing":"fits"`)}, 3, 200, ""},
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := provider.Start(t, provider.Setup{}, script.New(script.Scenario{Steps: row.loop, Loop: true}))
			a := r.Answer(mode)
			status := a.Status
			if a.Fault.Code != "" && status == 200 {
				status = row.status // the error came as an event, after reasoning
			}
			if status != row.status || a.Fault.Code != row.code || row.code == "" &&
				strings.TrimSpace(a.Text) == "" || len(a.Calls) > 0 {
				t.Errorf("%s, %s: %d %q\n%s", row.name, mode, a.Status, a.Text, a.Body)
			}
			if n := len(r.Model.Requests("")); n != row.requests {
				t.Errorf("%s, %s: %d requests, want %d", row.name, mode, n, row.requests)
			}
		}
	}
}

// What has left cannot be taken back: only a correction continues it.
func TestAfterText(t *testing.T) {
	bad := script.Text("Let me look. " + script.LeakedHarmony("launch", `{}`).Content).Thinking("Hm.")
	r := provider.Play(t, bad, script.Text("There is no such tool."))
	a := r.Stream()
	asked := r.Model.Requests("")
	if a.Text != "Let me look. \n\nThere is no such tool." &&
		a.Text != "Let me look.\n\nThere is no such tool." || a.Roles != 1 || len(a.IDs) != 1 || !a.Done ||
		len(asked) != 2 {
		t.Fatalf("%q, %d requests\n%s", a.Text, len(asked), a.Body)
	}
	last := asked[1].Messages[len(asked[1].Messages)-2:]
	if last[0].Role != "assistant" || !strings.Contains(last[0].Text, "Let me look.") ||
		last[1].Role != "user" || !strings.Contains(last[1].Text, "launch") {
		t.Errorf("told %+v", last)
	}
}

// Whoever has read the beginning also reads why nothing came of it, each on a line of its own.
func TestAfterTextInVain(t *testing.T) {
	try := func(text string) script.Reply {
		return script.Text(text + script.LeakedHarmony("launch", `{}`).Content).Thinking("Hm.")
	}
	a := provider.Play(t, try("Let me look."), try("Let me try again.")).Stream()
	lines := strings.Split(a.Text, "\n\n")
	if len(lines) != 3 || lines[0] != "Let me look." || lines[1] != "Let me try again." ||
		!strings.Contains(lines[2], "launch") || !a.Done {
		t.Errorf("%q\n%s", lines, a.Body)
	}
}

// A reply that the server could not read to its end goes on behind the text that has left.
func TestGoesOn(t *testing.T) {
	fault := func(reply script.Reply) script.Reply {
		reply.Content = "I look <" // the end of it is held
		return reply.Ending(script.Fault)
	}
	for _, row := range []struct {
		first script.Reply
		told  string
	}{
		{fault(script.HarmonyError()), "could not read what you wrote"},
		{fault(script.Fail(http.StatusInternalServerError, "The model produced output that does not match the expected peg-native format")), "could not read what you wrote"},
	} {
		r := provider.Play(t, row.first, script.Native("read", `{"path":"a"}`))
		a := r.Stream()
		asked := r.Model.Requests("")
		if a.Text != "I look <" || len(a.Calls) != 1 || !a.Done || a.Fault.Message != "" || len(asked) != 2 {
			t.Fatalf("%q, %d requests\n%s", a.Text, len(asked), a.Body)
		}
		last := asked[1].Messages[len(asked[1].Messages)-2:]
		if last[0].Role != "assistant" || last[0].Text != "I look <" ||
			!strings.Contains(last[1].Text, row.told) {
			t.Errorf("told %+v", last)
		}
	}
}

// Where the server itself has failed behind a text, the agent is told so: it asks again from the beginning,
// and no text stands there twice.
func TestFailsBehindText(t *testing.T) {
	reply := script.Fail(http.StatusInternalServerError, "CUDA error")
	reply.Content = "I look"
	r := provider.Play(t, reply.Ending(script.Fault))
	a := r.Stream()
	if a.Text != "I look" || !strings.Contains(a.Fault.Message, "you can retry your request") ||
		len(r.Model.Requests("")) != 1 {
		t.Errorf("%q, %+v", a.Text, a.Fault)
	}
}

// An error of the server is tried once more, one of the request that comes with the same status is not.
func TestTriedOnceMore(t *testing.T) {
	for _, row := range []struct {
		err      string
		requests int
		status   int
	}{
		{"CUDA error", 2, 502},
		{"Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1", 1, 400},
		{"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", 1, 400},
		{"The model produced output that does not match the expected peg-native format", 3, 502},
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := provider.Failing(t, provider.Setup{}, script.Fail(http.StatusInternalServerError, row.err))
			a := r.Plain(mode)
			if n := len(r.Model.Requests("")); n != row.requests || a.Status != row.status {
				t.Errorf("%s, %s: %d requests, status %d", row.err, mode, n, a.Status)
			}
		}
	}
}

// A call that a stop text of the request has cut is not run, although the server says that it ends in a call.
func TestStoppedCall(t *testing.T) {
	for _, row := range []struct {
		args, more string
		requests   int
		call       string
	}{
		{`{"path":"a`, `"stop":["|"],`, 2, `{"path":"b"}`},
		{`{"path":"a`, `"stop":"|",`, 2, `{"path":"b"}`},
		{`{"path":"a`, ``, 1, `{"path":"a"}`},
		{`{"path":"a`, `"stop":null,`, 1, `{"path":"a"}`},
		{`{"path":"a"}`, `"stop":["|"],`, 1, `{"path":"a"}`},
	} {
		for _, stream := range []string{"", provider.Streaming + ","} {
			r := provider.Play(t, script.Native("read", row.args), script.Native("read", `{"path":"b"}`))
			a := r.Chat(`{` + stream + row.more + provider.BothTools +
				`,"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`)
			if n := len(r.Model.Requests("")); n != row.requests || len(a.Calls) != 1 ||
				a.Calls[0].Args != row.call {
				t.Errorf("%s with %s: %d requests, %v", row.args, row.more, n, a.Calls)
			}
		}
	}
}

// The chain of thought behind a call goes back to the model with its result, in
// the field of the dialect, also where the caller has dropped it.
func TestReasoningReplay(t *testing.T) {
	for _, d := range servers.Dialects() {
		field := d.Reasoning
		if d.Chat {
			field = "thinking"
		}
		for _, mode := range []string{"stream", "whole"} {
			model := script.New(script.Scenario{Steps: []script.Reply{
				script.LeakedHarmony("read", `{"path":"a"}`).Thinking("I must read a."),
				script.Text("Done.")}})
			model.Dialect = d
			r := provider.Start(t, provider.Setup{}, model)
			a := r.Answer(mode)
			if len(a.Calls) != 1 || a.Thought != "I must read a." {
				t.Fatalf("%s, %s: %+v", d.ID, mode, a)
			}
			id := string(openai.AppendString(nil, a.Calls[0].ID))
			next := r.Chat(`{"model":"gpt-oss",` + provider.BothTools +
				`,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":` +
				id + `,"type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":` + id + `,"content":"x"}]}`)
			asked := model.Requests("")[1].Messages
			at := slices.IndexFunc(asked, func(m script.Message) bool { return m.Role == "assistant" })
			if next.Text != "Done." || at < 0 || asked[at].Field(field) != "I must read a." {
				t.Errorf("%s, %s: %+v", d.ID, mode, asked)
			}
		}
	}
}

// A server that lists the wrong way of failing is asked again only while nothing
// has left.
func TestResampleOnlyBeforeText(t *testing.T) {
	for _, row := range []struct {
		first    script.Reply
		requests int
	}{
		{script.Text("It is").Ending(script.Garbled), 1},
		{script.Text("<").Ending(script.Garbled), 2},
		{script.Reply{Reasoning: "Hm."}.Ending(script.Reset), 2},
		{script.Text("It is").Thinking("Hm.").Ending(script.Reset), 1},
	} {
		r := provider.Play(t, row.first, script.Text("Yes."))
		a := r.Stream()
		if n := len(r.Model.Requests("")); n != row.requests || a.Done != (n == 2) ||
			n == 2 && a.Text != "Yes." || a.Status != http.StatusOK {
			t.Errorf("%+v: %d requests\n%s", row.first, n, a.Body)
		}
	}
}
