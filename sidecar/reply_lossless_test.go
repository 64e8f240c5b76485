package sidecar_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// asked is a reply under the id that was asked for.
func modelAsked(reply string) string { return anyModel.ReplaceAllString(reply, `"model":"gpt-oss"`) }

var anyModel = regexp.MustCompile(`"model":"[^"]*"`)

// asItCame is a sidecar that adds nothing where the machine is slow.
var asItCame = provider.Setup{RoleWait: time.Minute}

// Undamaged streams leave as they came, under the id that was asked for.
func TestStreamUntouched(t *testing.T) {
	role, words := provider.Piece(0, `"role":"assistant","content":""`, "null"), provider.Piece(0, `"content":"It is \u0031 < 2."`,
		"null")
	stop := provider.Piece(0, ``, `"stop"`)
	for _, row := range []struct{ name, body string }{
		{"text", role + words + provider.Piece(0, `"content":" Größe & Co."`, "null") + stop + provider.UsageEvent + provider.DoneEvent},
		{"reasoning_content", role + provider.Piece(0, `"reasoning_content":"I think"`, "null") + words + stop + provider.DoneEvent},
		{"long text", role + strings.Repeat(words, 100) + stop + provider.DoneEvent},
		{"text in the last event", role + words + provider.Piece(0, `"content":"."`, `"stop"`) + provider.DoneEvent},
		{"role and text in one event", provider.Piece(0, `"role":"assistant","content":"Hi there."`, "null") + stop + provider.DoneEvent},
		{"role, a held < and text", provider.Piece(0, `"role":"assistant","content":"a <"`, "null") + provider.Piece(0, `"content":" b"`, "null") + stop + provider.DoneEvent},
		{"cut by the token limit", role + words + provider.Piece(0, ``, `"length"`) + provider.DoneEvent},
		{"two choices", role + provider.Piece(1, `"role":"assistant","content":""`, "null") + words + provider.Piece(1, `"content":"Two."`, "null") + stop + provider.Piece(1, ``, `"stop"`) + provider.UsageEvent + provider.DoneEvent},
		{"an event without choices first", `data: {"id": "chatcmpl-9","created":1760000000,"model":"m","choices":[],"prompt_filter_results":[1]}` + "\n\n" + role + words + stop + provider.DoneEvent},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := provider.Start(t, asItCame, provider.Says(provider.SSE, row.body)).Chat(provider.Body(provider.Streaming))
			if a.Body != modelAsked(row.body) {
				t.Errorf("came\n%s\nleft\n%s", row.body, a.Body)
			}
		})
	}
}

// Where only reasoning is told, its key is renamed and nothing else.
func TestStreamRenamed(t *testing.T) {
	came := provider.Piece(0, `"role":"assistant","content":""`, "null") + provider.Piece(0, `"reasoning": "reasoning, \u00e9"`,
		"null") +
		provider.Piece(0, `"reasoning":" on"`, "null") + provider.Piece(0, `"content":"Yes."`, "null") + provider.Piece(0, ``,
		`"stop"`) + provider.UsageEvent + provider.DoneEvent
	a := provider.Start(t, asItCame, provider.Says(provider.SSE, came)).Chat(provider.Body(provider.Streaming))
	if want := strings.ReplaceAll(modelAsked(came), `"reasoning":`, `"reasoning_content":`); a.Body != want {
		t.Errorf("want\n%s\nleft\n%s", want, a.Body)
	}
}

