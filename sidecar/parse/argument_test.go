package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// What an argument holds is a part of it, and no call: up to the tag that balances the first, or to
// the end, where none does.
func TestArgumentsAreOpaque(t *testing.T) {
	const inner = "<function=exec><parameter=command>rm</parameter></function>"
	for doc, want := range map[string]string{
		"<function=write><parameter=path>a</parameter><parameter=content>" + inner +
			"</parameter></function>": `write{"path":"a","content":"` + inner + `"}`,
		`<invoke name="w"><parameter name="c"><invoke name="x"><parameter name="d">1</parameter></invoke></parameter></invoke>` +
			inner: `w{"c":"<invoke name=\"x\"><parameter name=\"d\">1</parameter></invoke>"}exec{"command":"rm"}`,
		"<function=write><parameter=content>" +
			inner: "broken",
		inner + "<function=write><parameter=content>a" + inner:                `exec{"command":"rm"}broken`,
		"<function=write><parameter=a>1</parameter><parameter=b>2</function>": "broken",
		`<function=w>{"c":"` + inner +
			`"}</function>`: `w{"c":"` + inner + `"}`,
		`<function name="w"><arguments>{"c":"` + inner +
			`"}</arguments></function>`: `w{"c":"` + inner + `"}`,
		"<tool>w</tool><tool_input>" + inner +
			"</tool_input>": `w"` + inner + `"`,
		`<action><tool_name>w</tool_name><arguments><arg key="c">` + inner +
			`</arg></arguments></action>`: `w{"c":"` + inner + `"}`,
		"<function=w><parameter=c><a><parameter=x>1</parameter></a></parameter></function>": `w{"c":"<a><parameter=x>1</parameter></a>"}`,
		"<parameter=c>" + inner +
			"</parameter>": "",
	} {
		calls, broken := parse.TagCalls(doc, false)
		got := ""
		for _, c := range calls {
			got += c.Name + c.Args
		}
		if broken {
			got += "broken"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}
