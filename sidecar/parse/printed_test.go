package parse_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

var words = &parse.PrintedWords{
	Keys:  []string{"role", "content", "author", "tool_calls", "function", "arguments", "id"},
	Heads: []string{"channel", "recipient", "calling_tool", "arguments", "content_type"},
	Tags:  []string{"message", "details"},
}

var rows = []struct {
	text string
	form parse.Notation
	doc  string // empty: it is none
}{
	{`{"a": [1, "b"]}`, parse.PrintedJSON, `{"a": [1, "b"]}`},
	{"{\"a\": 1}\n\n{\"b\" : null}\n", parse.PrintedJSON, `[{"a": 1},{"b" : null}]`},
	{`{"a": 1} {"b": 2}`, parse.PrintedJSON, ""}, // a list without its brackets: nobody prints that
	{`{'a': True, 'b': (1, 2,), 'c': None}`, parse.Language, `{"a":true,"b":[1,2],"c":null}`},
	{`{'a': "it's", 'b': 'say \'x\' \x41\u20ac\U0001f642'}`, parse.Language, `{"a":"it's","b":"say 'x' A€🙂"}`},
	{`AIMessage(content='', tool_calls=[{'name': 'bash', 'args': {'c': 'ls'}, 'id': 'x'}])`, parse.Language, `{"@type":"AIMessage","content":"","tool_calls":[{"name":"bash","args":{"c":"ls"},"id":"x"}]}`},
	{`Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='{"a": 1}')])`, parse.Language,
		`{"@type":"Message","author":{"@type":"Author","role":"assistant","name":null},"content":[{"@type":"TextContent","text":"{\"a\": 1}"}]}`},
	{`Message { author: Author { role: Assistant, name: None }, recipient: Some("functions.shell"), content: [Text(TextContent { text: "{\"a\": \"\u{20ac}\"}" })], .. }`, parse.Language,
		`{"@type":"Message","author":{"@type":"Author","role":"Assistant","name":null},"recipient":"functions.shell","content":[[{"@type":"TextContent","text":"{\"a\": \"€\"}"}]]}`},
	{"Message {\n    role: Role::Assistant,\n    content: [\n        \"a\",\n    ],\n}", parse.Language, `{"@type":"Message","role":"Assistant","content":["a"]}`},
	{`content='a' role='assistant' tool_calls=[]`, parse.Language, `{"content":"a","role":"assistant","tool_calls":[]}`},
	{`['<|channel|>', 'commentary']`, parse.Language, `["<|channel|>","commentary"]`},
	{"channel: commentary\nRecipient: functions.x\ncontent-type: json\n\n{\"a\": 1}", parse.PrintedLines, `{"channel":"commentary","recipient":"functions.x","content_type":"json","content":{"a": 1}}`},
	{"Calling tool: get_weather\n Arguments: {'city': 'Oslo'}", parse.PrintedLines, `{"calling_tool":"get_weather","arguments":{"city":"Oslo"}}`},
	{"channel: a\nsubject: b\n\n{}", parse.PrintedLines, ""},
	{"channel: a\n\nHello {}", parse.PrintedLines, ""},
	{`<message role="assistant" content-type="json">{&quot;a&quot;: 1}</message>`, parse.Tags, `{"role":"assistant","content_type":"json","content":"{\"a\": 1}"}`},
	{"<details type=\"x\" arguments=\"&quot;{}&quot;\">\n<summary>Executing...</summary>\n</details>", parse.Tags, `{"type":"x","arguments":"\"{}\""}`},
	{`<message role="assistant">a`, parse.Tags, ""},
	{"data: {\"a\": 1}\n\nevent: x\ndata: {\"b\": 2}\n\ndata: [DONE]\n", parse.PrintedJSON, `[{"a": 1},{"b": 2}]`},
	{`Message(content="hi").send()`, parse.Language, ""},
	{`Message(content=text)`, parse.Language, ""},
	{`Message(content=json.dumps('a'))`, parse.Language, ""},
	{"Message {\n    role: Some(\n        \"a\",\n    ),\n}", parse.Language, `{"@type":"Message","role":"a"}`},
	{`Message(content=f"hi")`, parse.Language, ""},
	{`Message(content='a' 'b')`, parse.Language, ""},
	{`Message(content='a\q')`, parse.Language, ""},
	{"Message(content='a\nb')", parse.Language, ""},
	{`Message(content='a'`, parse.Language, ""},
	{`Message(content=x + 1)`, parse.Language, ""},
	{`Message(content='a', role)`, parse.Language, ""},
	{"", parse.PrintedJSON, ""},
}

func TestRead(t *testing.T) {
	for _, row := range rows {
		v, is := words.Read(row.text, 64, true)
		if is == scan.Wait || (is == scan.Yes) != (row.doc != "") || is == scan.Yes && (v.Doc != row.doc ||
			v.Notation != row.form || !gjson.Valid(v.Doc)) {
			t.Errorf("%s\nis %d: %+v\nwant %s", row.text, is, v, row.doc)
		}
	}
}

func TestBegins(t *testing.T) {
	for text, want := range map[string]scan.Verdict{
		"Message(role='a'": scan.Yes, "Message { role: A": scan.Yes, "[Message(role=": scan.Yes,
		"Some(Message { role:": scan.Yes, "content=''": scan.Yes,
		"channel: x": scan.Yes, "**Calling tool:** x": scan.Yes, "<details type=": scan.Yes, "['<|channel": scan.Yes, "data: {\"a": scan.Yes,
		"role=x": scan.No, "role=": scan.Wait, "Point(x=1": scan.No, "Message(1": scan.No,
		"The role": scan.No, "content is": scan.No, "channel 5": scan.No, "<b>": scan.No, "['a": scan.No,
		"data: 5": scan.No,
		"Message": scan.Wait, "Message(": scan.Wait, "Message(ro": scan.Wait, "chan": scan.Wait,
		"<det": scan.Wait, "[": scan.Wait, "['<": scan.Wait, "conten": scan.Wait,
		"Message(zz": scan.No, "{'a": scan.No, "": scan.Wait,
	} {
		if is := words.Begins(text, false); is != want {
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
		all, whole := words.Read(text, 64, true)
		if whole == scan.Wait || whole == scan.Yes && !gjson.Valid(all.Doc) {
			t.Fatalf("%q: %d, %+v", text, whole, all)
		}
		if words.Begins(text, true) != scan.Yes && !strings.HasPrefix(text, "{") {
			return
		}
		for n := range len(text) {
			if begins := words.Begins(text[:n], false); begins == scan.No && !strings.HasPrefix(text, "{") {
				t.Fatalf("%q does not begin, %q does", text[:n], text)
			} else if begins == scan.Wait {
				continue
			}
			v, is := words.Read(text[:n], 64, false)
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
		strings.Repeat("<message>", n), strings.Repeat("<message a=\"b\"></message>\n", n/8),
		strings.Repeat("channel: x\n", n), "['" + strings.Repeat(`\u0041`, n) + "']",
		"A(role=" + strings.Repeat("<A: ", n),
	} {
		if v, is := words.Read(text, 64, true); is == scan.Yes && !gjson.Valid(v.Doc) {
			t.Errorf("%.20q: %d", text, is)
		}
	}
}
