package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

var jsonTexts = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1.5e+10`, `1E3`, `""`, `"a"`, `[1,2]`, `{"a":{"b":[{}]}}`,
	" \t\r\n{ \"a\" : [ 1 , null ] } \n", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800"`, `"0123456 \" 89abcdef"`, "\"\x7f\xff\"",
	``, ` `, `{`, `[`, `{]`, `[}`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:2}`, `{"a" 1}`,
	`nul`, `nulll`, `tru`, `True`, `01`, `-`, `+1`, `.5`, `1.`, `1.e3`, `1e`, `1e+`, `- 1`, `0x1`, `NaN`, `{} {}`, `{}x`, `]`,
	`"`, `"a`, `"\`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"01234567\x1f\"", `'a'`, `"a" "b"`, "\x00", "{}\x00", "\v1", "\ufeff{}",
}

func TestScanAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range jsonTexts {
		checkScan(t, []byte(text))
	}
	for cut := range vllmChunk {
		checkScan(t, []byte(vllmChunk[:cut]))
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkScan)
}

// checkScan: what encoding/json takes, and nothing else, is one value from end to end.
func checkScan(t *testing.T, doc []byte) {
	s := scanner{doc: doc}
	at := s.skip()
	err := s.end()
	if deep := s.err != nil && s.err.Why == tooDeep; !deep && (err == nil) != json.Valid(doc) {
		t.Fatalf("%q: scan says %v, encoding/json %v", doc, err, json.Valid(doc))
	}
	if err == nil && string(at.Of(doc)) != strings.Trim(string(doc), " \t\r\n") {
		t.Fatalf("%q: the span is %q", doc, at.Of(doc))
	}
	if s.err != nil && (s.err.Offset < 0 || s.err.Offset > len(doc)) {
		t.Fatalf("%q: the error is at byte %d", doc, s.err.Offset)
	}
}

func TestScanDepth(t *testing.T) {
	for _, row := range []struct {
		depth int
		ok    bool
	}{{MaxDepth, true}, {MaxDepth + 1, false}, {1 << 20, false}} {
		for _, pair := range []string{"[]", "{}"} {
			open := pair[:1]
			if pair == "{}" {
				open = `{"a":`
			}
			doc := strings.Repeat(open, row.depth-1) + pair + strings.Repeat(pair[1:], row.depth-1)
			s := scanner{doc: []byte(doc)}
			s.skip()
			if err := s.end(); (err == nil) != row.ok {
				t.Errorf("%d × %s: %v", row.depth, pair, err)
			}
		}
	}
}

func TestScanStopsWhereItIsBroken(t *testing.T) {
	for _, row := range []struct {
		doc    string
		offset int
	}{{`{"a":tru}`, 5}, {`[1,2`, 4}, {`{"a":"b\q"}`, 7}, {"[\"a\nb\"]", 3}, {`{"a":1}}`, 7}, {`{"a" 1}`, 5}, {`[01]`, 1}} {
		s := scanner{doc: []byte(row.doc)}
		s.skip()
		if s.end(); s.err == nil || s.err.Offset != row.offset {
			t.Errorf("%s: %v, want byte %d", row.doc, s.err, row.offset)
		}
	}
}

func TestWalksDoNotAllocate(t *testing.T) {
	doc := []byte(vllmChunk)
	all := Span{0, len(doc)}
	n := testing.AllocsPerRun(100, func() {
		var choices Span
		if err := Members(doc, all, func(key []byte, _, val Span) error {
			if string(key) == "choices" {
				choices = val
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := Elements(doc, choices, func(int, Span) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
