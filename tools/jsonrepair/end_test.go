package jsonrepair

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		text, value string // value "": none ends
	}{
		{`{"a":1} tail`, `{"a":1}`},
		{" \n[1,[2]] x", " \n[1,[2]]"},
		{`{"a":"}\"}{"}]`, `{"a":"}\"}{"}`},
		{`{"a":"\\"}}`, `{"a":"\\"}`},
		{`{"a":"x"]}`, `{"a":"x"]}`}, // a wrong closer ends nothing
		{`{"a":[1}`, `{"a":[1}`},
		{`{}{}`, `{}`},
		{`{"a":{`, ""},
		{`{"a":"}`, ""},
		{`{"a":"\`, ""},
		{`x{}`, ""},
		{`"{}"`, ""},
		{``, ""},
	} {
		if end, ok := End(c.text); c.text[:end] != c.value || ok != (c.value != "") {
			t.Errorf("%q: %q, %v", c.text, c.text[:end], ok)
		}
	}
}

// FuzzEnd: any object or list that JSON knows ends where it ends, whatever follows,
// and no part of it does.
func FuzzEnd(f *testing.F) {
	f.Add(`{"a":[1,"}"]}`, "tail")
	f.Add(`[{"a":"\\\""}]`, "]")
	f.Fuzz(func(t *testing.T, value, tail string) {
		value = strings.TrimRight(value, asciiSpace)
		if begin := strings.TrimLeft(value, asciiSpace); begin == "" || begin[0] != '{' && begin[0] != '[' ||
			!json.Valid([]byte(value)) {
			t.Skip()
		}
		if end, ok := End(value + tail); !ok || end != len(value) {
			t.Fatalf("%q with %q behind it: end %d, %v", value, tail, end, ok)
		}
		if end, ok := End(value[:len(value)-1]); ok {
			t.Fatalf("%q without its last byte ends at %d", value, end)
		}
	})
}
