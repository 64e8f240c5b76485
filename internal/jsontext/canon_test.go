package jsontext_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

func TestCanon(t *testing.T) {
	for doc, want := range map[string]string{
		` { "b" : 1.0 , "a" : [ ] , "b" : 2 } `: `{"a":[],"b":2}`,
		`{"a":{"z":null,"y":[1,"x"]}}`:          `{"a":{"y":[1,"x"],"z":null}}`,
		`"\u0041\/\u00e9"`:                      `"A/é"`,
		`{"\u0061":1,"b":"\n\""}`:               `{"a":1,"b":"\n\""}`,
		`[]`:                                    `[]`, `{}`: `{}`, `1e5`: `1e5`, `[[],[{}]]`: `[[],[{}]]`,
	} {
		if got, ok := jsontext.Canon([]byte(doc)); !ok || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", doc, got, ok, want)
		}
		if got := jsontext.AppendCanon([]byte("x,"), []byte(doc)); string(got) != "x,"+want {
			t.Errorf("%s: %s; want %s behind x,", doc, got, want)
		}
	}
	for _, doc := range []string{``, `{`, `{"a"`, `["`, `{"a":1}}`, `nul`, "\"\n\"",
		strings.Repeat("[", 1<<16)} {
		if got, ok := jsontext.Canon([]byte(doc)); ok {
			t.Errorf("%.20q is taken for %.20s", doc, got)
		}
		if got := jsontext.AppendCanon(nil, []byte(doc)); string(got) != doc {
			t.Errorf("%.20q becomes %.20q", doc, got)
		}
	}
}

// What Go reads as one value has one spelling, and what it reads as two has two.
func FuzzCanon(f *testing.F) {
	for _, doc := range []string{`{"a":[1,{"b":"\u00e9"}],"a":2}`, `"\ud800"`, `[1.0,1]`, "\"\xff\"",
		`{"":{}}`} {
		f.Add(doc, `{"a":2}`)
	}
	value := func(doc string) (v any, ok bool) {
		d := json.NewDecoder(strings.NewReader(doc))
		d.UseNumber()
		return v, d.Decode(&v) == nil && json.Valid([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := value(a)
		if !ok || strings.Count(a, "[")+strings.Count(a, "{") > jsontext.MaxDepth {
			return
		}
		canon, ok := jsontext.Canon([]byte(a))
		if !ok {
			t.Fatalf("%q is no JSON", a)
		}
		again, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if same, _ := jsontext.Canon(again); !bytes.Equal(same, canon) {
			t.Errorf("%q is %s, and written again %s", a, canon, same)
		}
		y, valid := value(b)
		other, _ := jsontext.Canon([]byte(b))
		if valid && reflect.DeepEqual(x, y) != bytes.Equal(canon, other) {
			t.Errorf("%q and %q: %s and %s", a, b, canon, other)
		}
	})
}
