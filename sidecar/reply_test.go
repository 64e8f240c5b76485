package sidecar

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const head = `"id":"x","created":1,"model":"gpt-oss"`

func event(delta, finish string) string {
	return fmt.Sprintf("data: {%s,\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", head,
		delta, finish)
}

const end = "data: [DONE]\n\n"

// told is what a sink made of what a reader told it.
type told struct {
	*httptest.ResponseRecorder
	clean bool // it counts as untouched
}

func tell(t *testing.T, stream bool, read func(*turn.Reader) error, finish func(turn.Sink) error) told {
	t.Helper()
	w, m := httptest.NewRecorder(), telemetry.New()
	var sink turn.Sink = NewWhole(w, "gpt-oss", time.Minute, m)
	if stream {
		s := newStream(w, sinkConfig{Model: "gpt-oss", Usage: true, Keepalive: time.Minute,
			RoleWait: usualRoleWait, Metrics: m, Log: slog.New(slog.DiscardHandler)})
		defer s.Stop()
		sink = s
	}
	reads(t, sink, read)
	ruletest.Must(t, finish(sink))
	metrics := httptest.NewRecorder()
	m.Handler().ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
	return told{w, strings.Contains(metrics.Body.String(), "untouched_total 1")}
}

// reads tells a sink of one reply.
func reads(t *testing.T, sink turn.Sink, read func(*turn.Reader) error) {
	t.Helper()
	set := ruletest.Shipped(t)
	sink.Begin("")
	catalog := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}})
	r := turn.NewReader(func() *parse.Reader { return set.Strategies("").Reader(catalog, parse.Facts{}) },
		sink.Flows(), sink.Take)
	ruletest.Must(t, read(r))
	r.End("")
}

func finish(s turn.Sink) error { return s.Finish() }

func streamed(s string) func(*turn.Reader) error {
	return func(r *turn.Reader) error { return r.Stream(strings.NewReader(s), 1<<20, 1<<20) }
}

func document(s string) func(*turn.Reader) error {
	return func(r *turn.Reader) error { return r.Document([]byte(s)) }
}

// What comes undamaged leaves byte for byte; of what does not, as much as can be.
func TestStream(t *testing.T) {
	role, text, last := event(`"role":"assistant","content":""`, "null"), event(`"content":"Yes."`,
		"null"), event("", `"stop"`)
	usage := "data: {" + head + ",\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n"
	for _, row := range []struct {
		name, in, out string
		clean         bool
	}{
		{"undamaged", role + event(`"reasoning_content":"Hm."`, "null") + text + last + usage + end, role + event(`"reasoning_content":"Hm."`, "null") + text + last + usage + end, true},
		{"usage in the last event", role + text + strings.Replace(last, `,"choices"`, `,"usage":{"total_tokens":3},"choices"`, 1) + end, role + text + strings.Replace(last, `,"choices"`, `,"usage":{"total_tokens":3},"choices"`, 1) + end, true},
		{"another name of the reasoning", role + event(`"reasoning":"Hm."`, "null") + text + last + end, role + event(`"reasoning_content":"Hm."`, "null") + text + last + end, true},
		{"another name of the model", strings.ReplaceAll(role+text+last+usage+end, "gpt-oss", "openai/gpt-oss-20b"), role + text + last + usage + end, true},
		{"a comment is no event", ": hi\n\n" + role + event(`"reasoning_content":"Hm."`, "null") + last + end, role + event(`"reasoning_content":"Hm."`, "null") + last + end, true},
		{"a leaked call", role + event(`"content":"[TOOL:read|path=a]"`, `"stop"`) + end, "", false},
	} {
		got := tell(t, true, streamed(row.in), finish)
		if out := got.Body.String(); row.out != "" && out != row.out || got.clean != row.clean {
			t.Errorf("%s: clean %v\n%s", row.name, got.clean, out)
		}
		if row.out == "" {
			out := got.Body.String()
			if !strings.Contains(out, `"name":"read","arguments":"{\"path\":\"a\"}"`) ||
				!strings.Contains(out, `"finish_reason":"tool_calls"`) || strings.Contains(out, "TOOL") ||
				!strings.HasSuffix(out, end) {
				t.Errorf("%s:\n%s", row.name, out)
			}
		}
	}
}

