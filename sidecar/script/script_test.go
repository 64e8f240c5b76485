package script_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// ask posts a chat and gives back the response with its whole body.
func ask(t *testing.T, s *script.Server, body string) (*http.Response, string) {
	t.Helper()
	srv := httptest.NewServer(s)
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

// told is what the events of a stream add up to.
type told struct {
	content, reasoning, name, args, finish string
	usage, done, fault                     bool
	events                                 int
}

func listen(t *testing.T, stream, reasoning string) told {
	t.Helper()
	var out told
	for lines := bufio.NewScanner(strings.NewReader(stream)); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			out.done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				Finish string `json:"finish_reason"`
			}
			Usage, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		var fields struct {
			Choices []struct{ Delta map[string]any }
		}
		_ = json.Unmarshal([]byte(data), &fields)
		out.events++
		out.usage = out.usage || c.Usage != nil
		out.fault = out.fault || c.Error != nil
		for i, ch := range c.Choices {
			out.content += ch.Delta.Content
			out.finish += ch.Finish
			if text, ok := fields.Choices[i].Delta[reasoning].(string); ok {
				out.reasoning += text
			}
			for _, call := range ch.Delta.Calls {
				out.name += call.Function.Name
				out.args += call.Function.Arguments
			}
		}
	}
	return out
}

const hello = `{"model":"gpt-oss","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}],"tools":[{"type":"function","function":{"name":"exec"}}]}`

func TestStream(t *testing.T) {
	call := script.Native("exec", `{"command":"echo ☃"}`).Thinking("a thought")
	for _, d := range servers.Dialects() {
		s := script.New(script.Scenario{Steps: []script.Reply{call}})
		s.Dialect = d
		_, body := ask(t, s, hello)
		got := listen(t, body, d.Reasoning)
		if got.reasoning != "a thought" || got.name != "exec" || got.args != `{"command":"echo ☃"}` ||
			got.finish != "tool_calls" || !got.usage || !got.done {
			t.Errorf("%s: %+v", d.ID, got)
		}
		if d.WholeCalls && got.events != 4 || !d.WholeCalls && got.events <= 6 {
			t.Errorf("%s: the call came in %d events", d.ID, got.events)
		}
	}
}

