package parse_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

var firstKeys = parse.FirstKeys{"role", "content", "author", "tool_calls", "function", "arguments", "id"}

var rows = []struct {
	text    string
	foreign bool
	doc     string // empty: it is none
}{
	{`{"a": [1, "b"]}`, false, `{"a": [1, "b"]}`},
	{"{\"a\": 1}\n\n{\"b\" : null}\n", false, `[{"a": 1},{"b" : null}]`},
	{`{"a": 1} {"b": 2}`, false, ""}, // a list without its brackets: nobody prints that
	{`{'a': True, 'b': (1, 2,), 'c': None}`, true, `{"a":true,"b":[1,2],"c":null}`},
	{`{'a': "it's", 'b': 'say \'x\' \x41\u20ac\U0001f642'}`, true, `{"a":"it's","b":"say 'x' A€🙂"}`},
	{`AIMessage(content='', tool_calls=[{'name': 'bash', 'args': {'c': 'ls'}, 'id': 'x'}])`, true, `{"@type":"AIMessage","content":"","tool_calls":[{"name":"bash","args":{"c":"ls"},"id":"x"}]}`},
	{`Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='{"a": 1}')])`, true,
		`{"@type":"Message","author":{"@type":"Author","role":"assistant","name":null},"content":[{"@type":"TextContent","text":"{\"a\": 1}"}]}`},
	{`Message { author: Author { role: Assistant, name: None }, recipient: Some("functions.shell"), content: [Text(TextContent { text: "{\"a\": \"\u{20ac}\"}" })], .. }`, true,
		`{"@type":"Message","author":{"@type":"Author","role":"Assistant","name":null},"recipient":"functions.shell","content":[[{"@type":"TextContent","text":"{\"a\": \"€\"}"}]]}`},
	{"Message {\n    role: Role::Assistant,\n    content: [\n        \"a\",\n    ],\n}", true, `{"@type":"Message","role":"Assistant","content":["a"]}`},
	{`content='a' role='assistant' tool_calls=[]`, true, `{"content":"a","role":"assistant","tool_calls":[]}`},
	{`['<|channel|>', 'commentary']`, true, `["<|channel|>","commentary"]`},
	{"data: {\"a\": 1}\n\nevent: x\ndata: {\"b\": 2}\n\ndata: [DONE]\n", false, `[{"a": 1},{"b": 2}]`},
	{`Message(content="hi").send()`, true, ""},
	{`Message(content=text)`, true, ""},
	{`Message(content=json.dumps('a'))`, true, ""},
	{"Message {\n    role: Some(\n        \"a\",\n    ),\n}", true, `{"@type":"Message","role":"a"}`},
	{`Message(content=f"hi")`, true, ""},
	{`Message(content='a' 'b')`, true, ""},
	{`Message(content='a\q')`, true, ""},
	{"Message(content='a\nb')", true, ""},
	{`Message(content='a'`, true, ""},
	{`Message(content=x + 1)`, true, ""},
	{`Message(content='a', role)`, true, ""},
	{"", false, ""},
}

func TestRead(t *testing.T) {
	for _, row := range rows {
		v, is := firstKeys.Read(row.text, 64, true)
		if is == scan.Wait || (is == scan.Yes) != (row.doc != "") || is == scan.Yes && (v.Doc != row.doc ||
			v.Foreign != row.foreign || !gjson.Valid(v.Doc)) {
			t.Errorf("%s\nis %d: %+v\nwant %s", row.text, is, v, row.doc)
		}
	}
}

func TestBegins(t *testing.T) {
	for text, want := range map[string]scan.Verdict{
		"Message(role='a'": scan.Yes, "Message { role: A": scan.Yes, "[Message(role=": scan.Yes,
		"Some(Message { role:": scan.Yes, "content=''": scan.Yes,
		"['<|channel": scan.Yes, "data: {\"a": scan.Yes,
		"role=x": scan.No, "role=": scan.Wait, "Point(x=1": scan.No, "Message(1": scan.No,
		"The role": scan.No, "content is": scan.No, "<b>": scan.No, "['a": scan.No,
		"data: 5": scan.No,
		"Message": scan.Wait, "Message(": scan.Wait, "Message(ro": scan.Wait,
		"[": scan.Wait, "['<": scan.Wait, "conten": scan.Wait,
		"Message(zz": scan.No, "{'a": scan.No, "": scan.Wait,
	} {
		if is := firstKeys.Begins(text, false); is != want {
			t.Errorf("%q: %d, want %d", text, is, want)
		}
	}
}

// Whatever is read of the beginning of a text holds for all of it, and where nothing is read, no byte
// of the rest is looked at.
func FuzzRead(f *testing.F) {
	for _, row := range rows {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			t.Skip("long texts are another test's")
		}
		all, whole := firstKeys.Read(text, 64, true)
		if whole == scan.Wait || whole == scan.Yes && !gjson.Valid(all.Doc) {
			t.Fatalf("%q: %d, %+v", text, whole, all)
		}
		if firstKeys.Begins(text, true) != scan.Yes && !strings.HasPrefix(text, "{") {
			return
		}
		for n := range len(text) {
			if begins := firstKeys.Begins(text[:n], false); begins == scan.No && !strings.HasPrefix(text, "{") {
				t.Fatalf("%q does not begin, %q does", text[:n], text)
			} else if begins == scan.Wait {
				continue
			}
			v, is := firstKeys.Read(text[:n], 64, false)
			if is == scan.Yes || is == scan.No && (whole != scan.No || v.At != all.At) {
				t.Fatalf("%q: %d at %d; all of %q: %d at %d", text[:n], is, v.At, text, whole, all.At)
			}
		}
	})
}

// A text is read once from front to back, and no deeper than it may be.
func TestHostile(t *testing.T) {
	const n = 1 << 18
	for _, text := range []string{
		strings.Repeat("[", n), "Message(role=" + strings.Repeat("A(", n), strings.Repeat("{\"a\":", n),
		strings.Repeat("{}\n", n), strings.Repeat("data: {}\n", n),
		"['" + strings.Repeat(`\u0041`, n) + "']",
		"A(role=" + strings.Repeat("<A: ", n),
	} {
		if v, is := firstKeys.Read(text, 64, true); is == scan.Yes && !gjson.Valid(v.Doc) {
			t.Errorf("%.20q: %d", text, is)
		}
	}
}