// A document leaves byte for byte, or with as few edits as can be; a stream becomes one.
func TestWhole(t *testing.T) {
	doc := func(message, finish string) string {
		return `{"id":"x", "choices":[{"index":0,"message":{` + message + `},"finish_reason":"` + finish +
			`"}],"more":[1, 2]}`
	}
	for _, row := range []struct {
		name  string
		read  func(*turn.Reader) error
		want  string
		exact bool
	}{
		{"undamaged", document(doc(`"role":"assistant","content":"Yes."`, "stop")), doc(`"role":"assistant","content":"Yes."`, "stop"), true},
		{"reasoning", document(doc(`"content":"Yes.","reasoning":"Hm."`, "stop")), doc(`"content":"Yes.","reasoning_content":"Hm."`, "stop"), true},
		{"a leaked call", document(doc(`"content":"[TOOL:read|path=a]"`, "stop")), `"name":"read","arguments":"{\"path\":\"a\"}"`, false},
		{"calls", document(doc(`"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\": 1}"}}]`, "tool_calls")), doc(`"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\": 1}"}}]`, "tool_calls"), true},
		{"no calls", document(doc(`"content":"Yes.","tool_calls":null`, "stop")), doc(`"content":"Yes.","tool_calls":null`, "stop"), true},
		{"arguments that are an object", document(doc(`"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":{"path":"x"}}}]`, "tool_calls")), doc(`"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]`, "tool_calls"), true},
		{"a call without its type", document(doc(`"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}}]`, "tool_calls")), doc(`"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]`, "tool_calls"), true},
		{"a refusal", document(doc(`"content":null,"refusal":"I will not."`, "stop")), doc(`"content":"I will not.","refusal":"I will not."`, "stop"), true},
		{"thoughts of two", document(`{"choices":[{"message":{"content":"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>A"},"finish_reason":"stop"},{"message":{"reasoning":"Hm.","content":"B"},"finish_reason":"stop"}]}`),
			`{"choices":[{"message":{"reasoning_content":"Hm.","content":"A"},"finish_reason":"stop"},{"message":{"reasoning_content":"Hm.","content":"B"},"finish_reason":"stop"}]}`, true},
		{"a choice without a message", document(`{"choices":[{"message":null,"finish_reason":"stop"}],"usage":{"total_tokens":3}}`), `"message":{"role":"assistant","content":null},"finish_reason":"stop"}],"usage":{"total_tokens":3}}`, false},
		{"a stream", streamed(event(`"content":"Yes."`, `"stop"`) + end), `"content":"Yes."`, false},
		{"without a choice", document(`{"choices":[]}`), `"choices":[{"index":0`, false},
	} {
		got := tell(t, false, row.read, finish)
		if out := got.Body.String(); row.exact && out != row.want || !strings.Contains(out, row.want) {
			t.Errorf("%s: %s", row.name, out)
		}
		if n := got.Header().Get("Content-Length"); n != fmt.Sprint(got.Body.Len()) {
			t.Errorf("%s: Content-Length %s of %d", row.name, n, got.Body.Len())
		}
	}
}

// A sentence of ours stands where there is nothing, and on a line of its own behind the text
// of a reply whose call was refused. A good reply gets none.
func TestSay(t *testing.T) {
	said := func(s turn.Sink) error { s.Say("No answer."); return s.Finish() }
	const refused = `,"tool_calls":[{"id":"a","type":"function","function":{"name":"launch","arguments":"{}"}}]`
	for _, stream := range []bool{true, false} {
		for message, want := range map[string]string{
			`{"content":""}`: "No answer.", `{"content":"Yes."}`: "Yes.",
			`{"content":"Yes."` + refused + `}`:        "Yes.\n\nNo answer.",
			`{"content":""` + refused + `}`:            "No answer.",
			`null`:                                     "No answer.",
			`{"content":null,"refusal":"I will not."}`: "I will not.",
		} {
			got := tell(t, stream, document(`{"choices":[{"index":0,"message":`+message+
				`,"finish_reason":"stop"}]}`), said)
			if text := textOf(t, got.Body.String()); text != want {
				t.Errorf("stream %v, %s: %q, want %q", stream, message, text, want)
			}
		}
	}
}

// textOf is the text of a document, or of all events of a stream.
func textOf(t *testing.T, out string) (text string) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimPrefix(line, "data: ")
		text += gjson.Get(line, "choices.0.delta.content").String() + gjson.Get(line,
			"choices.0.message.content").String()
	}
	return text
}

// An error is one of HTTP while nothing has left, and an event without an end mark after.
func TestFail(t *testing.T) {
	e := openai.Internal("broken")
	fails := func(want bool) func(turn.Sink) error {
		return func(s turn.Sink) error {
			if err := s.Fail(e); errors.Is(err, e) != want {
				t.Errorf("%v, want the error: %v", err, want)
			}
			return nil
		}
	}
	nothing := func(*turn.Reader) error { return nil }
	tell(t, false, nothing, fails(true))
	if got := tell(t, true, streamed(event(`"role":"assistant","content":"","reasoning_content":"Hm."`,
		"null")+event(`"content":"So"`, `"stop"`)), fails(false)); !strings.Contains(got.Body.String(),
		`"error"`) || strings.Contains(got.Body.String(), "[DONE]") {
		t.Errorf("%s", got.Body)
	}
}

