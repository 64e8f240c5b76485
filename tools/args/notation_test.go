package args

import (
	"slices"
	"strings"
	"testing"
)

// read tells the readings of a text, each with what was done, and "…" where it has no end of its own.
func read(table Table, text string) string {
	var out []string
	var tool anyTool
	table.Read(text, 0, &tool)
	for _, r := range tool.seen {
		if len(r.Steps) == 0 {
			continue
		}
		one := r.Text
		for _, s := range r.Steps {
			one += " " + strings.TrimPrefix(s.ID, "args.")
		}
		if r.Open {
			one += " …"
		}
		out = append(out, one)
	}
	return strings.Join(out, " | ")
}

func TestNotations(t *testing.T) {
	table := slices.DeleteFunc(Ops(), func(o Op) bool {
		return o.Cost == usual || o.Cost == repair || o.Cost == lone || o.Cost == program
	})
	for _, row := range []struct{ text, want string }{
		// JSON means itself.
		{`{"a": "｛「x」｝ ▁ <0x0A> \\u{41} %41"}`, ""},
		{`[1]`, ""},
		{``, ""},
		{`words`, ""},
		{`{"a": "b`, ""},

		// Signs of other scripts.
		{`｛"a"：["x"]，"b"：“中：文，。”｝`, `{"a":["x"],"b":"中：文，。"} signs`},
		{`{「a」: 「b「c」」}`, ""},
		{`{「a」: 「b "c"」}`, ""},
		{`{「a」: 「b」, 「n」: ５}`, `{"a": "b", "n": 5} signs`},
		{`"{"a": "b; {d}"}"`, `{"a": "b; {d}"} quotes`},
		{`{«a»: «b ‹c›», „d“: „e“}`, `{"a": "b ‹c›", "d": "e"} signs`},
		{`{“a”: “x", "b”}`, ""},  // where does it end?
		{`{“a”: “x\n”}`, ""},     // an escape, or a backslash?
		{`{“a”: “x “y” z”}`, ""}, // quotes in quotes
		{"{\"a\"\u200f:\u202f\"b\"\u2069}\ufeff", `{"a" : "b" } signs`},
		{"{\"a\": `x \"y\"\n`}", `{"a": "x \"y\"\n"} signs`},
		{"{\"a\": `x ${y}\n`}", ""},
		{"{\"a\": `x\\n\n`}", ""},
		{"{\"a\": `date`}", ""}, // it may be a shell's
		{"{\"a\": 1\u200b2}", ""},

		// Escapes.
		{`{"a": "print('\U0001F680')"}`, ""}, // the program's own
		{`{"a": "\\U0001F680"}`, ""},
		{`{"a": "\U00110000"}`, ""},
		{`{"a": "\u{22}"}`, ""},
		{`{"a": "C:\Users"}`, ""},

		// Bytes.
		{"{\"a\": \"\x1b[1mx\"}", ""},

		// Marks of a tokenizer.
		{`▁{"a":▁"x▁y"}`, `{"a": "x y"} blanks`},
		{`▁{"a":▁"x y"}`, `{"a": "x y"} blanks`},
		{`▁{"a":▁"x▁y z"}`, `{"a": "x▁y z"} blanks | {"a": "x y z"} blanks`},
		{`Ċ{ĊĠĠ"a":Ġ"xĠy"Ċ}`, "{\n  \"a\": \"x y\"\n} bytes"},
		{`{"a":Ġ"fÃ¼rĠÃ©"}`, `{"a": "für é"} bytes`},
		{`{"a":Ġ"fürĠx"}`, `{"a": "für x"} bytes`},

		// What stands around.
		{`<unk>{"a": 1}<unk>`, `{"a": 1} tokens`},
		{`<|message|><|message|>{"a": 1}</s>`, `{"a": 1} tokens`},
		{"\ufeff{\"a\": 1}\u2069", `{"a": 1} signs | {"a": 1} tokens`},
		{`<json>{"a": 1}</json>`, `{"json":"{\"a\": 1}"} xml … | {"a": 1} tokens`},
		{`<think>{"a": 1}</think>`, `{"think":"{\"a\": 1}"} xml …`},
		{`<unk>{"a": "<unk>"`, ""},

		// Forms.
		{`a&b`, ""},

		// XML.
		{"<parameter name=\"a\">x <b>\"y\"</b></parameter>\n<parameter name=\"b\">1</parameter>",
			`{"a":"x <b>\"y\"</b>","b":"1"} xml …`},
		{"<parameter=a>\nx\n\n</parameter>", `{"a":"x\n"} xml …`},
		{`<parameters><a>x</a></parameters>`,
			`{"parameters":"<a>x</a>"} xml … | {"a":"x"} tokens xml …`},
		{`<a>x</a> and`, ""},
		{`<a>x`, ""},
		{`<a>&lt;b&gt;</a>`, ""}, // decoded, or not?
		{`<a>x && y</a>`, `{"a":"x && y"} xml …`},
		{`<a><![CDATA[&lt;]]></a>`, `{"a":"&lt;"} xml …`},
		{`<a>x<a>y</a></a>`, ""},

		{`<arg_key>a</arg_key><arg_value>x</arg_value>`, `{"a":"x"} xml …`},
		{`<arg_key>a</arg_key>`, ""},

		// Lines.
		{"a: x y\nb: 1", `{"a":"x y","b":"1"} lines …`},
		{"a = \"x\\n\"\nb = 'y'", `{"a":"x\n","b":"y"} lines …`},
		{"a: x", ""}, // a remark?
		{"a: x\n  more", ""},
		{"a: |\nb: 1", ""},
		{"a: x # y\nb: 1", ""},
		{"a: null\nb: 1", ""},
		{`--force`, ""},

		// Encodings.
		{`eyJhIjoxfQ`, `{"a":1} base64`},
		{`data:application/json;base64,eyJhIjoxfQ==`, `{"a":1} base64`},
		{`&#123;&#34;a&#34;: 1&#125;`, `{"a": 1} html`},
		{`eyebrow`, ""},

		// Frames.
		{`a": "x", "b": 1}`, `{"a": "x", "b": 1} begin`},
		{`"a": "x", "b": 1`, `{"a": "x", "b": 1} members …`},
		{`a": "x", "b": 1`, `{"a": "x", "b": 1} members …`},
		{`"a": {"b": 1}`, `{"a": {"b": 1}} members …`},
		{`"a": "x`, ""},
		{`a: 1`, ""},
		{"a: x\nb: |\n  one\n    two\n\n  three\nc: |-\n y",
			`{"a":"x","b":"one\n  two\n\nthree\n","c":"y"} lines …`},
		{"b: |\n  one", `{"b":"one\n"} lines …`},
		{"b: |\none", ""},
		{"b: |\n\tone", ""},
		{"b: |\n  one\n two", ""},
		{"b: >\n  one", ""}, // who folds lines

		// One in another.
		{`<unk>▁｛"a"：▁「x」｝`, `{"a": "x"} tokens signs blanks`},
	} {
		if got := read(table, row.text); got != row.want {
			t.Errorf("%q: got %q, want %q", row.text, got, row.want)
		}
	}
}

