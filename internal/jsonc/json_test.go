package jsonc

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// plain is a text as encoding/json reads it without its comments.
func plain(t *testing.T, text []byte) (value map[string]any) {
	t.Helper()
	strict, err := hujson.Standardize([]byte(strings.TrimPrefix(string(text), byteOrderMark) + "\n"))
	if err == nil {
		err = json.Unmarshal(strict, &value)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value
}

func TestParse(t *testing.T) {
	v, err := Parse([]byte("\ufeff// c\r\n{\"a\": 1, \"a\": [true, null, \"\\u00e9\", -1.5e1,], /* d */ \"b\": {},} // end"))
	if err != nil {
		t.Fatal(err)
	}
	n, isNumber := v.At("a", "3").Float()
	switch {
	case !v.At("a", "0").Is(Bool, "true"), v.At("a", "1").Kind != Null, !v.At("a", "2").Is(String, "é"),
		n != -15 || !isNumber,
		v.Get("b").Kind != Object, v.At("a", "4") != nil, v.At("b", "c") != nil, len(v.AllMembers()) != 3,
		v.Start != 9:
		t.Errorf("%+v", v)
	}
	if v, err = Parse([]byte(strings.Repeat(`{"a": [0],`+"\n"+`"b":`, 400) + `"x"` + strings.Repeat("}",
		400))); err != nil || v.Get("a").Kind != Array {
		t.Errorf("400 levels: %v", err)
	}
	huge := `{"a": [` + strings.Repeat(`{"b": "`+strings.Repeat("x", 100)+`"},`, 50_000) + `]}`
	if got, err := Set([]byte(huge), 1, "c"); err != nil ||
		!strings.HasPrefix(string(got), strings.TrimSuffix(huge, "}")) {
		t.Errorf("%d bytes: %v", len(huge), err)
	}
}

// An error has a place, and says what to do where the text is JSON5. It quotes no value.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "1:1: parsing value: unexpected EOF",
		"{\n  \"é\": 1\n  \"b\": 2}": `3:3: invalid character '"' after object value (expecting ',' or '}')`,
		"{\"é\": 1,,}":               "1:9: invalid character ',' at start of value",
		"[1] 2":                      "1:5: invalid character '2' after top-level value",
		"{/* x":                      "1:2: parsing comment: unexpected EOF",
		`{"a" 1}`:                    "1:6: invalid character '1' after object name",
		"{\n  models: {}}":           `2:3: the name models stands without quotes, as JSON5 alone has it; write "models"`,
		"{\"é\": {$_1 /* c */: 2}}":  "1:8: this is no value of JSON: a text stands in double quotes, a number has decimal digits without +",
		"{\"é\": {$_1\n: 2}}":        `1:8: the name $_1 stands without quotes, as JSON5 alone has it; write "$_1"`,
		"{true: 1}":                  `1:2: the name true stands without quotes, as JSON5 alone has it; write "true"`,
		"{'a': 1}":                   "1:2: a string stands in single quotes, as JSON5 alone has it; write it in double quotes",
		`{"a": 'secret'}`:            "1:7: a string stands in single quotes, as JSON5 alone has it; write it in double quotes",
		`{"a": secret}`:              "1:7: this is no value of JSON: a text stands in double quotes, a number has decimal digits without +",
		`{"a": 0x10}`:                "1:7: this is no value of JSON: a text stands in double quotes, a number has decimal digits without +",
		`{"a": +1}`:                  "1:7: this is no value of JSON: a text stands in double quotes, a number has decimal digits without +",
		`{"a": "secret\x41"}`:        `1:7: this string has a line break, a tab or an escape that JSON does not have; write \n, \t or \u0000`,
		"{ // c\r\"a\": 1}":          "1:7: a carriage return stands here without a line feed; end lines with a line feed",
		"{ // c\u2028\n}":            `1:7: invalid character '\u2028' in line comment`,
		"{\u00a0}":                   `1:2: invalid character '\u00a0' at start of value`,
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "1:502: values nest more than 500 deep",
		strings.Repeat("[", 10_000_000):                       "1:1: there are more than 100000 objects and lists",
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	small := Pairs{{"b", 1}}
	for name, c := range map[string]struct {
		text  string
		value any
		path  string
		want  string
	}{
		"replaced":         {"{\n  \"a\": 1, // one\n}", 2, "a", "{\n  \"a\": 2, // one\n}"},
		"as it was":        {`{ "a" : 1.0 }`, 1, "a", `{ "a" : 1.0 }`},
		"behind a comment": {"{\n  \"a\": 1 // one\n}", 2, "b", "{\n  \"a\": 1, // one\n  \"b\": 2\n}"},
		"before a blank line": {"{\n  \"a\": 1\n\n  // end\n}", 2, "b",
			"{\n  \"a\": 1,\n  \"b\": 2\n\n  // end\n}"},
		"comma at the end": {"{\n\t\"a\": 1, /* x */ // one\n\t// the end\n}", small, "c", "{\n\t\"a\": 1, /* x */ // one\n\t\"c\": {\n\t\t\"b\": 1\n\t},\n\t// the end\n}"},
		"comment and comma": {"{\n  \"a\": 1 /* x */,\n}", 2, "b",
			"{\n  \"a\": 1 /* x */,\n  \"b\": 2,\n}"},
		"strict JSON":          {"{\n    \"a\": {}\n}\n", 2, "a.b.c", "{\n    \"a\": {\n        \"b\": {\n            \"c\": 2\n        }\n    }\n}\n"},
		"on one line":          {`{"a":{"b":1}}`, small, "a.c", `{"a":{"b":1, "c": { "b": 1 }}}`},
		"empty on one line":    {`{"a":{"b":[]}}`, small, "a.b.0", `{"a":{"b":[ { "b": 1 } ]}}`},
		"on a line that ends":  {"{\"a\": 1 // one\n}", 2, "b", "{\"a\": 1, // one\n  \"b\": 2\n}"},
		"empty":                {"{}", small, "a", "{\n  \"a\": {\n    \"b\": 1\n  }\n}"},
		"nothing but comments": {"{ // none\n}", true, "a", "{ // none\n  \"a\": true\n}"},
		"an item":              {"{\"a\": [\n  1,\n]}", 2, "a.1", "{\"a\": [\n  1,\n  2,\n]}"},
		"in an item":           {`[{"a": 1}]`, 2, "0.a", `[{"a": 2}]`},
		"a comment inside": {"{\n  \"a\": [ // x\n    1, /* y */ \"// z\"],\n}", Strings("q"), "a",
			"{\n  \"a\": // x\n  /* y */ [\"q\"],\n}"},
		"comments everywhere": {"/*1*/{/*2*/\"a\"/*3*/:/*4*/1/*5*/,/*6*/}//7", 2, "b",
			"/*1*/{/*2*/\"a\"/*3*/:/*4*/1/*5*/,/*6*/ \"b\": 2,}//7"},
		"line breaks":            {"{\r\n  \"a\": 1 // one\r\n}", small, "b", "{\r\n  \"a\": 1, // one\r\n  \"b\": {\r\n    \"b\": 1\r\n  }\r\n}"},
		"a byte order mark":      {"\ufeff{\n  \"a\": 1\n}", 2, "a", "\ufeff{\n  \"a\": 2\n}"},
		"the last one counts":    {`{"a": 1, "a": 2}`, 3, "a", `{"a": 1, "a": 3}`},
		"an escaped name":        {`{"\u0061": 1, "b/~": {"c": 2}}`, 3, "a", `{"\u0061": 3, "b/~": {"c": 2}}`},
		"no comment, but a text": {`{"a": "// x", "b": "/*\"" }`, 3, "b", `{"a": "// x", "b": 3 }`},
	} {
		got, err := Set([]byte(c.text), c.value, strings.Split(c.path, ".")...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	if _, err := Set([]byte("{\"a\": {\n \"b\": 7}}"), 1, "a", "b", "c"); err == nil ||
		err.Error() != "2:7: a.b is a number, and must be an object here" {
		t.Errorf("in a number: %v", err)
	}
}

func TestRemove(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n  \"x\": 2, // two\n  \"b\": 3\n}":       "{\n  \"a\": 1,\n  // two\n  \"b\": 3\n}",
		"{\n  \"a\": 1,\n\n  // x\n  \"x\": 2,\n  \"b\": 3\n}":    "{\n  \"a\": 1,\n\n  // x\n  \"b\": 3\n}",
		"{\n  \"a\": 1,\n  \"x\": 2\n}":                           "{\n  \"a\": 1\n}",
		"{\r\n  \"a\": 1,\r\n  \"x\": 2,\r\n}":                    "{\r\n  \"a\": 1,\r\n}",
		"{\n  \"x\": [\n 1],\n  \"a\": 1\n}":                      "{\n  \"a\": 1\n}",
		"{\n  \"a\": 1 /* a */, /* b */ // c\n  \"x\": 2 // d\n}": "{\n  \"a\": 1 /* a */ /* b */ // c\n  // d\n}",
		`{"a": 1, "x": 2}`:                                        `{"a": 1 }`,
		`{"x": 2}`:                                                `{}`,
		`{"x": 2,}`:                                               `{}`,
		`{"x": [/* c */] /* d */, "a": 1}`:                        `{/* c */ /* d */ "a": 1}`,
		`{"x": 1, "a": 2, "x": 3,}`:                               `{"a": 2, }`,
		"{\"x\" /* p */: /* q */ {\"y\": 1 // r\n} }":             "{/* p */ /* q */ // r\n}",
		`{"a": 1}`: `{"a": 1}`,
	} {
		if got, err := Remove([]byte(text), "x"); err != nil || string(got) != want {
			t.Errorf("%q: %v\n%q\nwant\n%q", text, err, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	v := Pairs{{"a", Pairs{}}, {"b", List{Pairs{{"c", Strings("x", "y")}}}}, {"d-e", false}}
	want := "{\n  \"a\": {},\n  \"b\": [\n    {\n      \"c\": [\"x\", \"y\"]\n    }\n  ],\n  \"d-e\": false\n}\n"
	if got := Write(v); got != want || !json.Valid([]byte(got)) {
		t.Errorf("%s", got)
	}
}

var seeds = []string{
	"{\n  // one\n  \"a\": 1, /* two */ // three\n  \"b\": [1, {\"c\": \"x\"}, /* y */],\n}",
	`{"a":{"b":{"c":1}}}`, "{}", "{ // x\n}", "{\"a\":[ // x\n1]}",
	"{\"a\": 1 // x\r\n, \"b\": 2}", `[{"a":1},{"a":2}]`, `{"a":1,"a":2,/* // */}`,
	"\ufeff{\r\n\t\"a\": \"//\" /* 'z */\r\n}", "{/**/\"a\"/**/:/**/1/**/,/**/}//",
	`{"a":{"b":1/*c*/,"n":[{}]},"\u0061":{/*d*/"b":2,},}`, "{\"x\": [], // x\n\"a\": {} // y\n, // z\n}",
}

// FuzzSet holds that an edit changes one value, keeps all others and every comment, and that
// the same edit again changes nothing.
func FuzzSet(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "a", "b", true)
		f.Add(s, "n", "c", false)
		f.Add(s, "a", "1", true)
	}
	f.Fuzz(func(t *testing.T, text, one, two string, whole bool) {
		was, err := Parse([]byte(text))
		if err != nil || was.Kind != Object || !utf8.ValidString(one) || !utf8.ValidString(two) {
			return
		}
		var value any = Strings("new")
		if whole {
			value = Pairs{{"k", value}}
		}
		got, err := Set([]byte(text), value, one, two)
		if err != nil {
			if k := was.Get(one).Kind; k == Object || k == Array {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		is, err := Parse(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if in := is.At(one, two); in == nil || !Same(in, value) {
			if is.Get(one).Kind != Array {
				t.Fatalf("%q became %q, without the value", text, got)
			}
		} else if again, err := Set(got, value, one, two); err != nil || string(again) != string(got) {
			t.Fatalf("%q became %q, and then %q: %v", text, got, again, err)
		}
		without := func(text []byte) any {
			all := plain(t, text)
			switch in := all[one].(type) {
			case map[string]any:
				delete(in, two)
				if len(in) == 0 {
					delete(all, one)
				}
			case []any:
				delete(all, one)
			}
			return all
		}
		if d := cmp.Diff(without([]byte(text)), without(got)); d != "" {
			t.Fatalf("%q became %q: %s", text, got, d)
		}
		keeps(t, text, string(got))
		old, in := was.At(one, two), was.Get(one)
		switch {
		case old != nil && string(got) != text && len(list(text[old.Start:old.End])) == 0:
			if v := is.At(one, two); string(got) != text[:old.Start]+string(got[v.Start:v.End])+text[old.End:] {
				t.Fatalf("%q became %q: more than a value was replaced", text, got)
			}
		case old == nil && in != nil && len(in.Members)+len(in.Items) > 0 && !within(text, string(got)):
			t.Fatalf("%q became %q: something went", text, got)
		}
	})
}

// within reports whether all bytes of a text are in another one, in their order.
func within(text, whole string) bool {
	for i := 0; i < len(whole) && text != ""; i++ {
		if whole[i] == text[0] {
			text = text[1:]
		}
	}
	return text == ""
}

// FuzzRemove holds that only the member goes.
func FuzzRemove(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "a")
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		if was, err := Parse([]byte(text)); err != nil || was.Kind != Object {
			return
		}
		got, err := Remove([]byte(text), key)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := plain(t, []byte(text))
		delete(want, key)
		if d := cmp.Diff(want, plain(t, got)); d != "" {
			t.Fatalf("%q became %q: %s", text, got, d)
		}
		keeps(t, text, string(got))
	})
}

// list are the comments of a text.
func list(text string) []string {
	token := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|//[^\n]*|(?s:/\*.*?\*/)`).FindAllString(strings.ReplaceAll(text, "\r\n", "\n"), -1)
	return slices.Sorted(slices.Values(slices.DeleteFunc(token, func(s string) bool { return s[0] == '"' })))
}

// keeps holds that all comments of one text are in another one, and that strict JSON stays so.
func keeps(t *testing.T, was, is string) {
	t.Helper()
	if d := cmp.Diff(list(was), list(is)); d != "" {
		t.Fatalf("comments of %q in %q: %s", was, is, d)
	}
	if json.Valid([]byte(was)) && !json.Valid([]byte(is)) {
		t.Fatalf("%q became %q, which is no strict JSON", was, is)
	}
}
