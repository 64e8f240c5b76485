package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A name that says nothing does not make half a call a whole one, and what cannot be read between tags is
// no empty object.
func TestRescuedCalls(t *testing.T) {
	s := shipped.Strategies("")
	c := tools.NewCatalog(shipped.Tools, tools.NewSchemas(10), []tools.Tool{
		{Name: "exec", Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
		{Name: "web_search", Parameters: []byte(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
		{Name: "delete_items", Parameters: []byte(`{"type":"object","properties":{"filter":{"type":"string"},"force":{"type":"boolean"}}}`)},
	})
	for _, row := range []struct{ text, said, calls string }{
		{`<|channel|>commentary to=tool<|message|>{"name":"exec","arguments":{"command":"rm -r build"}}<|call|>`, "stop", `exec{"command":"rm -r build"}`},
		{`<|channel|>commentary to=tool<|message|>{"name":"exec","arguments":{"command":"rm -r build"`, "length", ""},
		{`<|channel|>commentary to=tool<|message|>{"name":"exec","arguments":{"command":"rm -r build"`, "", ""},
		{`<|channel|>commentary to=Golang<|message|>{"name":"exec","arguments":{"command":"rm -r build"`, "length", ""},
		{`<|channel|>commentary to=tool<|message|>{"command":"rm -r build"`, "length", ""},
		{`<|channel|>commentary to=functions.json<|message|>{"command":"rm -r build"`, "length", ""},
		{`<|channel|>commentary<|message|>{"query":"a"`, "length", ""},
		{`<|channel|>commentary to=tool<|message|>{"name":"exec","arguments":{"command":"echo "a", "b" > x"}}<|call|>`, "stop", ""},
		{`<function=delete_items>{"filter":"a"</function>`, "stop", `delete_items{"filter":"a"}`},
		{`<function=delete_items>{"filter":"a"}</function>`, "stop", `delete_items{"filter":"a"}`},
		{`<function=delete_items>filter="a"</function>`, "stop", ""}, {`<function=delete_items><filter>a</filter></function>`, "stop", ""},
		{`<function=delete_items></function>`, "stop", `delete_items{}`},
	} {
		if got := readPieces(s, c, []string{row.text},
			row.said); strings.TrimSpace(showCalls(got.Calls)) != row.calls {
			t.Errorf("%s, %q: calls %s, refused %v", row.text, row.said, showCalls(got.Calls), got.Refused)
		}
	}
	// each quotes again: no memory holds it
	deep := `{filter=` + strings.Repeat("json.dumps(", 60) + `{"x":1}` + strings.Repeat(")", 60) + `}`
	if call, refusal := c.Call("delete_items", []byte(deep), tools.Ending{}); refusal == nil {
		t.Errorf("functions in each other: %s", call.Arguments)
	}
}
