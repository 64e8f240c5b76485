package parse

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Calls in tags become names and arguments. One that nothing closes does not count where the
// text may have been cut, and none counts without a parameter that cannot be read.
func TestCalls(t *testing.T) {
	for doc, want := range map[string]string{
		`<function=read><parameter=path>a.md</parameter></function>`:                                         `read{"path":"a.md"}`,
		`<invoke name="read"><parameter name="path">a.md</parameter></invoke>`:                               `read{"path":"a.md"}`,
		`<x:invoke name="read"><x:parameter name="path">a.md</x:parameter></x:invoke>`:                       `read{"path":"a.md"}`,
		`<function name="read"><arguments>{"path":"a.md"}</arguments></function>`:                            `read{"path":"a.md"}`,
		`<tool>read</tool><tool_input>a.md</tool_input>`:                                                     `read"a.md"`,
		`<action><tool_name>read</tool_name><arguments><arg key="path">a.md</arg></arguments></action>`:      `read{"path":"a.md"}`,
		`<function=read>{"path":"a}"}</function>`:                                                            `read{"path":"a}"}`,
		`<function=now></function>`:                                                                          `now{}`,
		`<function=a><parameter=x>1</parameter></function><function=b><parameter=y>2</parameter></function>`: `a{"x":"1"} b{"y":"2"}`,
		`<function=read><parameter=path>a.md`:                                                                `broken`,
		`<function=a><parameter=x>1</parameter></function><function=read><parameter=path>a.md</parameter>`:   `a{"x":"1"} broken`,
		`<function=read={"path":"a.md"}</function>`:                                                          `read{"path":"a.md"}`,
		`<function=read {"path":"a.md"}</function><function=read{"path":"b"}</function>`:                     `read{"path":"a.md"} read{"path":"b"}`,
		`<function=read({"path":"a.md"})</function>`:                                                         `read{"path":"a.md"}`,
		`<function=read, [{"path":"a.md"}]</function>`:                                                       `read{"path":"a.md"}`,
		`no call`: ``,
		"<tool_call>\n<function=a>\n<parameter=x>\n1\n</parameter>\n<parameter=y>2</parameter>\n</function>\n</tool_call>":                                       `a{"x":"1","y":"2"}`,
		`<function=a><parameter=x>echo 1</parameter> && rm b</parameter></function>`:                                                                             `broken`,
		`<function=a><parameter=x>echo 1</parameter> && rm b</function>`:                                                                                         `broken`,
		`<function=a><parameter=x>1</parameter> and <parameter=y>2</parameter></function>`:                                                                       `broken`,
		`<function=a>x<parameter=x>1</parameter></function>`:                                                                                                     `broken`,
		`<function=a><parameter=x>1</parameter></function></parameter></function>`:                                                                               `broken`,
		`<function=a><parameter=x><b><parameter=y>1</parameter></b></parameter></function>`:                                                                      `a{"x":"<b><parameter=y>1</parameter></b>"}`,
		`<function=a><parameter=x><function=b><parameter=y>1</parameter></function></parameter></function>`:                                                      `a{"x":"<function=b><parameter=y>1</parameter></function>"}`,
		`<action><tool_name>a</tool_name><arguments><arg key="x"><action><arg key="y">1</arg></action></arg></arguments></action>`:                               `a{"x":"<action><arg key=\"y\">1</arg></action>"}`,
		`<function=a><parameter=x>1</parameter></function><function=b><parameter=y>2</parameter>; 3</function><function=c><parameter=z>4</parameter></function>`: `a{"x":"1"} broken`,
	} {
		calls, broken := TagCalls(doc, true)
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+c.Args)
		}
		if broken {
			got = append(got, "broken")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", doc, got)
		}
	}
	if calls, broken := TagCalls(`<function=read><parameter=path>a.md</parameter>`, false); len(calls) != 1 ||
		broken {
		t.Errorf("what the model ended counts: %v %v", calls, broken)
	}
}

// Calls by the thousand take little time, and so do objects without an end.
func TestCallsLinear(t *testing.T) {
	const n = 20_000
	for unit, want := range map[string]int{
		"<function=f><parameter=a>1</parameter></function>": n, "<function=f>{": 1, "<function=f{": 1, "<function=f>": n,
		"<parameter=a>": 0, "<function=f></parameter>": n,
	} {
		if calls, _ := TagCalls(strings.Repeat(unit, n), false); len(calls) != want {
			t.Errorf("%s: %d calls", unit, len(calls))
		}
	}
}

func FuzzCalls(f *testing.F) {
	f.Add(`<function=read><parameter=path>a.md</parameter></function>`, true)
	f.Add(`<tool>read</tool><tool_input>{</tool_input>`, false)
	f.Fuzz(func(t *testing.T, doc string, cut bool) {
		calls, _ := TagCalls(doc, cut)
		for _, c := range calls {
			if c.Name == "" || utf8.ValidString(doc) && !utf8.ValidString(c.Args) {
				t.Errorf("%+v", c)
			}
		}
	})
}

// An argument whose tag stands in that of a call is none, and does no harm.
func TestTagsInTags(t *testing.T) {
	for _, doc := range []string{"<invoke name=<parameter=a>x</parameter>", "<function=<parameter=a>b</parameter></function>",
		"<invoke name=\"exec\"><function=<parameter=a>b</parameter><invoke name=\"read\">"} {
		TagCalls(doc, true)
		TagCalls(doc, false)
	}
}
