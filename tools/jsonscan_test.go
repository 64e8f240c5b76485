package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONScan(t *testing.T) {
	for _, c := range []struct {
		text, value string // value "": not done
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
		{`x{}`, ""},
		{`"{}"`, ""},
		{``, ""},
	} {
		for size := 1; size <= len(c.text)+1; size++ {
			var s JSONScan
			end, done := 0, false
			for n := size; !done && n < len(c.text)+size; n += size {
				end, done = s.Scan(c.text[:min(n, len(c.text))])
			}
			if c.text[:end] != c.value || done != (c.value != "") {
				t.Errorf("%q in pieces of %d: %q, %v", c.text, size, c.text[:end], done)
			}
		}
	}
}

func TestJSONScanReadsOnce(t *testing.T) {
	text := `{"a":"` + strings.Repeat(`x\"`, 1000) + `"}`
	var s JSONScan
	for n := range text {
		if _, done := s.Scan(text[:n]); done || s.pos != n {
			t.Fatalf("after %d bytes: done %v, at %d", n, done, s.pos)
		}
	}
	if end, done := s.Scan(text + "tail"); !done || end != len(text) {
		t.Errorf("ended at %d, %v", end, done)
	}
	if end, done := s.Scan(text + "tail}"); !done || end != len(text) {
		t.Errorf("asked again: %d, %v", end, done)
	}
}

// FuzzJSONScan: any value that JSON knows ends where it ends, whatever the chunks.
func FuzzJSONScan(f *testing.F) {
	f.Add(`{"a":[1,"}"]}`, "tail", 3)
	f.Add(`[{"a":"\\\""}]`, "]", 1)
	f.Fuzz(func(t *testing.T, value, tail string, size int) {
		value = strings.TrimRight(value, asciiSpace)
		if begin := strings.TrimLeft(value, asciiSpace); begin == "" || begin[0] != '{' && begin[0] != '[' || !json.Valid([]byte(value)) {
			t.Skip()
		}
		size = max(1, size%64)
		var s JSONScan
		for n := size; ; n += size {
			end, done := s.Scan((value + tail)[:min(n, len(value+tail))])
			if done != (n >= len(value)) || done && end != len(value) {
				t.Fatalf("%q: after %d bytes end %d, %v", value, n, end, done)
			}
			if done {
				return
			}
		}
	})
}

func BenchmarkJSONScan(b *testing.B) {
	text := arguments(57000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var s JSONScan
		if _, done := s.Scan(text); !done {
			b.Fatal("no end")
		}
	}
}
