package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// conversing is a conversation that begins with a text and, if it has an id, goes on behind a call.
func conversing(begins, id, more string) string {
	body := `{"model":"gpt-oss",` + more + provider.BothTools + `,"messages":[{"role":"user","content":"` + begins +
		`"}`
	if id != "" {
		body += `,{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
			`","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},` +
			`{"role":"tool","tool_call_id":"` + id + `","content":"the result"}`
	}
	return body + "]}"
}

// Thoughts come back to the conversation that they belong to, and to no other, also where a server gives
// the same id to calls of several.
func TestThoughtsStayInTheirConversation(t *testing.T) {
	type asks struct {
		begins string
		header []string
	}
	session := func(id string) []string { return []string{"session_id", id} }
	trace := func(n int) []string {
		return []string{"traceparent", fmt.Sprintf("00-%032x-00f067aa0ba902b7-01", n)}
	}
	for name, c := range map[string]struct {
		id, stream string // empty: ours
		first, on  asks
		known      bool
	}{
		"the same session": {"call0", "", asks{"go", session("a")},
			asks{"go", session("a")}, true},
		"the same session, made shorter": {"call0", "", asks{"go", session("a")},
			asks{"what was so far", session("a")}, true},
		"another session": {"call0", "", asks{"go", session("a")},
			asks{"go", session("b")}, false},
		"no session, the same beginning": {"call0", "", asks{"go", nil}, asks{"go", nil}, true},
		"no session, another beginning":  {"call0", "", asks{"go", nil}, asks{"come", nil}, false},
		"a session, and one that is not known": {"call0", "", asks{"go", session("a")}, asks{"go", nil},
			false},
		"the next turn, with another trace": {"call0", "", asks{"go", trace(1)}, asks{"go", trace(2)},
			true},
		"another trace and another beginning": {"call0", "", asks{"go", trace(1)}, asks{"come", trace(2)},
			false},
		"an id of ours, in a session of new name": {"", provider.Streaming + ",", asks{"go", session("a")}, asks{"what was so far", session("b")}, true},
		"an id of ours, without a session": {"", provider.Streaming + ",", asks{"go", nil}, asks{"come", nil},
			true},
	} {
		t.Run(name, func(t *testing.T) {
			call := script.Native("read", `{"path":"a"}`)
			call.Reasoning, call.Calls[0].ID = "I look into a.", "call0"
			r := provider.Play(t, call, script.Text("Done."))
			a := r.Chat(conversing(c.first.begins, "", c.stream), c.first.header...)
			if len(a.Calls) != 1 || c.id != "" && a.Calls[0].ID != c.id {
				t.Fatalf("%+v\n%s", a.Calls, a.Body)
			}
			r.Chat(conversing(c.on.begins, a.Calls[0].ID, ""), c.on.header...)
			asked := r.Model.Requests("")
			if got := strings.Contains(string(asked[len(asked)-1].Body), "I look into a."); got != c.known {
				t.Errorf("the thoughts are there: %v\n%s", got, asked[len(asked)-1].Body)
			}
		})
	}
}
