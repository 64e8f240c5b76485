package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

// chunk is an event of a stream, as vLLM writes it.
const chunk = `{"id":"chatcmpl-5b0f","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-120b","choices":[{"index":0,"delta":{"content":" word and more"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`

var jsonTexts = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1.5e+10`, `1E3`, `""`, `"a"`, `[1,2]`,
	`{"a":{"b":[{}]}}`,
	" \t\r\n{ \"a\" : [ 1 , null ] } \n", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800"`,
	`"0123456 \" 89abcdef"`, "\"\x7f\xff\"",
	``, ` `, `{`, `[`, `{]`, `[}`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`,
	`{1:2}`, `{"a" 1}`,
	`nul`, `nulll`, `tru`, `True`, `01`, `-`, `+1`, `.5`, `1.`, `1.e3`, `1e`, `1e+`, `- 1`, `0x1`, `NaN`,
	`{} {}`, `{}x`, `]`,
	`"`, `"a`, `"\`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"01234567\x1f\"", `'a'`, `"a" "b"`,
	"\x00", "{}\x00", "\v1", "\ufeff{}",
}

func TestScanAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range jsonTexts {
		checkScan(t, []byte(text))
	}
	for cut := range chunk {
		checkScan(t, []byte(chunk[:cut]))
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
	s := Scanner{Doc: doc}
	at := s.Skip()
	err := s.End()
	if deep := s.Err != nil && s.Err.Why == TooDeep; !deep && (err == nil) != json.Valid(doc) {
		t.Fatalf("%q: scan says %v, encoding/json %v", doc, err, json.Valid(doc))
	}
	if err == nil && string(at.Of(doc)) != strings.Trim(string(doc), " \t\r\n") {
		t.Fatalf("%q: the span is %q", doc, at.Of(doc))
	}
	if s.Err != nil && (s.Err.Offset < 0 || s.Err.Offset > len(doc)) {
		t.Fatalf("%q: the error is at byte %d", doc, s.Err.Offset)
	}
	keys := Scanner{Doc: doc} // its values are left alone
	for ok := keys.Enter('{'); ok && keys.Next('}'); {
		keys.Key()
	}
	if other := keys.End(); (other == nil) != (err == nil) || err == nil && keys.Pos != s.Pos {
		t.Fatalf("%q: reading it says %v, reading its keys %v", doc, err, other)
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
			s := Scanner{Doc: []byte(doc)}
			s.Skip()
			if err := s.End(); (err == nil) != row.ok {
				t.Errorf("%d × %s: %v", row.depth, pair, err)
			}
		}
	}
}

func TestScanStopsWhereItIsBroken(t *testing.T) {
	for _, row := range []struct {
		doc    string
		offset int
	}{{`{"a":tru}`, 5}, {`[1,2`, 4}, {`{"a":"b\q"}`, 7}, {"[\"a\nb\"]", 3}, {`{"a":1}}`, 7}, {`{"a" 1}`, 5},
		{`[01]`, 1}} {
		s := Scanner{Doc: []byte(row.doc)}
		s.Skip()
		if s.End(); s.Err == nil || s.Err.Offset != row.offset {
			t.Errorf("%s: %v, want byte %d", row.doc, s.Err, row.offset)
		}
	}
}
