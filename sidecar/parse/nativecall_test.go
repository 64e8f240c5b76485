package parse_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Calls that a server gave in odd entries become those that the model wrote, and none gets the
// rest of another one.
func TestOwnsTake(t *testing.T) {
	own := func(index int, id, name, args string) parse.NativeCall {
		return parse.NativeCall{Index: index, ID: id, Name: name, Args: []byte(args)}
	}
	for name, row := range map[string]struct {
		pieces []parse.NativeCall
		want   string
	}{
		"one": {[]parse.NativeCall{own(0, "a", "f", `{"a":1}`)}, `f{"a":1}2`},
		"pieces": {[]parse.NativeCall{own(0, "a", "f", `{"a"`), own(0, "b", "", `:1}`)},
			`f{"a":1}2`},
		"two": {[]parse.NativeCall{own(0, "a", "f", `{"a":1}`), own(1, "b", "g", `{}`)},
			`f{"a":1}0 g{}2`},
		"split":                  {[]parse.NativeCall{own(0, "a", "f", `{"a"`), own(1, "", "", `:1}`)}, `f{"a":1}2`},
		"split, not whole":       {[]parse.NativeCall{own(0, "a", "f", `{"a"`), own(1, "", "", `:1`)}, `f{"a"2 :12`},
		"split, a rest in front": {[]parse.NativeCall{own(0, "a", "f", "a=%2"), own(1, "", "", "0b"), own(2, "b", "g", `{}`)}, `fa=%22 0b0 g{}2`},
		"split, an end": {[]parse.NativeCall{own(0, "a", "f", `{"a":1`), own(1, "", "", `}{"a": 1}`)},
			`f{"a":10 }{"a": 1}2`},
		"split inside of a text": {[]parse.NativeCall{own(0, "a", "f", `{"a":"x`), own(1, "", "", `y`)}, `f{"a":"x2 y2`},
		"taken up again": {[]parse.NativeCall{own(0, "a", "f", `{"a":"x{"a":"xy"}`), own(1, "b", "g", `{}`)},
			`f{"a":"x{"a":"xy"}0 g{}2`},
		"whole in front": {[]parse.NativeCall{own(0, "a", "f", `{}`), own(1, "", "", `{"b":1}`)},
			`f{}0 {"b":1}2`},
		"the same id": {[]parse.NativeCall{own(0, "a", "f", `{"a"`), own(1, "a", "f", `:1}`)},
			`f{"a":1}2`},
		"the same id, another": {[]parse.NativeCall{own(0, "a", "f", `{"a"`), own(1, "a", "g", `:1}`)},
			`f{"a"0 g:1}2`},
		"one index": {[]parse.NativeCall{own(0, "a", "f", `{}`), own(0, "b", "g", `{"b`),
			own(0, "b", "", `":1}`)}, `f{}0 g{"b":1}2`},
		"one index, no ids": {[]parse.NativeCall{own(0, "", "f", `{}`), own(0, "", "f", `{}`)}, `ff{}{}2`},
		"idle":              {[]parse.NativeCall{own(0, "a", "f", `{}`), own(0, "b", "f", ``)}, `f{}0`},
	} {
		var all parse.NativeCalls
		for _, piece := range row.pieces {
			all, _ = all.Add(piece)
		}
		var got []string
		for c, how := range all.Take(len(all), tools.Cut) {
			got = append(got, fmt.Sprintf("%s%s%d", c.Name, c.Args, how))
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s: %q, want %s", name, got, row.want)
		}
	}
}

func TestOwnClean(t *testing.T) {
	tokens := harmony.NewAlphabet(harmony.TokenSigns{})
	for in, want := range map[string]string{
		`{"a":"<|call|>"}`:                             `{"a":"<|call|>"}||false|false`,
		`{"a":1}<|call|>`:                              `{"a":1}||true|false`,
		`{"a":1}}<|call|><|start|>assistant`:           `{"a":1}}|<|start|>assistant|true|false`,
		`{"a":1}<|start|>assistant`:                    `{"a":1}|<|start|>assistant|true|false`,
		`{"a":1<|call|>`:                               `{"a":1||true|false`,
		`{"a":1<|call|><|start|>assistant`:             `{"a":1|<|start|>assistant|true|false`,
		`{"a":"b "<|call|>" c"}`:                       `{"a":"b "<|call|>" c"}||false|false`,
		`{"a":1}assistantcommentary to=f json{"a":2}`:  `{"a":1}|assistantcommentary to=f json{"a":2}|true|false`,
		`{"a":"b "}assistant"}`:                        `{"a":"b "}assistant"}||false|false`,
		`commentary<|message|>{"a":1}`:                 `{"a":1}||false|false`,
		`code <|message|>{"a":1}<|call|>`:              `{"a":1}||true|false`,
		` <|constrain|>json<|message|> {"a":1}`:        `{"a":1}||false|false`,
		`json<|message|>{"a":1}<|call|>`:               `{"a":1}||true|false`,
		`json<|x|>{"a":1}`:                             `json<|x|>{"a":1}||false|false`,
		"ls <|message|> a":                             "ls||true|false",
		"```json\n{\"a\":1}\n```<|call|>":              "```json\n{\"a\":1}\n```||true|false",
		`functions.f <|constrain|>json<|message|>{"a"`: ``,
	} {
		c := parse.NativeCall{Name: "f", Args: []byte(in)}
		l := c.Clean(tokens, false)
		if got := fmt.Sprintf("%s|%s|%v|%v", c.Args, l.Behind, l.Closed, l.All); want != "" && got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`functions.f <|message|>{}`: `<|start|>assistant<|channel|>commentary to=functions.f <|message|>{}`,
		`<|channel|>final to=f{}`:   `<|channel|>final to=f{}`,
		`to=f json{}`:               `to=f json{}`,
		`{"a":1`:                    ``,
		`no call`:                   ``,
	} {
		c := parse.NativeCall{Args: []byte(in)}
		if l := c.Clean(tokens, true); l.All != (want != "") || l.All && l.Behind != want {
			t.Errorf("%s: %+v", in, l)
		}
	}
}

