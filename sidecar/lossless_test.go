package sidecar

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// says is a vLLM server that answers every chat with these bytes.
func says(kind, body string) http.Handler {
	probed := script.New()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			probed.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	})
}

const (
	sse  = "text/event-stream; charset=utf-8"
	docu = "application/json"
)

// ev is an event of one choice, with members that no specification knows.
func ev(index int, delta, finish string) string {
	return fmt.Sprintf(`data: {"id": "chatcmpl-9","object":"chat.completion.chunk", "created":1760000000,"model":"openai/gpt-oss-20b","system_fingerprint":"fp_1","x_unknown":{"a":[1, 2]},"choices":[{"index":%d,"delta":{%s},"logprobs":null,"finish_reason":%s,"stop_reason":null}]}`+"\n\n", index, delta, finish)
}

const (
	usageEvent = `data: {"id": "chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-20b","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"x":1}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
)

// asked is a reply under the id that was asked for.
func asked(reply string) string { return anyModel.ReplaceAllString(reply, `"model":"gpt-oss"`) }

var anyModel = regexp.MustCompile(`"model":"[^"]*"`)

// asItCame is a sidecar that adds nothing where the machine is slow.
var asItCame = setup{roleWait: time.Minute}

// Undamaged streams leave as they came, under the id that was asked for.
func TestStreamUntouched(t *testing.T) {
	role, words := ev(0, `"role":"assistant","content":""`, "null"), ev(0, `"content":"It is \u0031 < 2."`,
		"null")
	stop := ev(0, ``, `"stop"`)
	for _, row := range []struct{ name, body string }{
		{"text", role + words + ev(0, `"content":" Größe & Co."`, "null") + stop + usageEvent + doneEvent},
		{"reasoning_content", role + ev(0, `"reasoning_content":"I think"`, "null") + words + stop + doneEvent},
		{"long text", role + strings.Repeat(words, 100) + stop + doneEvent},
		{"text in the last event", role + words + ev(0, `"content":"."`, `"stop"`) + doneEvent},
		{"role and text in one event", ev(0, `"role":"assistant","content":"Hi there."`, "null") + stop + doneEvent},
		{"role, a held < and text", ev(0, `"role":"assistant","content":"a <"`, "null") + ev(0, `"content":" b"`, "null") + stop + doneEvent},
		{"cut by the token limit", role + words + ev(0, ``, `"length"`) + doneEvent},
		{"two choices", role + ev(1, `"role":"assistant","content":""`, "null") + words + ev(1, `"content":"Two."`, "null") + stop + ev(1, ``, `"stop"`) + usageEvent + doneEvent},
		{"an event without choices first", `data: {"id": "chatcmpl-9","created":1760000000,"model":"m","choices":[],"prompt_filter_results":[1]}` + "\n\n" + role + words + stop + doneEvent},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := start(t, asItCame, says(sse, row.body)).chat(asking(streaming))
			if a.body != asked(row.body) {
				t.Errorf("came\n%s\nleft\n%s", row.body, a.body)
			}
		})
	}
}

// Where only reasoning is told, its key is renamed and nothing else.
func TestStreamRenamed(t *testing.T) {
	came := ev(0, `"role":"assistant","content":""`, "null") + ev(0, `"reasoning": "reasoning, \u00e9"`,
		"null") +
		ev(0, `"reasoning":" on"`, "null") + ev(0, `"content":"Yes."`, "null") + ev(0, ``,
		`"stop"`) + usageEvent + doneEvent
	a := start(t, asItCame, says(sse, came)).chat(asking(streaming))
	if want := strings.ReplaceAll(asked(came), `"reasoning":`, `"reasoning_content":`); a.body != want {
		t.Errorf("want\n%s\nleft\n%s", want, a.body)
	}
}

// doc is a whole reply.
func doc(message, finish string) string {
	return fmt.Sprintf(`{ "id":"chatcmpl-9","object":"chat.completion","x_unknown": [1,  2],"choices":[{"index":0,"message":{%s},"finish_reason":%q,"stop_reason":null}],"usage":{"total_tokens":12},"kv_transfer_params":null}`, message, finish)
}

