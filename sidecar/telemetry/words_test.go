package telemetry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// A text is cut so that no half of a secret stays, wherever the cut falls.
func TestCut(t *testing.T) {
	for _, at := range []int{0, 10, maxName - 45, maxName - 20, maxName, maxName + margin - 45,
		maxName + margin - 20, maxName + margin} {
		text := strings.Repeat("a ", (at+1)/2)[:at] + " " + secret + strings.Repeat(" b", 9000)
		got := name(text)
		if len(got) > maxName || strings.Contains(got, secret[:12]) ||
			at < 100 && !strings.Contains(got, "«masked:") {
			t.Errorf("at %d: %d bytes, %q", at, len(got), got)
		}
	}
	if got := name("日本" + strings.Repeat("語", 200)); len(got) > maxName || !strings.HasSuffix(got, "語") {
		t.Errorf("%q", got)
	}
}

// A text that is JSON is masked by its members; of a key that comes twice the first value goes.
func TestMask(t *testing.T) {
	for text, not := range map[string]string{
		`{"password":"hunter2hunter2"}`:                        "hunter2",
		`{"a":"` + secret + `","a":"x"}`:                       secret,
		`[{"env":"TOKEN=` + secret + `"}]`:                     secret,
		`{"password":"hunter2hunter2", and then it was cut`:    "hunter2",
		"it is " + secret + ", and \xff is no character of it": secret,
	} {
		if got := mask(text); strings.Contains(got, not) || !strings.Contains(got, "«masked:") &&
			got != `{"a":"x"}` {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := mask(`{"b": 1, "a": "x"}`); got != `{"b": 1, "a": "x"}` {
		t.Errorf("a text without a secret was changed: %s", got)
	}
}

// Messages are as the conventions have them: the newest that fit, each with its parts.
func TestMessages(t *testing.T) {
	ask := func(old int) string {
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":[{"type":"text","text":"look"}]},`+
			`{"role":"assistant","content":null,"reasoning_content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},`+
			`{"role":"tool","tool_call_id":"c1","content":"what is in it"}]}`, strings.Repeat("old ", old))
		req, err := openai.ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return (&Words{Bytes: 1 << 10}).messages(req)
	}
	const rest = `{"role":"user","parts":[{"type":"text","content":"look"}]},` +
		`{"role":"assistant","parts":[{"type":"reasoning","content":"I look."},{"type":"tool_call","id":"c1","name":"read","arguments":{"path":"a"}}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"what is in it"}]}]`
	if got, want := ask(1), `[{"role":"system","parts":[{"type":"text","content":"old "}]},`+
		rest; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	long := ask(10_000)
	if len(long) > 2<<10 || !strings.HasSuffix(long, rest) || !strings.Contains(long, "… (cut)") ||
		!json.Valid([]byte(long)) {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

// What a server said is put together from its pieces, whatever their numbers are.
func TestSaid(t *testing.T) {
	w := &Words{Bytes: 1 << 10}
	d := &parse.Delta{Content: "Hi.", Calls: []parse.CallDelta{
		{Index: 1, ID: "b", Name: "exec", Arguments: []byte(`{"comm`)}, {Index: 0, Name: "read", Arguments: []byte("{}")}, {Index: 1, Arguments: []byte(`and":"ls"}`)}, {Index: -1, Name: "x"}, {Index: 1 << 30, Name: "y"},
	}}
	got := w.output(d, []byte(`"I think."`), "stop")
	const want = `[{"role":"assistant","parts":[{"type":"reasoning","content":"I think."},{"type":"text","content":"Hi."},{"type":"tool_call","name":"read","arguments":{}},` +
		`{"type":"tool_call","id":"b","name":"exec","arguments":{"command":"ls"}}`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `"finish_reason":"stop"}]`) ||
		len(got) > 1<<10 {
		t.Errorf("%d bytes: %.600s", len(got), got)
	}
}
