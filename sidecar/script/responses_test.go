package script

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// respond posts a request of the Responses API and gives back the body.
func respond(t *testing.T, s *Server, body string) (string, error) {
	t.Helper()
	srv := httptest.NewServer(s)
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/v1/responses", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return string(got), err
}

// summed says what the events of a response come to.
func summed(t *testing.T, stream string) string {
	t.Helper()
	var out []string
	texts, sequence := map[string]string{}, int64(0)
	for line := range strings.Lines(stream) {
		if strings.HasPrefix(line, ": ping") {
			out = append(out, "ping")
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		event := gjson.Parse(data)
		kind := strings.TrimPrefix(event.Get("type").Str, "response.")
		if !gjson.Valid(data) || kind == "" {
			out = append(out, data)
			continue
		}
		if n := event.Get("sequence_number").Int(); n != sequence {
			t.Errorf("event %d has the number %d", sequence, n)
		}
		sequence++
		id := event.Get("item_id").Str
		switch {
		case strings.HasSuffix(kind, ".delta"):
			texts[id] += event.Get("delta").Str
		case kind == "output_item.added":
			out = append(out, event.Get("item.type").Str+
				" "+event.Get("item.name").Str+event.Get("item.call_id").Str)
		case kind == "output_item.done":
			item := event.Get("item")
			whole := item.Get("content.0.text").Str + item.Get("arguments").Str
			if whole != texts[item.Get("id").Str] {
				t.Errorf("%s is done with %q after %q", kind, whole, texts[item.Get("id").Str])
			}
			out = append(out, whole)
		case event.Get("response.status").Exists() && kind != "created":
			out = append(out, strings.TrimSpace(kind+
				" "+event.Get("response.error.message").Str+event.Get("response.incomplete_details.reason").Str))
		}
	}
	return strings.Join(out, " | ")
}

func TestResponses(t *testing.T) {
	cut, filtered := Text("half"), Text("half")
	cut.Finish, filtered.Finish = "length", "content_filter"
	broken := Text("half").Ending(Fault)
	broken.Err.Message = "engine died"
	for _, c := range []struct {
		name, want string
		reply      Reply
	}{
		{"text", "message  | It is so. | completed", Text("It is so.")},
		{"thought and call", `reasoning  | Hm. Hm. | function_call execchatcmpl-tool-7f3a | {"command":"ls"} | completed`, Native("exec", `{"command":"ls"}`).Thinking("Hm. Hm.")},
		{"call without an id", `function_call exec | {"a | completed`, Reply{Calls: []Call{{Name: "exec", Arguments: `{"a`}}}},
		{"nothing", "completed", Empty()},
		{"length", "message  | half | incomplete max_output_tokens", cut},
		{"filter", "message  | half | incomplete content_filter", filtered},
		{"fault", "message  | failed engine died", broken},
		{"short", "message ", Text("half").Ending(Short)},
		{"unsaid", "message  | [DONE]", Text("half").Ending(Unsaid)},
		{"garbled", "{not json", Reply{End: Garbled}},
		{"pings", "ping | ping | message  | Here. | completed", Reply{Content: "Here.", Pings: 2}},
	} {
		s := New(Scenario{Name: "x", Steps: []Reply{c.reply}})
		got, err := respond(t, s,
			`{"stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"do x"}]}]}`)
		if err != nil || summed(t, got) != c.want {
			t.Errorf("%s: %q, want %q; %v", c.name, summed(t, got), c.want, err)
		}
	}
	if _, err := respond(t, New(Scenario{Steps: []Reply{Text("half").Ending(Reset)}}),
		`{"stream":true,"input":[]}`); err == nil {
		t.Error("a connection that is cut looks like an end")
	}
	whole, err := respond(t, New(Scenario{Steps: []Reply{Text("It is so.")}}), `{"input":[]}`)
	if err != nil || gjson.Get(whole, "output.0.content.0.text").Str != "It is so." ||
		gjson.Get(whole, "usage.total_tokens").Int() == 0 {
		t.Errorf("without a stream: %s %v", whole, err)
	}
}

// A request of the Responses API is read as one for a chat is.
func TestReadResponses(t *testing.T) {
	s := New(Scenario{Steps: []Reply{Text("So.")}})
	_, err := respond(t, s, `{"stream":true,"model":"m","tools":[{"type":"function","name":"exec"}],"input":[
		{"role":"user","content":"do it"},
		{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}]},
		{"type":"function_call","call_id":"a","name":"exec","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"well"}]}`)
	if err != nil || len(s.Requests("")) != 1 {
		t.Fatal(err)
	}
	q := s.Requests("")[0]
	got := fmt.Sprintf("%s %t %s", q.Model, q.Stream, q.Tools)
	for _, m := range q.Messages {
		got += fmt.Sprintf(" | %s %q %s %v", m.Role, m.Text, m.CallID, m.Calls)
	}
	const want = `m true [exec] | user "do it"  [] | assistant ""  [] | assistant ""  [{a exec {}}] | tool "well" a []`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a stream of a chat has besides its deltas.
func TestEndsOfChats(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply Reply
		has   []string
		lacks []string
	}{
		{"unsaid", Text("half").Ending(Unsaid), []string{"[DONE]"}, []string{`"stop"`, `"usage"`}},
		{"garbled", Text("half").Ending(Garbled), []string{"{not json", "[DONE]"}, []string{`"stop"`}},
		{"pings", Reply{Content: "Here.", Pings: 3}, []string{": ping\n\n: ping\n\n: ping\n\n", "[DONE]"}, nil},
		{"no usage", Reply{Content: "Here.", NoUsage: true}, []string{`"stop"`, "[DONE]"}, []string{`"usage"`}},
		{"whole", Reply{Content: "Here.", Whole: true}, []string{`"chat.completion"`, `"usage"`}, []string{"data:"}},
		{"no id", Reply{Calls: []Call{{Name: "exec", Arguments: "{}"}}}, []string{`{"index":0,"type":"function"`}, nil},
	} {
		_, got := ask(t, New(Scenario{Steps: []Reply{c.reply}}),
			`{"stream":true,"stream_options":{"include_usage":true},"messages":[]}`)
		for _, text := range c.has {
			if !strings.Contains(got, text) {
				t.Errorf("%s lacks %q: %s", c.name, text, got)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(got, text) {
				t.Errorf("%s has %q: %s", c.name, text, got)
			}
		}
	}
	resp, got := ask(t, New(Scenario{Steps: []Reply{{Err: Error{Status: http.StatusBadGateway},
		Body: "<h1>Bad</h1>"}}}), `{"messages":[]}`)
	if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Content-Type") != "text/html" ||
		got != "<h1>Bad</h1>" {
		t.Errorf("a page: %d %v %s", resp.StatusCode, resp.Header, got)
	}
}