func TestWholeUntouched(t *testing.T) {
	for _, row := range []struct{ name, came, from, to string }{
		{name: "text", came: doc(`"role":"assistant","content":"It is \u0031 < 2.","refusal":null,"annotations":[]`, "stop")},
		{name: "reasoning_content", came: doc(`"content":"Yes.","reasoning_content":"think"`, "stop")},
		{name: "both names", came: doc(`"content":"Yes.","reasoning":"think","reasoning_content":"think"`, "stop")},
		{name: "a call", came: doc(`"content":null,"tool_calls":[{"id":"call7","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"},"x":1}]`, "tool_calls")},
		{name: "token limit", came: doc(`"content":"Half a"`, "length")},
		{name: "two choices", came: `{"id":"c","choices":[{"index":0,"message":{"content":"One."},"finish_reason":"stop"},{"index":1,"message":{"content":"Two."},"finish_reason":"stop"}]}`},
		{"renamed", doc(`"content":"Yes.","reasoning":"I call it reasoning"`, "stop"), `"reasoning":`, `"reasoning_content":`},
		{"renamed beside null", doc(`"content":"Yes.","reasoning_content":null,"reasoning":"think"`, "stop"), `"reasoning_content":null`, `"reasoning_content":"think"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := row.came
			if row.from != "" {
				want = strings.Replace(row.came, row.from, row.to, 1)
			}
			if a := start(t, asItCame, says(docu, row.came)).whole(); a.body != want {
				t.Errorf("want\n%s\nleft\n%s", want, a.body)
			}
		})
	}
}

// A call keeps its bytes where only its id cannot stay.
func TestWholeOtherID(t *testing.T) {
	came := doc(`"role":"assistant","content":null,"tool_calls":[ {"function":{"arguments":"{ \"path\": \"a\\u0062\" }", "name":"read"},"type":"function","id":"chatcmpl-tool-7","x":1}]`, "tool_calls")
	a := start(t, asItCame, says(docu, came)).whole()
	if len(a.calls) != 1 || a.calls[0].ID == "chatcmpl-tool-7" ||
		strings.Replace(a.body, a.calls[0].ID, "chatcmpl-tool-7", 1) != came {
		t.Errorf("came\n%s\nleft\n%s", came, a.body)
	}
}

// What the caller sends reaches the model server byte for byte, but for the model.
func TestRequestUntouched(t *testing.T) {
	r := play(t, script.Text("Yes."))
	body := `{"x_a":{"b": [1,2.50,"\u00e9"]}, "model" : "gpt-oss","messages":[{"role":"user","content":"go","x_b":null}],"seed":7,"stop":["<x>"],` + bothTool + ` ,"metadata":{"k":"v"}}`
	r.chat(body)
	if got, want := string(r.model.Requests("")[0].Body), strings.Replace(body, `"gpt-oss"`,
		`"openai/gpt-oss-20b"`, 1); got != want {
		t.Errorf("sent\n%s\narrived\n%s", want, got)
	}
}

// A stream is answered as a stream and a document as a document, whatever the
// model server sends.
func TestOtherForm(t *testing.T) {
	const call = `"content":null,"reasoning":"Look.","tool_calls":[{"id":"x-1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	t.Run("document for a stream", func(t *testing.T) {
		a := start(t, asItCame, says(docu, doc(call, "tool_calls"))).stream()
		if !a.done || a.roles != 1 || a.thought != "Look." || len(a.calls) != 1 ||
			a.calls[0].Args != `{"path":"a"}` || a.last != "tool_calls" || a.usage != 12 || len(a.ids) != 1 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("stream for a document", func(t *testing.T) {
		body := ev(0, `"role":"assistant","reasoning":"Look."`, "null") + ev(0, `"content":"It is "`,
			"null") + ev(0, `"content":"one."`, `"length"`) + usageEvent + doneEvent
		a := start(t, asItCame, says(sse, body)).whole()
		if a.status != 200 || a.thought != "Look." || a.text != "It is one." || a.last != "length" ||
			a.usage != 12 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("one event with everything", func(t *testing.T) {
		a := start(t, asItCame, says(sse, ev(0, `"role":"assistant",`+call,
			`"tool_calls"`)+doneEvent)).stream()
		if !a.done || a.roles != 1 || a.thought != "Look." || len(a.calls) != 1 || a.last != "tool_calls" {
			t.Errorf("%+v\n%s", a, a.body)
		}
	})
	t.Run("error with status 200", func(t *testing.T) {
		r := start(t, asItCame, says(docu, `{"error":"Unexpected endpoint or method. Returning 200 anyway"}`))
		for _, a := range []*answer{r.stream(), r.whole()} {
			if a.status != http.StatusBadGateway || a.fault.Message == "" {
				t.Errorf("%+v", a)
			}
		}
	})
}

// A reply in another form than callers read leaves in theirs: text as a string, calls as tool_calls.
func TestForeignForm(t *testing.T) {
	for _, said := range []string{
		`"content":[{"type":"thinking","thinking":"Look."},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}]`,
		`"content":"I look.","reasoning":"Look.","function_call":{"name":"read","arguments":"{\"path\":\"a\"}"}`,
		`"content":"I look.","reasoning":"Look.","tool_calls":[{"id":"x","type":"function","name":"read","arguments":"{\"path\":\"a\"}"}]`,
	} {
		r := start(t, asItCame, says(docu, doc(`"role":"assistant",`+said, "stop")))
		for _, a := range []*answer{r.whole(), r.stream(),
			start(t, asItCame, says(sse, ev(0, said, "null")+ev(0, "", `"stop"`)+doneEvent)).stream()} {
			if a.status != 200 || a.thought != "Look." || a.text != "I look." || len(a.calls) != 1 ||
				a.calls[0].Args != `{"path":"a"}` || a.last != "tool_calls" {
				t.Errorf("%s\n%+v\n%s", said, a, a.body)
			}
		}
	}
	r := start(t, asItCame, says(docu, doc(`"role":"assistant","content":[{"type":"text","text":"Hello"}]`,
		"stop")))
	for _, a := range []*answer{r.whole(), r.stream()} {
		if a.text != "Hello" {
			t.Errorf("%s", a.body)
		}
	}
}

// Replies served side by side do not mix: buffers are reused between them.
func TestSideBySide(t *testing.T) {
	r := start(t, asItCame, script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
		said := script.Text("<|channel|>final<|message|>" + strings.Repeat(q.Messages[0].Text+" ", 300) +
			"<|return|>").Thinking(q.Messages[0].Text)
		return &said
	}}))
	var wg sync.WaitGroup
	for i := range 48 {
		wg.Go(func() {
			word, more := fmt.Sprintf("word%d", i), ""
			if i%2 == 0 {
				more = `"stream":true,`
			}
			a := r.chat(`{` + more + `"model":"gpt-oss","messages":[{"role":"user","content":"` + word +
				`"}]}`)
			if strings.TrimSpace(a.text) != strings.TrimSpace(strings.Repeat(word+" ", 300)) ||
				a.thought != word {
				t.Errorf("%s: %.60q after %q", word, a.text, a.thought)
			}
		})
	}
	wg.Wait()
}

// The usage of a reply passes, asked for or not by a server that tells it anyway.
// The caller of a reply that was asked for again is told the prompt of the last request and what the model
// has written in all of them; a sentence of ours is told with what is known.
func TestUsageOfSeveralReplies(t *testing.T) {
	took := func(r script.Reply, prompt int) script.Reply { // 3 tokens and a quarter of its bytes
		r.Prompt = prompt
		return r
	}
	thought := took(script.OnlyThought("Hmm, hmm, hmm, h"), 100)
	for _, row := range []struct {
		name    string
		replies []script.Reply
		usage   int
	}{
		{"one", []script.Reply{took(script.Text("Yes."), 100)}, 104},
		{"empty, then good", []script.Reply{took(script.Empty(), 100), took(script.Text("Yes."), 101)}, 101 + 3 + 4},
		{"only thought, then good", []script.Reply{thought, took(script.Text("Yes."), 120)}, 120 + 7 + 4},
		{"twice empty", []script.Reply{took(script.Empty(), 100), took(script.Empty(), 100), took(script.Text("Yes."), 100)}, 110},
		{"always empty, and a sentence", []script.Reply{took(script.Empty(), 100), took(script.Empty(), 100), took(script.Empty(), 100)}, 109},
		{"a sentence alone", []script.Reply{script.Fail(401, "no")}, -1},
		{"a sentence behind a reply", []script.Reply{took(script.Empty(), 100), script.Fail(401, "no")}, 103},
	} {
		for _, mode := range []string{streaming + ",", ""} {
			for _, api := range []string{"", "yes"} {
				t.Run(row.name+", "+mode+api, func(t *testing.T) {
					t.Setenv(otherAPI, api)
					a := play(t, row.replies...).chat(asking(mode + bothTool))
					if want := max(row.usage, 0); a.usage != want || a.status != 200 || row.usage < 0 &&
						!strings.Contains(a.body, `_tokens":0`) {
						t.Errorf("usage %d, want %d: %s", a.usage, want, a.body)
					}
				})
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, row := range []struct {
		ask, body string
		want      int
	}{
		{streaming, usageEvent, 12},
		{`"stream":true`, usageEvent, 12},
		{streaming, "", 0},
		{streaming, strings.Replace(ev(0, "", `"stop"`), `"x_unknown"`, `"usage":{"total_tokens":5},"x_unknown"`, 1), 5},
		{streaming, strings.Replace(ev(0, "", `"stop"`), `"x_unknown"`, `"timings":{"prompt_n":4,"predicted_n":3},"x_unknown"`, 1), 7},
	} {
		body := ev(0, `"role":"assistant","content":"Yes."`, "null") + row.body + ev(0, "",
			`"stop"`) + doneEvent
		if a := start(t, asItCame, says(sse, body)).chat(asking(row.ask)); a.usage != row.want || !a.done {
			t.Errorf("%s: usage %d, want %d\n%s", row.body, a.usage, row.want, a.body)
		}
	}
}