func TestPrograms(t *testing.T) {
	table := slices.DeleteFunc(Ops(), func(o Op) bool { return o.Cost != program })
	for _, row := range []struct{ text, want string }{
		{`{a = "x", n = 3}`, `{"a":"x","n":3}`},
		{`{["a"] = 'x "y"'; ["b"] = {1, 2}}`, ""}, // a list of Lua is an object of others
		{`['a' => 'x', 'b' => [1, true, null],]`, `{"a":"x","b":[1,true,null]}`},
		{`array('a' => 'x')`, `{"a":"x"}`},
		{`dict(a='x', b=None)`, `{"a":"x","b":null}`},
		{`map[string]any{"a": "x",}`, `{"a":"x"}`},
		{`json!({"a": [{}]})`, `{"a":[{}]}`},
		{`{"a": r"x", "b": f"y"}`, `{"a":"x","b":"y"}`},
		{`{"a": f"{x}"}`, ""},
		{`{"a": r"\d", "b": @"C:\n ""x""", "c": u'x'}`, `{"a":"\\d","b":"C:\\n \"x\"","c":"x"}`},
		{`{"a": r#"say "hi" \n"#, "b": rb'x'}`, `{"a":"say \"hi\" \\n","b":"x"}`},
		{`{"a": r"say \"hi\""}`, ""}, // the backslash is text, too
		{`{"a": r"""x"""}`, ""},
		{`{"a": x"b"}`, ""},
		{"{\"a\": \"x\\n\"\n  \"y\", \"b\": 1}", `{"a":"x\ny","b":1}`},
		{`{"a": "x" + 'y'}`, `{"a":"xy"}`},
		{`{"a": ("x" "y")}`, `{"a":"xy"}`},
		{`{"a": "x" "y"}`, ""}, // or quotes in a text
		{"{\"a\": \"x\\n\"\n  \"b\": 1}", ""},
		{`{"a": 0xB4, "b": 1_000, "c": .5, "d": -12., "e": +3}`,
			`{"a":180,"b":1000,"c":0.5,"d":-12.0,"e":3}`},
		{`{"a": 007}`, ""},
		{`{"a": undefined, "b": nil}`, `{"a":null,"b":null}`},
		{`new Map([["a", 1, 2]])`, ""},
		{`new Map([[1, 2]])`, ""},
		{`eval({a: "x"})`, `{"name":"eval","arguments":{"a":"x"}}`}, // no tool is called so
		{`Object.freeze("x")`, ""},
		{strings.Repeat("Map(", 1000), ""},
		{`read(a="x", b=-1.5);`, `{"name":"read","arguments":{"a":"x","b":-1.5}}`},
		{`await read({a: 'x'})`, `{"name":"read","arguments":{"a":"x"}}`},
		{`(a: "x", b: false)`, `{"a":"x","b":false}`},
		{`a=true`, ""}, // a remark?
		{`read("x")`, ""},
		{`{a: 'it's'}`, ""},
		{`{a: 'x\n'}`, ""},
		{`{a: x}`, ""},
		{`{"a", "b"}`, ""},
		{`{a: "x", "b"}`, ""},
		{`{a: "x"} more`, ""},
		{`{a: "x`, ""},
		{strings.Repeat("[", 1000), ""},
	} {
		got := read(table, row.text)
		if got = strings.Replace(got, " literal", "", 1); got != row.want {
			t.Errorf("%s: got %q, want %q", row.text, got, row.want)
		}
	}
}

func TestBegins(t *testing.T) {
	for _, s := range []string{`<parameter name="a">`, `</a>`, `<!-- x`, `<0x0A>{`, `<|channel|>`, `▁"x`,
		`｛"a"`, `"a": 1`, `a": 1`, `「a」：1`, `'a' => 1`, ` <x>`, "\u2068{\"a\": 1}", `{{"a": 1}}`} {
		if !Begins(s) {
			t.Errorf("%s does not begin as markup", s)
		}
	}
	for _, s := range []string{``, `<`, `< 5`, `a < b`, `<3 you`, `ls -la`, `"quoted" words`, `note: this`,
		`「君の名は」 上映`, `http://a.example`, `x = 1`, `'a'`} {
		if Begins(s) {
			t.Errorf("%s begins as markup", s)
		}
	}
}
