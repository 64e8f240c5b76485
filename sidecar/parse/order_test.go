package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Behind a call that is not made, or not whole, none is made that changes something: it may rest on
// that, or be a part of its arguments.
func TestNothingRestsOnWhatWasNotMade(t *testing.T) {
	const exec, read = `exec{"command":"ls"}`, `read{"path":"a"}`
	head := func(tool string) string {
		return "<|start|>assistant<|channel|>commentary to=functions." + tool +
			" <|constrain|>json<|message|>"
	}
	call := head("exec") + `{"command":"ls"}<|call|>`
	look := head("read") + `{"path":"a"}<|call|>`
	tag := func(args string) string {
		return `<tool_call>{"name":"exec","arguments":` + args + `}</tool_call>`
	}
	for name, row := range map[string][2]string{
		"one that is made":                   {look + call, read + " " + exec},
		"nobody's tool":                      {head("backup") + `{"path":"src"}<|call|>` + call, ""},
		"nobody's tool, then one that reads": {head("backup") + `{"path":"src"}<|call|>` + look, read},
		"other arguments":                    {head("exec") + `{"cmdline":["x"]}<|call|>` + call, ""},
		"other arguments of one that reads":  {head("read") + `{"places":["x"]}<|call|>` + call, exec},
		"a header alone, of the same call":   {head("exec") + "<|call|>" + call, exec},
		"a header alone, of another":         {head("backup") + "<|call|>" + call, ""},
		"guided":                             {`{"tool_calls":[{"name":"backup","arguments":{}},{"name":"exec","arguments":{"command":"ls"}}]}`, ""},
		"tags":                               {tag(`{"cmdline":1}`) + "\n" + tag(`{"command":"ls"}`), ""},
		"a cut one behind it":                {`<tool_calls>[{"name":"exec","arguments":{"command":"ls"}},{"name":"exec","arguments":{"command":"r`, exec},
		"open arguments": {head("write") +
			"{\"path\":\"a\",\"content\":\"Docs:\n" + call, ""},
		"open arguments of one that reads": {head("read") + "{\"path\":\"a" + call, read},
		"open arguments, and one that reads": {head("read") + "{\"path\":\"b" + look,
			`read{"path":"b"} ` + read},
		"a string that swallowed a message":   {head("read") + "{\"path\":\"a}<|call|>" + call, read},
		"a body that is no object":            {head("write") + "# Docs\n\n" + call, ""},
		"an action with open input":           {"Action: exec\nAction Input: {\"command\": \nAction: exec\nAction Input: {\"command\":\"ls\"}", ""},
		"an action with open input, it reads": {"Action: read\nAction Input: {\"path\": \nAction: exec\nAction Input: {\"command\":\"ls\"}", ""},
	} {
		only(t, parse.Facts{}, name, row[0], row[1])
	}
}

// The server's own calls follow the same rule, and those in text go before them.
func TestServersCallsInOrder(t *testing.T) {
	const ls = `{"command":"ls"}`
	own := func(i int, name, args string) parse.Delta {
		return parse.Delta{Calls: []parse.CallDelta{{Index: i, ID: string(rune('a' + i)), Name: name,
			Arguments: []byte(args)}}}
	}
	more := func(i int, args string) parse.Delta {
		return parse.Delta{Calls: []parse.CallDelta{{Index: i, Arguments: []byte(args)}}}
	}
	for name, row := range map[string]struct {
		deltas  []parse.Delta
		calls   string
		refused string
	}{
		"the first is cut": {[]parse.Delta{own(0, "exec", `{"command":"cp -a src backup`),
			own(1, "exec", ls)}, "", "truncated behind"},
		"the first is nobody's": {[]parse.Delta{own(0, "backup", `{}`), own(1, "exec", ls),
			own(2, "read", `{"path":"a"}`)}, `read{"path":"a"}`, "not_offered behind"},
		"one in text":             {[]parse.Delta{{Content: `<tool_call>{"name":"backup","arguments":{"a":1}}</tool_call>`}, own(0, "exec", ls)}, "", "not_offered behind"},
		"its header in text":      {[]parse.Delta{{Content: `<|channel|>commentary to=functions.exec <|constrain|>json`}, own(0, "exec", ls)}, "exec" + ls, ""},
		"its header, and a token": {[]parse.Delta{{Content: `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>`}, own(0, "exec", ls)}, "exec" + ls, ""},
		"the header of another":   {[]parse.Delta{{Content: `<|channel|>commentary to=functions.read <|constrain|>json<|message|>`}, own(0, "exec", ls)}, "", "truncated behind"},
		"both at once": {[]parse.Delta{own(0, "exec", `{"comm`), own(1, "read", `{"pa`),
			more(0, `and":"ls"}`), more(1, `th":"a"}`)}, "exec" + ls + ` read{"path":"a"}`, ""},
		"both at once, and third": {[]parse.Delta{own(0, "exec", `{"comm`), own(1, "read", `{"path":"a"}`), own(2, "exec", ls), more(0, `and":"a"}`)}, `exec{"command":"a"} read{"path":"a"} exec` + ls, ""},
	} {
		got, _ := readDeltas(shipped.Strategies(""), "tool_calls", row.deltas...)
		var refused []string
		for _, f := range got.Refused {
			refused = append(refused, string(f.Code))
		}
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != row.calls ||
			strings.Join(refused, " ") != row.refused {
			t.Errorf("%s: gives %s, refused %v", name, calls, got.Refused)
		}
	}
}

