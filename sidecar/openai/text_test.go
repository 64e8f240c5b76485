package openai

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

func TestExplain(t *testing.T) {
	for _, row := range []struct{ doc, want string }{
		{`{"a":1}`, ""},
		{"{\n \"a\": 1,\n \"größe\": x}", "line 3, column 11: invalid character 'x' looking for beginning of value"},
		{"{\"a\":", "line 1, column 6: unexpected end of JSON input"},
		{"", "line 1, column 1: unexpected end of JSON input"},
		{"\n\n]", "line 3, column 1: invalid character ']' looking for beginning of value"},
	} {
		got, s := "", jsontext.Scanner{Doc: []byte(row.doc)}
		if s.Skip(); s.End() != nil {
			got = explain(s.Doc, s.Err)
		}
		if got != row.want {
			t.Errorf("%q: %q, want %q", row.doc, got, row.want)
		}
	}
}
