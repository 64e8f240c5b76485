package sidecar

import (
	"net/http"
	"slices"
	"strings"
	"testing"

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
		{"only reasoning", []script.Reply{script.OnlyThought("Hm."), yes}, "Yes.", "", []string{"neither answered nor called"}},
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
		{"Groq's error", []script.Reply{script.GroqFailedGeneration(`{"name":"read","arguments":{"path":"a"}}`)}, "", `read {"path":"a"}`, nil},
		{"Groq's error with text", []script.Reply{script.GroqFailedGeneration("It is one.")}, "It is one.", "", nil},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				r := play(t, row.steps...)
				a := r.answer(mode)
				call := ""
				for _, c := range a.calls {
					call += c.Name + " " + c.Args
				}
				if a.status != 200 || a.text != row.text || call != row.call || a.fault.Message != "" {
					t.Errorf("text %q, call %q\n%s", a.text, call, a.body)
				}
				asked := r.model.Requests("")
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
			model.Dialect = script.Ollama()
			model.Dialect.Chat = false // a proxy in front of it passes chat completions alone
			r := start(t, setup{}, model)
			a := r.answer(mode)
			if len(a.calls) != 1 || a.calls[0].Name != "read" || a.calls[0].Args != `{"path":"a"}` ||
				mode == "stream" && a.text != reply.Content || a.fault.Message != "" {
				t.Errorf("%s, %q: %+v\n%s", mode, reply.Content, a.calls, a.body)
			}
			if n := len(r.model.Requests("")); n > 2 {
				t.Errorf("%s, %q: asked %d times", mode, reply.Content, n)
			}
		}
	}
}

// answer asks for a stream or a document, with both tools.
func (r *rig) answer(mode string) *answer {
	if mode == "stream" {
		return r.stream()
	}
	return r.whole()
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
		{"only reasoning", []script.Reply{script.OnlyThought("Hm.")}, 2, 200, ""},
		{"unknown tool", []script.Reply{script.Native("launch", `{}`)}, 2, 200, ""},
		{"schema", []script.Reply{script.Native("exec", `{"timeout":3}`)}, 2, 200, ""},
		{"token limit", []script.Reply{{Reasoning: "Hm.", Finish: "length"}}, 1, 200, ""},
		{"HarmonyError", []script.Reply{script.HarmonyError()}, 3, 200, ""},
		{"one fault after the other", []script.Reply{script.Native("launch", `{}`), script.Empty(), script.Native("exec", `{}`), script.HarmonyError()}, 4, 200, ""},
		{"a call recovered, but a wrong one", []script.Reply{script.OllamaParseError(`{"nothing":"fits"`)}, 3, 200, ""},
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := start(t, setup{}, script.New(script.Scenario{Steps: row.loop, Loop: true}))
			a := r.answer(mode)
			status := a.status
			if a.fault.Code != "" && status == 200 {
				status = row.status // the error came as an event, after reasoning
			}
			if status != row.status || a.fault.Code != row.code || row.code == "" &&
				strings.TrimSpace(a.text) == "" || len(a.calls) > 0 {
				t.Errorf("%s, %s: %d %q\n%s", row.name, mode, a.status, a.text, a.body)
			}
			if n := len(r.model.Requests("")); n != row.requests {
				t.Errorf("%s, %s: %d requests, want %d", row.name, mode, n, row.requests)
			}
		}
	}
}

// What has left cannot be taken back: only a correction continues it.
func TestAfterText(t *testing.T) {
	bad := script.Text("Let me look. " + script.LeakedHarmony("launch", `{}`).Content).Thinking("Hm.")
	r := play(t, bad, script.Text("There is no such tool."))
	a := r.stream()
	asked := r.model.Requests("")
	if a.text != "Let me look. \n\nThere is no such tool." &&
		a.text != "Let me look.\n\nThere is no such tool." || a.roles != 1 || len(a.ids) != 1 || !a.done ||
		len(asked) != 2 {
		t.Fatalf("%q, %d requests\n%s", a.text, len(asked), a.body)
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
	a := play(t, try("Let me look."), try("Let me try again.")).stream()
	lines := strings.Split(a.text, "\n\n")
	if len(lines) != 3 || lines[0] != "Let me look." || lines[1] != "Let me try again." ||
		!strings.Contains(lines[2], "launch") || !a.done {
		t.Errorf("%q\n%s", lines, a.body)
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
		r := play(t, row.first, script.Native("read", `{"path":"a"}`))
		a := r.stream()
		asked := r.model.Requests("")
		if a.text != "I look <" || len(a.calls) != 1 || !a.done || a.fault.Message != "" || len(asked) != 2 {
			t.Fatalf("%q, %d requests\n%s", a.text, len(asked), a.body)
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
	r := play(t, reply.Ending(script.Fault))
	a := r.stream()
	if a.text != "I look" || !strings.Contains(a.fault.Message, "you can retry your request") ||
		len(r.model.Requests("")) != 1 {
		t.Errorf("%q, %+v", a.text, a.fault)
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
			r := failing(t, setup{}, script.Fail(http.StatusInternalServerError, row.err))
			a := r.plain(mode)
			if n := len(r.model.Requests("")); n != row.requests || a.status != row.status {
				t.Errorf("%s, %s: %d requests, status %d", row.err, mode, n, a.status)
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
		for _, stream := range []string{"", streaming + ","} {
			r := play(t, script.Native("read", row.args), script.Native("read", `{"path":"b"}`))
			a := r.chat(`{` + stream + row.more + bothTool +
				`,"model":"gpt-oss","messages":[{"role":"user","content":"go"}]}`)
			if n := len(r.model.Requests("")); n != row.requests || len(a.calls) != 1 ||
				a.calls[0].Args != row.call {
				t.Errorf("%s with %s: %d requests, %v", row.args, row.more, n, a.calls)
			}
		}
	}
}

// The chain of thought behind a call goes back to the model with its result, in
// the field of the dialect, also where the caller has dropped it.
func TestReasoningReplay(t *testing.T) {
	for _, d := range script.Dialects() {
		field := d.Reasoning
		if d.Chat {
			field = "thinking"
		}
		for _, mode := range []string{"stream", "whole"} {
			model := script.New(script.Scenario{Steps: []script.Reply{
				script.LeakedHarmony("read", `{"path":"a"}`).Thinking("I must read a."),
				script.Text("Done.")}})
			model.Dialect = d
			r := start(t, setup{}, model)
			a := r.answer(mode)
			if len(a.calls) != 1 || a.thought != "I must read a." {
				t.Fatalf("%s, %s: %+v", d.ID, mode, a)
			}
			id := string(openai.AppendString(nil, a.calls[0].ID))
			next := r.chat(`{"model":"gpt-oss",` + bothTool +
				`,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":` +
				id + `,"type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":` + id + `,"content":"x"}]}`)
			asked := model.Requests("")[1].Messages
			at := slices.IndexFunc(asked, func(m script.Message) bool { return m.Role == "assistant" })
			if next.text != "Done." || at < 0 || asked[at].Field(field) != "I must read a." {
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
		r := play(t, row.first, script.Text("Yes."))
		a := r.stream()
		if n := len(r.model.Requests("")); n != row.requests || a.done != (n == 2) ||
			n == 2 && a.text != "Yes." || a.status != http.StatusOK {
			t.Errorf("%+v: %d requests\n%s", row.first, n, a.body)
		}
	}
}
