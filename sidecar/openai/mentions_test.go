package openai

import (
	"testing"
)

func TestMentions(t *testing.T) {
	for messages, want := range map[string]bool{
		`{"role":"system","content":"Put your thoughts into <reasoning> tags."}`:                                         true,
		`{"role":"user","content":[{"type":"text","text":"Answer as \u003Creasoning>...\u003C/reasoning><answer>"}]}`:    true,
		`{"role":"developer","content":"reasoning> <reasoning>"}`:                                                        true,
		`{"role":"user","content":"Show your reasoning> and <reason>."}`:                                                 false,
		`{"role":"user","content":"hi"},{"role":"assistant","content":"<reasoning>Hm.</reasoning>Hi."}`:                  false,
		`{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c","content":"<reasoning>"}`:                      false,
		`{"role":"user","content":"hi"},{"role":"assistant","content":null},{"role":"user","content":"<reasoning>, so"}`: true,
	} {
		q, err := ParseRequest([]byte(`{"model":"m","messages":[` + messages + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Mentions("<reasoning>"); got != want {
			t.Errorf("%s: %v", messages, got)
		}
	}
}