// Each choice has its role once, in front of all it says, however the server tells of it and
// however often it is asked.
func TestRoles(t *testing.T) {
	choice := func(index int, delta, finish string) string {
		return fmt.Sprintf(`{"index":%d,"delta":{%s},"finish_reason":%s}`, index, delta, finish)
	}
	chunk := func(choices ...string) string {
		return fmt.Sprintf("data: {%s,\"choices\":[%s]}\n\n", head, strings.Join(choices, ","))
	}
	const role = `"role":"assistant","content":""`
	last := chunk(choice(0, "", `"stop"`)) + chunk(choice(1, "", `"stop"`)) + end
	for name, read := range map[string]func(*turn.Reader) error{
		"two in one event": streamed(chunk(choice(0, role, "null"), choice(1, role, "null")) + chunk(choice(0,
			`"content":"A"`, "null"), choice(1, `"content":"B"`, "null")) + last),
		"undamaged": streamed(chunk(choice(0, role, "null")) + chunk(choice(1, role,
			"null")) + chunk(choice(1, `"content":"B"`, "null")) + chunk(choice(0, `"content":"A"`,
			"null")) + last),
		"damaged": streamed(chunk(choice(0, role, "null")) + chunk(choice(1,
			`"role":"assistant","content":"<|channel|>final<|message|>B"`, "null")) + chunk(choice(0,
			`"content":"A"`, "null")) + last),
		"without": streamed(chunk(choice(0, `"content":"A"`, "null")) + chunk(choice(1,
			`"content":"B"`, "null")) + last),
		"in every event": streamed(chunk(choice(1, `"role":"assistant","content":"B"`,
			"null")) + chunk(choice(0, `"role":"assistant","content":"A"`, "null")) + chunk(choice(0, role,
			`"stop"`), choice(1, role, `"stop"`)) + end),
		"one event each": streamed(chunk(choice(0, `"role":"assistant","content":"A"`,
			`"stop"`)) + chunk(choice(1, `"role":"assistant","content":"B"`, `"stop"`)) + end),
		"a document": document(`{"choices":[{"message":{"content":"A"}},{"message":{"content":"B"}}]}`),
	} {
		for _, finish := range []func(turn.Sink) error{finish,
			func(s turn.Sink) error { reads(t, s, read); return s.Finish() }} {
			out := tell(t, true, read, finish).Body.String()
			for index, text := range []string{"A", "B"} {
				roles, said := 0, ""
				for line := range strings.Lines(out) {
					c := gjson.Get(strings.TrimPrefix(line, "data: "), fmt.Sprintf("choices.#(index==%d)",
						index))
					if c.Get("delta.role").Exists() {
						roles++
					}
					if said += c.Get("delta.content").String(); said != "" && roles == 0 {
						roles = -1
					}
				}
				if roles != 1 || strings.Trim(said, text+"\n") != "" || said == "" {
					t.Errorf("%s: choice %d has %d roles and says %q:\n%s", name, index, roles, said, out)
				}
			}
		}
	}
}

// What the server says before it speaks of a choice leaves behind the status, with the id of the reply.
func TestBeforeTheRole(t *testing.T) {
	const first = `data: {"id":"","created":0,"model":"","choices":[],"prompt_filter_results":[]}` + "\n\n" +
		"data: {}\n\n"
	reply := event(`"role":"assistant","content":""`, "null") + event(`"content":"Yes."`, `"stop"`) + end
	want := strings.ReplaceAll(strings.ReplaceAll(first, `"id":""`, `"id":"x"`), `"model":""`,
		`"model":"gpt-oss"`) + reply
	if out := tell(t, true, streamed(first+reply), finish).Body.String(); out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	const unnamed = `data: {"id":"","created":0,"choices":[{"index":0,"delta":{"role":"assistant","content":"<"},"finish_reason":null}]}` + "\n\n"
	if out := tell(t, true, streamed(unnamed+event(`"content":" 1."`, `"stop"`)+end),
		finish).Body.String(); strings.Contains(out, `"id":"x"`) {
		t.Errorf("two ids in\n%s", out)
	}
	e := openai.Internal("broken")
	tell(t, true, func(r *turn.Reader) error {
		return r.Stream(strings.NewReader(first+end), 1<<20, 1<<20)
	}, func(s turn.Sink) error {
		s.Begin("")
		if err := s.Fail(e); !errors.Is(err, e) {
			t.Errorf("the status has left: %v", err)
		}
		return nil
	})
}
