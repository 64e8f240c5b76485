package script_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// respond posts a request of the Responses API and gives back the body.
func respond(t *testing.T, s *script.Server, body string) (string, error) {
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
	cut, filtered := script.Text("half"), script.Text("half")
	cut.Finish, filtered.Finish = "length", "content_filter"
	broken := script.Text("half").Ending(script.Fault)
	broken.Err.Message = "engine died"
	for _, c := range []struct {
		name, want string
		reply      script.Reply
	}{
		{"text", "message  | It is so. | completed", script.Text("It is so.")},
		{"thought and call", `reasoning  | Hm. Hm. | function_call execchatcmpl-tool-7f3a | {"command":"ls"} | completed`, script.Native("exec", `{"command":"ls"}`).Thinking("Hm. Hm.")},
		{"call without an id", `function_call exec | {"a | completed`, script.Reply{Calls: []script.Call{{Name: "exec", Arguments: `{"a`}}}},
		{"nothing", "completed", script.Empty()},
		{"length", "message  | half | incomplete max_output_tokens", cut},
		{"filter", "message  | half | incomplete content_filter", filtered},
		{"fault", "message  | failed engine died", broken},
		{"short", "message ", script.Text("half").Ending(script.Short)},
		{"unsaid", "message  | [DONE]", script.Text("half").Ending(script.Unsaid)},
		{"garbled", "{not json", script.Reply{End: script.Garbled}},
		{"pings", "ping | ping | message  | Here. | completed", script.Reply{Content: "Here.", Pings: 2}},
	} {
		s := script.New(script.Scenario{Name: "x", Steps: []script.Reply{c.reply}})
		got, err := respond(t, s,
			`{"stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"do x"}]}]}`)
		if err != nil || summed(t, got) != c.want {
			t.Errorf("%s: %q, want %q; %v", c.name, summed(t, got), c.want, err)
		}
	}
	if _, err := respond(t, script.New(script.Scenario{Steps: []script.Reply{script.Text("half").Ending(script.Reset)}}),
		`{"stream":true,"input":[]}`); err == nil {
		t.Error("a connection that is cut looks like an end")
	}
	whole, err := respond(t, script.New(script.Scenario{Steps: []script.Reply{script.Text("It is so.")}}), `{"input":[]}`)
	if err != nil || gjson.Get(whole, "output.0.content.0.text").Str != "It is so." ||
		gjson.Get(whole, "usage.total_tokens").Int() == 0 {
		t.Errorf("without a stream: %s %v", whole, err)
	}
}

// A request of the Responses API is read as one for a chat is.
func TestReadResponses(t *testing.T) {
	s := script.New(script.Scenario{Steps: []script.Reply{script.Text("So.")}})
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
		reply script.Reply
		has   []string
		lacks []string
	}{
		{"unsaid", script.Text("half").Ending(script.Unsaid), []string{"[DONE]"}, []string{`"stop"`, `"usage"`}},
		{"garbled", script.Text("half").Ending(script.Garbled), []string{"{not json", "[DONE]"}, []string{`"stop"`}},
		{"pings", script.Reply{Content: "Here.", Pings: 3}, []string{": ping\n\n: ping\n\n: ping\n\n", "[DONE]"}, nil},
		{"no usage", script.Reply{Content: "Here.", NoUsage: true}, []string{`"stop"`, "[DONE]"}, []string{`"usage"`}},
		{"whole", script.Reply{Content: "Here.", Whole: true}, []string{`"chat.completion"`, `"usage"`}, []string{"data:"}},
		{"no id", script.Reply{Calls: []script.Call{{Name: "exec", Arguments: "{}"}}}, []string{`{"index":0,"type":"function"`}, nil},
	} {
		_, got := ask(t, script.New(script.Scenario{Steps: []script.Reply{c.reply}}),
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
	resp, got := ask(t, script.New(script.Scenario{Steps: []script.Reply{{Err: script.Error{Status: http.StatusBadGateway},
		Body: "<h1>Bad</h1>"}}}), `{"messages":[]}`)
	if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Content-Type") != "text/html" ||
		got != "<h1>Bad</h1>" {
		t.Errorf("a page: %d %v %s", resp.StatusCode, resp.Header, got)
	}
}
