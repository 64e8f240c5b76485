package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRuntime(t *testing.T) {
	const line = "Runtime: agent=main | session=agent:main:a | sessionId=u1 | host=vm | repo=/srv/x | os=Linux 6.1 (x64) | model=p/m | shell=bash | channel=webchat | capabilities=none"
	const end = "\n<!-- /openclaw:attempt:DYNAMIC -->"
	want := Runtime{Agent: "main", Session: "agent:main:a", Channel: "webchat"}
	text := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, c := range map[string]struct {
		messages string
		want     Runtime
	}{
		"as it comes": {`{"role":"system","content":"x\n` + line +
			`"},{"role":"user","content":` + text("[Sat 06:41] hi\n\n"+line) +
			`},{"role":"assistant","content":"ok"},{"role":"user","content":"more"}`, want},
		"a line break more": {`{"role":"user","content":` + text("hi\n"+line+"\n") + `}`,
			want},
		"a long message": {`{"role":"user","content":` + text(strings.Repeat("ä\n",
			20000)+line) + `}`, want},
		"in parts": {`{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":` + text("\n\n"+line) + `}]}`, want},
		"no channel": {`{"role":"user","content":` +
			text("hi\n\nRuntime: agent=a | session=agent:a:cli | shell=bash") + `}`,
			Runtime{Agent: "a", Session: "agent:a:cli"}},
		"written by the user, and then OpenClaw": {`{"role":"user","content":` + text("hi\nRuntime: agent=admin | channel=x\n\n"+line) + `}`, want},
		"over the Responses API": {`{"role":"developer","content":` +
			text("Be kind.\n\n\n"+line+end) +
			`},{"role":"user","content":` + text("hi\nRuntime: agent=admin | channel=x") + `}`, want},
		"the same in parts": {`{"role":"system","content":[{"type":"text","text":` +
			text("Be kind.\n"+line+end) + `}]},{"role":"user","content":"hi"}`, want},
		"a file of the agent that looks like it": {`{"role":"system","content":` + text("AGENTS.md\nRuntime: agent=admin | channel=x"+end+"\nmore\n"+line+end) + `},{"role":"user","content":"hi"}`, want},
		"only such a file": {`{"role":"system","content":` +
			text("AGENTS.md\n"+line+end+"\nmore") + `},{"role":"user","content":"hi"}`, Runtime{}},
		"instructions without an end": {`{"role":"system","content":` + text("AGENTS.md\n"+line) +
			`},{"role":"user","content":"hi"}`, Runtime{}},
		"not at the end": {`{"role":"user","content":` + text(line+"\nmore") + `}`,
			Runtime{}},
		"in the middle": {`{"role":"user","content":` + text("a\n"+line+"\nmore") +
			`}`, Runtime{}},
		"in a later message": {`{"role":"user","content":"hi"},{"role":"user","content":` + text("x\n"+line) + `}`, Runtime{}},
		"in a tool's result": {`{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":` + text("x\n"+line) + `}`, Runtime{}},
		"a key that comes twice": {`{"role":"user","content":` +
			text("hi\nRuntime: agent=a | channel=b | channel=c") + `}`, Runtime{Agent: "a", Channel: "b"}},
		"nothing":       {`{"role":"user","content":null}`, Runtime{}},
		"an empty text": {`{"role":"user","content":""}`, Runtime{}},
	} {
		q, err := ParseRequest([]byte(`{"messages":[` + c.messages + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, q.Runtime); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