func TestWhole(t *testing.T) {
	s := script.New(script.Scenario{Steps: []script.Reply{script.LeakedHarmony("exec", `{}`).Thinking("a thought")}})
	_, body := ask(t, s, strings.Replace(hello, "true", "false", 1))
	for _, want := range []string{`"content":"<|channel|>commentary to=functions.exec`,
		`"reasoning":"a thought"`, `"finish_reason":"stop"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		reply  script.Reply
		status int
		in     string
	}{
		{"harmony", script.HarmonyError(), 500, "expecting start token 200006"},
		{"in stream", script.HarmonyErrorInStream(), 200, `data: {"error":{`},
		{"overflow", servers.OverflowVLLM(100, 200), 400, "maximum context length is 100 tokens"},
		{"llama", servers.OverflowLlamaCPP(100, 200), 400, `"n_ctx":100`},
		{"ollama", script.OllamaParseError(`{"a":1}]`), 500, `raw='{\"a\":1}]'`},
		{"groq", servers.GroqFailedGeneration("<|call|>"), 400, `"failed_generation":"<|call|>"`},
		{"empty", script.Empty(), 200, `"finish_reason":"stop"`},
	} {
		resp, body := ask(t, script.New(script.Scenario{Steps: []script.Reply{c.reply}}), hello)
		if resp.StatusCode != c.status || !strings.Contains(body, c.in) {
			t.Errorf("%s: %d %s", c.name, resp.StatusCode, body)
		}
	}
}

func TestReset(t *testing.T) {
	for _, reply := range []script.Reply{script.Empty().Ending(script.Reset), script.Text("half").Ending(script.Reset)} {
		srv := httptest.NewServer(script.New(script.Scenario{Steps: []script.Reply{reply}}))
		resp, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(hello))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%q: the connection was not cut", reply.Content)
		}
		srv.Close()
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply script.Reply
		want  told
	}{
		{"short", script.Text("half").Ending(script.Short), told{content: "half", events: 2}},
		{"verbatim delta", script.Reply{Deltas: []string{`{"content":null}`, `{"content":"x"}`}}, told{content: "x", finish: "stop", usage: true, done: true, events: 5}},
		{"finish", script.Reply{Content: "cut", Finish: "length"}, told{content: "cut", finish: "length", usage: true, done: true, events: 4}},
		{"fault after text", script.Reply{Content: "half", End: script.Fault, Err: script.HarmonyError().Err}, told{content: "half", fault: true, done: true, events: 3}},
	} {
		_, body := ask(t, script.New(script.Scenario{Steps: []script.Reply{c.reply}}), hello)
		if got := listen(t, body, "reasoning"); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestHangUntilTheCallerLeaves(t *testing.T) {
	s := script.New(script.Scenario{Steps: []script.Reply{script.Text("half").Ending(script.Hang)}})
	srv := httptest.NewServer(s)
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	if s.Unplayed() != 0 {
		t.Error("somebody left too early")
	}
	resp.Body.Close()
	ruletest.Soon(t, "the server notices that the caller left", func() bool { return s.Unplayed() == 1 })
}

func TestRequest(t *testing.T) {
	s := script.New(script.Scenario{Steps: []script.Reply{script.Text("x")}})
	ask(t, s, `{"model":"m","tools":[{"type":"function","function":{"name":"exec"}}],"messages":[
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning":"why","tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"done"}]}`)
	q := s.Requests("")[0]
	if q.Model != "m" || q.Stream || !slices.Equal(q.Tools, []string{"exec"}) ||
		q.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", q)
	}
	m := q.Messages
	if m[0].Text != "ab" || m[1].Field("reasoning") != "why" || m[1].Field("content") != "" ||
		m[1].Calls[0] != (script.Call{"c1", "exec", "{}"}) || m[2].CallID != "c1" || m[2].Text != "done" {
		t.Errorf("%+v", m)
	}
}

func TestSteps(t *testing.T) {
	s := script.New(
		script.Scenario{Name: "alpha", Steps: []script.Reply{script.Text("1"), script.Text("2")}},
		script.Scenario{Name: "alphabet", User: "alphabe", Steps: []script.Reply{script.Text("4")}},
		script.Scenario{Name: "beta", Steps: []script.Reply{script.Text("3")}, Loop: true},
	)
	say := func(texts ...string) string {
		var messages []string
		for _, text := range texts {
			messages = append(messages, `{"role":"user","content":`+strconv.Quote(text)+`}`)
		}
		_, body := ask(t, s, `{"stream":true,"messages":[`+strings.Join(messages, ",")+`]}`)
		return listen(t, body, "reasoning").content
	}
	got := []string{say("alpha"), say("beta"), say("beta", "alpha", "runtime context"), say("alpha", "beta"),
		say("alpha"), say("alphabets"), say("gamma")}
	if want := []string{"1", "3", "2", "3", "", "4", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(s.Requests("alpha")); n != 3 {
		t.Errorf("alpha was asked %d times", n)
	}
}

func TestKinds(t *testing.T) {
	const args = `{"path":"a.txt","content":"one\ntwo"}`
	clean := fmt.Sprint(script.Kinds()[0].Scenario("write", args, "done").Steps)
	seen := map[string]bool{}
	for i, k := range script.Kinds() {
		if seen[k.ID] || k.About == "" {
			t.Errorf("%s: not unique, or not explained", k.ID)
		}
		seen[k.ID] = true
		if i > 0 && k.Tool == "write" && fmt.Sprint(k.Scenario("write", args, "done").Steps) == clean {
			t.Errorf("%s: nothing is damaged", k.ID)
		}
	}
}

func TestProbes(t *testing.T) {
	for _, d := range servers.Dialects() {
		s := script.New()
		s.Dialect = d
		for path, want := range d.Pages {
			if path == script.LoadedPage {
				want = `{"models":[]}` // before its first reply
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != http.StatusOK || w.Body.String() != want {
				t.Errorf("%s %s: %d %s", d.ID, path, w.Code, w.Body)
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/nowhere", nil))
		if (w.Code == http.StatusOK) != d.MissingOK {
			t.Errorf("%s: %d for an unknown path", d.ID, w.Code)
		}
	}
}

// Whoever asks again gets the damage again, whatever came between; the result of a call gets
// the answer. A fault that the next try mends is met anew each time.
func TestEndless(t *testing.T) {
	for _, k := range script.Kinds() {
		s := script.New(k.Endless("exec", `{"command":"ls"}`, "That was it."))
		question, result := `{"role":"user","content":"`+k.ID+
			`"}`, `{"role":"tool","tool_call_id":"a","content":"x"}`
		steps := len(k.Call("exec", `{"command":"ls"}`))
		var first []string
		for round := range 3 {
			for step := range steps {
				_, got := ask(t, s, `{"messages":[`+question+`]}`)
				got = ids.ReplaceAllString(got, "")
				if round == 0 {
					first = append(first, got)
				} else if got != first[step] {
					t.Errorf("%s, round %d, step %d: %s\nfirst %s", k.ID, round, step, got, first[step])
				}
				if strings.Contains(got, "That was it.") {
					t.Errorf("%s answers without a result: %s", k.ID, got)
				}
			}
			if _, got := ask(t, s, `{"messages":[`+question+`,`+result+`]}`); !strings.Contains(got,
				"That was it.") {
				t.Errorf("%s, round %d: %s", k.ID, round, got)
			}
		}
	}
}

// ids are what differs from one reply to the next.
var ids = regexp.MustCompile(`"(id|created)": ?("[^"]*"|\d+)`)
