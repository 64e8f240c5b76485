package run

import (
	"encoding/json"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What a call is about stands on one line, and nothing in it changes what is shown around it.
func TestProgress(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"notes/é 日本.md"}`:                  "read: notes/é 日本.md",
		`{"path":"a\n- write: b"}`:                  "read: a …",
		`{"path":"a\r- write: b"}`:                  "read: a - write: b",
		`{"path":"\u001b[2Ja\u202eb\u2028c\u0007"}`: "read:  [2Ja b c ",
		`{"other":"x"}`:                             "read",
	} {
		if got := progress(tools.Call{Name: "read", Arguments: json.RawMessage(args)}); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