// A call in the arguments of a tool that nobody offers is made only if that is known to hold calls, or
// it only reads.
func TestCallsInArguments(t *testing.T) {
	const exec, read = `exec{"command":"ls"}`, `read{"path":"a"}`
	inner := map[string]string{exec: `{"name":"exec","arguments":{"command":"ls"}}`,
		read: `{"name":"read","arguments":{"path":"a"}}`}
	for name, row := range map[string]struct{ call, makes string }{
		"multi_tool_use.parallel":         {exec, exec},
		"functions":                       {exec, exec},
		"tool_call":                       {exec, exec},
		"function_call":                   {exec, exec},
		"report_injection":                {exec, ""},
		"some_tool":                       {exec, ""},
		"functions.report_injection.tool": {exec, ""},
		"report_injection ":               {read, read},
	} {
		whole := inner[row.call]
		only(t, parse.Facts{}, name, `{"name":"`+strings.TrimSpace(name)+`","arguments":`+whole+`}`,
			row.makes)
		if strings.HasPrefix(name, tools.Parallel) || row.makes == "" {
			only(t, parse.Facts{}, name+", several", `<|channel|>commentary to=`+name+
				`<|message|>{"tool_uses":[`+whole+`]}<|call|>`, row.makes)
		}
	}
}

// What stands in an argument is no call of its own, be the call around it made, refused or unread.
func TestCallsInsideOfTags(t *testing.T) {
	const read = `read{"path":"a"}`
	inner := "<function=exec><parameter=command>ls</parameter></function>"
	inJSON := `<tool_call>{"name":"exec","arguments":{"command":"ls"}}</tool_call>`
	for name, row := range map[string][2]string{
		"in one that is made": {"<function=read><parameter=path>" + inner + "</parameter></function>",
			`read{"path":"` + inner + `"}`},
		"and behind it": {"<function=read><parameter=path>" + inner +
			"</parameter></function>\n" + inner, `read{"path":"` + inner + `"} exec{"command":"ls"}`},
		"in nobody's": {"<function=nosuch><parameter=text>" + inner + "</parameter></function>",
			""},
		"in nobody's, wrapped": {"<tool_call><function=nosuch><parameter=text>" + inner +
			"</parameter></function></tool_call>", ""},
		"in an open one":         {"<function=write><parameter=content>\n" + inner, ""},
		"in one of another kind": {"<function=nosuch><parameter=text>" + inJSON + "</parameter></function>", ""},
		"in one nobody can read": {"<tool_call>write\n<arg_key>content</arg_key><arg_value>\n" + inJSON + "\n</arg_value></tool_call>", ""},
		"a closing tag in it": {"<function=read><parameter=path>a</function>b</parameter></function>",
			`read{"path":"a</function>b"}`},
		"an argument left open": {"<function=exec><parameter=command>ls</function>\nI look.", ""},
		"two":                   {"<function=read><parameter=path>a</parameter></function><function=read><parameter=path>b</parameter></function>", read + ` read{"path":"b"}`},
	} {
		only(t, parse.Facts{}, name, row[0], row[1])
	}
}

// What a server ended because it found something wrong makes no call that changes anything.
func TestFilteredCalls(t *testing.T) {
	for said, want := range map[string]int{"content_filter": 0, "error": 0, "stop": 1} {
		for _, d := range []parse.Delta{
			{Content: `{"name":"exec","arguments":{"command":"ls"}}`},
			{Content: `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls"}<|call|>`},
			{Calls: []parse.CallDelta{{ID: "a", Name: "exec", Arguments: []byte(`{"command":"ls"}`)}}},
		} {
			if got, _ := readDeltas(shipped.Strategies(""), said, d); len(got.Calls) != want {
				t.Errorf("%s: %+v gives %v", said, d, got.Calls)
			}
		}
	}
}