func TestOwnApart(t *testing.T) {
	for _, row := range [][3]string{ // name, arguments, both
		{`f{"a":1}`, `{}`, `f|{"a":1}`},
		{`f({"a":1})`, ``, `f|{"a":1}`},
		{`f(a=1)`, `null`, `f|{"a":1}`},
		{`f()`, ``, `f|{}`},
		{`f<|channel|>commentary json<|message|>{"a":1}<|call|>`, ``, `f<|channel|>commentary json<|message|>|{"a":1}`},
		{`f{"a":1} and more`, ``, `f{"a":1} and more|`},
		{`f{"a":1}`, `{"b":1}`, `f{"a":1}|{"b":1}`},
		{`f{"a":1`, ``, `f{"a":1|`},
		{`f(a=1`, ``, `f(a=1|`},
		{`f("a")`, ``, `f("a")|`},
		{`f({"a":1}), g({"a":1})`, ``, `f({"a":1}), g({"a":1})|`},
		{`{"a":1}`, ``, `{"a":1}|`},
	} {
		c := parse.NativeCall{Name: row[0], Args: []byte(row[1])}
		if c.SplitName(); c.Name+"|"+string(c.Args) != row[2] {
			t.Errorf("%q: %s|%s, want %s", row[:2], c.Name, c.Args, row[2])
		}
	}
}

// What is taken off a call is off its ends: nothing is made up, and valid arguments stay.
func FuzzOwnClean(f *testing.F) {
	f.Add("f", ` <|constrain|>json<|message|>{"a":1}<|call|><|start|>assistant`, true)
	f.Add(`f{"a":1}`, "{}", false)
	f.Add("", `functions.f<|message|>{"a":1}`, true)
	tokens := harmony.NewAlphabet(harmony.TokenSigns{})
	f.Fuzz(func(t *testing.T, name, args string, nobody bool) {
		c := parse.NativeCall{Name: name, Args: []byte(args)}
		l := c.Clean(tokens, nobody)
		switch {
		case !strings.Contains(args, string(c.Args)):
			t.Fatalf("%q became %q", args, c.Args)
		case json.Valid([]byte(args)) && (string(c.Args) != args || l != parse.Leftover{}):
			t.Fatalf("valid %q became %q, %+v", args, c.Args, l)
		case !l.All && l.Behind != "" && !strings.HasSuffix(args, l.Behind):
			t.Fatalf("%q stands behind %q", l.Behind, args)
		}
		c = parse.NativeCall{Name: name, Args: []byte(args)}
		if c.SplitName(); c.Name != name && (!strings.HasPrefix(name, c.Name) || !json.Valid(c.Args)) {
			t.Fatalf("%q, %q became %q, %q", name, args, c.Name, c.Args)
		}
	})
}

// Calls are whole as soon as their objects are, however they are cut, and not before.
func TestOwnsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.OneOf(
			rapid.StringOfN(rapid.SampledFrom([]rune(`{}[]"\:,a1 `)), 0, 12, -1),
			rapid.SampledFrom([]string{`{"a":"\"}"}`, ` [{"b":[]}] `, `{"a":{"b":1}}`, `{} {}`, `{}x`,
				`{"a":1,}`}),
		).Draw(t, "args")
		all, _ := parse.NativeCalls{}.Add(parse.NativeCall{ID: "a", Name: "f"})
		for at := 0; at < len(args); {
			n := rapid.IntRange(1, len(args)-at).Draw(t, "n")
			all, _ = all.Add(parse.NativeCall{Args: []byte(args[at : at+n])})
			at += n
			said := strings.TrimSpace(args[:at])
			want := 0
			if json.Valid([]byte(said)) && (said[0] == '{' || said[0] == '[') {
				want = 1
			}
			if got := all.Whole(1); got != want {
				t.Fatalf("%q: %d are whole", args[:at], got)
			}
		}
	})
}

// A server that gives each piece another id takes little time, and so do closers too many.
func TestOwnsAddLinear(t *testing.T) {
	all, _ := parse.NativeCalls{}.Add(parse.NativeCall{ID: "a", Name: "f", Args: []byte(`{"a":["`)})
	for i := range 50_000 {
		all, _ = all.Add(parse.NativeCall{ID: strconv.Itoa(i), Name: "f", Args: []byte(`}{} `)})
		all.Whole(1)
	}
	if len(all) != 1 || all.Whole(1) != 0 {
		t.Errorf("%d calls", len(all))
	}
}

// Many entries without a name take little time.
func TestOwnsTakeLinear(t *testing.T) {
	var all parse.NativeCalls
	for i := range 20000 {
		all, _ = all.Add(parse.NativeCall{Index: i, Args: []byte(`{"a":"x`)})
	}
	n := 0
	for range all.Take(len(all), tools.Ended) {
		n++
	}
	if n != len(all) {
		t.Errorf("%d of %d", n, len(all))
	}
}
