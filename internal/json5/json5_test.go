package json5

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// plain is a value as encoding/json has it.
func plain(v *Value) any {
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case Number:
		n, _ := v.Float()
		return n
	case String:
		return v.Text
	case Array:
		list := []any{}
		for i := range v.Items {
			list = append(list, plain(&v.Items[i].Value))
		}
		return list
	case Object:
		members := map[string]any{}
		for i := range v.Members {
			members[v.Members[i].Key] = plain(&v.Members[i].Value)
		}
		return members
	}
	return nil
}

// What is expected here is what the JSON5 library of Node.js gives; e2e asks it.
func TestParse(t *testing.T) {
	for text, want := range map[string]any{
		`{a:1, "b":[true,null,],}`:            map[string]any{"a": 1.0, "b": []any{true, nil}},
		"// c\n{/* d */$a_1: 'x\\'y' // e\n}": map[string]any{"$a_1": "x'y"},
		`{"a":1,a:2}`:                         map[string]any{"a": 2.0},
		"'one\\\ntwo\\\r\nthree'":             "onetwothree",
		`"\x41\u0042\0\v\q\u{"`:               nil,
		`"\x41\u0042\0\v\q"`:                  "AB\x00\vq",
		`"\ud83d\ude00\ud83d"`:                "😀\ufffd",
		`+0x1F`:                               31.0, `-.5e1`: -5.0, `5.`: 5.0, `-Infinity`: math.Inf(-1), `1e999`: math.Inf(1),
		"\ufeff\u00a0[\u2028]\v": []any{},
		`{ünï: 1, \u0061b: 2}`:   map[string]any{"ünï": 1.0, "ab": 2.0},
	} {
		v, err := Parse([]byte(text))
		if want == nil {
			if err == nil {
				t.Errorf("%q is read as %v", text, plain(v))
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if d := cmp.Diff(want, plain(v)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "1:1: a value must stand here, not the end of the text",
		"{\n  a: 1\n  b: 2}":      `3:3: a comma or '}' must stand here, not 'b'`,
		"{a 1}":                   `1:4: a colon must stand behind the name "a", not '1'`,
		"{a:1,,}":                 `1:6: the name of a member must stand here, not ','`,
		"[1] 2":                   `1:5: nothing may stand behind the value, but there is '2'`,
		"{a: 'x\n'}":              "1:7: the string that begins in column 5 has no end on its line",
		"{/* x":                   "1:2: this comment has no end: */ is missing",
		"01":                      "1:2: nothing may stand behind the value, but there is '1'",
		`"\1"`:                    "1:3: a digit cannot stand behind a backslash",
		`"\u12g4"`:                "1:4: 4 hexadecimal digits must stand here",
		"ä":                       "1:1: a value must stand here, not 'ä'",
		strings.Repeat("[", 1000): "1:502: values nest more than 500 deep",
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
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
		"replaced":             {"{\n  a: 1, // one\n}", 2, "a", "{\n  a: 2, // one\n}"},
		"as it was":            {"{ 'a' : 1.0 }", 1, "a", "{ 'a' : 1.0 }"},
		"behind a comment":     {"{\n  a: 1 // one\n}", 2, "b", "{\n  a: 1, // one\n  b: 2\n}"},
		"comma at the end":     {"{\n\ta: 1, /* x */ // one\n\t// the end\n}", small, "c", "{\n\ta: 1, /* x */ // one\n\tc: {\n\t\tb: 1\n\t},\n\t// the end\n}"},
		"strict JSON":          {"{\n    \"a\": {}\n}\n", 2, "a.b.c", "{\n    \"a\": {\n        \"b\": {\n            \"c\": 2\n        }\n    }\n}\n"},
		"on one line":          {`{"a":{"b":1}}`, small, "a.c", `{"a":{"b":1, "c": { "b": 1 }}}`},
		"on a line that ends":  {"{a: 1 // one\n}", 2, "b", "{a: 1, // one\n  b: 2\n}"},
		"nothing but comments": {"{ // none\n}", true, "a", "{ // none\n  \"a\": true\n}"},
		"an item":              {"{a: [\n  1,\n]}", 2, "a.1", "{a: [\n  1,\n  2,\n]}"},
		"in an item":           {"[{a: 1}]", 2, "0.a", "[{a: 2}]"},
		"a comment inside":     {"{\n  a: [ // x\n    1, /* y */ '// z'],\n}", Strings("q"), "a", "{\n  a: // x\n  /* y */ [\"q\"],\n}"},
		"line breaks":          {"{\r\n  a: 1\r\n}", 2, "b", "{\r\n  a: 1,\r\n  b: 2\r\n}"},
		"the last one counts":  {"{a: 1, a: 2}", 3, "a", "{a: 1, a: 3}"},
	} {
		got, err := Set([]byte(c.text), c.value, strings.Split(c.path, ".")...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
	if _, err := Set([]byte("{a: {\n b: 7}}"), 1, "a", "b", "c"); err == nil || err.Error() != "2:5: a.b is a number, and must be an object here" {
		t.Errorf("in a number: %v", err)
	}
}

func TestRemove(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  a: 1,\n  x: 2, // two\n  b: 3\n}": "{\n  a: 1,\n   // two\n  b: 3\n}",
		"{\n  a: 1,\n  x: 2\n}":                 "{\n  a: 1\n}",
		"{\n  x: [\n 1],\n  a: 1\n}":            "{\n  a: 1\n}",
		"{a: 1, x: 2}":                          "{a: 1 }",
		"{x: 2}":                                "{}",
		"{x: [/* c */] /* d */, a: 1}":          "{/* c */ /* d */ a: 1}",
		"{x: 1, a: 2, x: 3,}":                   "{ a: 2, }",
		"{a: 1}":                                "{a: 1}",
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
	"{\n  // one\n  a: 1, /* two */ // three\n  \"b\": [1, {c: 'x'}, /* y */],\n}", `{"a":{"b":{"c":1}}}`, "{}", "{ // x\n}", "{a:[ // x\n1]}",
	"{a: 1 // x\u2028, b: 2}", "[{a:1},{a:2}]", "{a:1,a:2,/* // */}", "{\r\n\t'a': \"//\" /* 'z */\r\n}", "{a: {} // x\r, b: [] }", "{/**/a/**/:/**/1/**/,/**/}",
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
		without := func(v *Value) any {
			all := plain(v).(map[string]any)
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
		if d := cmp.Diff(without(was), without(is), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Fatalf("%q became %q: %s", text, got, d)
		}
		if json.Valid([]byte(text)) && !json.Valid(got) {
			t.Fatalf("%q became %q, which is no strict JSON", text, got)
		}
		keeps(t, text, string(got))
	})
}

// FuzzRemove holds that only the member goes.
func FuzzRemove(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "a")
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		was, err := Parse([]byte(text))
		if err != nil || was.Kind != Object {
			return
		}
		got, err := Remove([]byte(text), key)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		is, err := Parse(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		want := plain(was).(map[string]any)
		delete(want, key)
		if d := cmp.Diff(want, plain(is), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Fatalf("%q became %q: %s", text, got, d)
		}
		keeps(t, text, string(got))
	})
}

// keeps holds that all comments of one text are in another one.
func keeps(t *testing.T, was, is string) {
	t.Helper()
	list := func(text string) []string { return slices.Sorted(slices.Values(Comments([]byte(text)))) }
	if d := cmp.Diff(list(was), list(is)); d != "" {
		t.Fatalf("comments of %q in %q: %s", was, is, d)
	}
}