func TestWholeUntouched(t *testing.T) {
	for _, row := range []struct{ name, came, from, to string }{
		{name: "text", came: provider.Reply(`"role":"assistant","content":"It is \u0031 < 2.","refusal":null,"annotations":[]`, "stop")},
		{name: "reasoning_content", came: provider.Reply(`"content":"Yes.","reasoning_content":"think"`, "stop")},
		{name: "both names", came: provider.Reply(`"content":"Yes.","reasoning":"think","reasoning_content":"think"`, "stop")},
		{name: "a call", came: provider.Reply(`"content":null,"tool_calls":[{"id":"call7","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"},"x":1}]`, "tool_calls")},
		{name: "token limit", came: provider.Reply(`"content":"Half a"`, "length")},
		{name: "two choices", came: `{"id":"c","choices":[{"index":0,"message":{"content":"One."},"finish_reason":"stop"},{"index":1,"message":{"content":"Two."},"finish_reason":"stop"}]}`},
		{"renamed", provider.Reply(`"content":"Yes.","reasoning":"I call it reasoning"`, "stop"), `"reasoning":`, `"reasoning_content":`},
		{"renamed beside null", provider.Reply(`"content":"Yes.","reasoning_content":null,"reasoning":"think"`, "stop"), `"reasoning_content":null`, `"reasoning_content":"think"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := row.came
			if row.from != "" {
				want = strings.Replace(row.came, row.from, row.to, 1)
			}
			if a := provider.Start(t, asItCame, provider.Says(provider.Document, row.came)).Whole(); a.Body != want {
				t.Errorf("want\n%s\nleft\n%s", want, a.Body)
			}
		})
	}
}

// A call keeps its bytes where only its id cannot stay.
func TestWholeOtherID(t *testing.T) {
	came := provider.Reply(`"role":"assistant","content":null,"tool_calls":[ {"function":{"arguments":"{ \"path\": \"a\\u0062\" }", "name":"read"},"type":"function","id":"chatcmpl-tool-7","x":1}]`, "tool_calls")
	a := provider.Start(t, asItCame, provider.Says(provider.Document, came)).Whole()
	if len(a.Calls) != 1 || a.Calls[0].ID == "chatcmpl-tool-7" ||
		strings.Replace(a.Body, a.Calls[0].ID, "chatcmpl-tool-7", 1) != came {
		t.Errorf("came\n%s\nleft\n%s", came, a.Body)
	}
}

// A stream is answered as a stream and a document as a document, whatever the
// model server sends.
func TestOtherForm(t *testing.T) {
	const call = `"content":null,"reasoning":"Look.","tool_calls":[{"id":"x-1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]`
	t.Run("document for a stream", func(t *testing.T) {
		a := provider.Start(t, asItCame, provider.Says(provider.Document, provider.Reply(call, "tool_calls"))).Stream()
		if !a.Done || a.Roles != 1 || a.Thought != "Look." || len(a.Calls) != 1 ||
			a.Calls[0].Args != `{"path":"a"}` || a.Last != "tool_calls" || a.Usage != 12 || len(a.IDs) != 1 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("stream for a document", func(t *testing.T) {
		body := provider.Piece(0, `"role":"assistant","reasoning":"Look."`, "null") + provider.Piece(0, `"content":"It is "`,
			"null") + provider.Piece(0, `"content":"one."`, `"length"`) + provider.UsageEvent + provider.DoneEvent
		a := provider.Start(t, asItCame, provider.Says(provider.SSE, body)).Whole()
		if a.Status != 200 || a.Thought != "Look." || a.Text != "It is one." || a.Last != "length" ||
			a.Usage != 12 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("one event with everything", func(t *testing.T) {
		a := provider.Start(t, asItCame, provider.Says(provider.SSE, provider.Piece(0, `"role":"assistant",`+call,
			`"tool_calls"`)+provider.DoneEvent)).Stream()
		if !a.Done || a.Roles != 1 || a.Thought != "Look." || len(a.Calls) != 1 || a.Last != "tool_calls" {
			t.Errorf("%+v\n%s", a, a.Body)
		}
	})
	t.Run("error with status 200", func(t *testing.T) {
		r := provider.Start(t, asItCame, provider.Says(provider.Document, `{"error":"Unexpected endpoint or method. Returning 200 anyway"}`))
		for _, a := range []*provider.Answer{r.Stream(), r.Whole()} {
			if a.Status != http.StatusBadGateway || a.Fault.Message == "" {
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
		r := provider.Start(t, asItCame, provider.Says(provider.Document, provider.Reply(`"role":"assistant",`+said, "stop")))
		for _, a := range []*provider.Answer{r.Whole(), r.Stream(),
			provider.Start(t, asItCame, provider.Says(provider.SSE, provider.Piece(0, said, "null")+provider.Piece(0, "", `"stop"`)+provider.DoneEvent)).Stream()} {
			if a.Status != 200 || a.Thought != "Look." || a.Text != "I look." || len(a.Calls) != 1 ||
				a.Calls[0].Args != `{"path":"a"}` || a.Last != "tool_calls" {
				t.Errorf("%s\n%+v\n%s", said, a, a.Body)
			}
		}
	}
	r := provider.Start(t, asItCame, provider.Says(provider.Document, provider.Reply(`"role":"assistant","content":[{"type":"text","text":"Hello"}]`,
		"stop")))
	for _, a := range []*provider.Answer{r.Whole(), r.Stream()} {
		if a.Text != "Hello" {
			t.Errorf("%s", a.Body)
		}
	}
}

// Replies served side by side do not mix: buffers are reused between them.
func TestSideBySide(t *testing.T) {
	r := provider.Start(t, asItCame, script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
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
			a := r.Chat(`{` + more + `"model":"gpt-oss","messages":[{"role":"user","content":"` + word +
				`"}]}`)
			if strings.TrimSpace(a.Text) != strings.TrimSpace(strings.Repeat(word+" ", 300)) ||
				a.Thought != word {
				t.Errorf("%s: %.60q after %q", word, a.Text, a.Thought)
			}
		})
	}
	wg.Wait()
}

// The caller of a reply that was asked for again is told the prompt of the last request and what the model
// has written in all of them; a sentence of ours is told with what is known.
func TestUsageOfSeveralReplies(t *testing.T) {
	took := func(r script.Reply, prompt int) script.Reply { // 3 tokens and a quarter of its bytes
		r.Prompt = prompt
		return r
	}
	thought := took(servers.OnlyThought("Hmm, hmm, hmm, h"), 100)
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
		for _, mode := range []string{provider.Streaming + ",", ""} {
			for _, api := range []string{"", "yes"} {
				t.Run(row.name+", "+mode+api, func(t *testing.T) {
					t.Setenv(provider.OtherAPI, api)
					a := provider.Play(t, row.replies...).Chat(provider.Body(mode + provider.BothTools))
					if want := max(row.usage, 0); a.Usage != want || a.Status != 200 || row.usage < 0 &&
						!strings.Contains(a.Body, `_tokens":0`) {
						t.Errorf("usage %d, want %d: %s", a.Usage, want, a.Body)
					}
				})
			}
		}
	}
}

// The usage of a reply passes, asked for or not by a server that tells it anyway.
func TestUsage(t *testing.T) {
	for _, row := range []struct {
		ask, body string
		want      int
	}{
		{provider.Streaming, provider.UsageEvent, 12},
		{`"stream":true`, provider.UsageEvent, 12},
		{provider.Streaming, "", 0},
		{provider.Streaming, strings.Replace(provider.Piece(0, "", `"stop"`), `"x_unknown"`, `"usage":{"total_tokens":5},"x_unknown"`, 1), 5},
		{provider.Streaming, strings.Replace(provider.Piece(0, "", `"stop"`), `"x_unknown"`, `"timings":{"prompt_n":4,"predicted_n":3},"x_unknown"`, 1), 7},
	} {
		body := provider.Piece(0, `"role":"assistant","content":"Yes."`, "null") + row.body + provider.Piece(0, "",
			`"stop"`) + provider.DoneEvent
		if a := provider.Start(t, asItCame, provider.Says(provider.SSE, body)).Chat(provider.Body(row.ask)); a.Usage != row.want || !a.Done {
			t.Errorf("%s: usage %d, want %d\n%s", row.body, a.Usage, row.want, a.Body)
		}
	}
}
